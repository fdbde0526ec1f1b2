"""Listing the texts of people at Twilio."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from app.domain.carriers.carrier import CarrierBusy, InboundMessage, Media
from app.providers.carriers.twilio.callbacks import read_media
from tests.providers.carrier_apis import ACCOUNT, reply, served
from tests.providers.peers import Answering, Peer, say, then

pytestmark = pytest.mark.anyio

NUMBER = "+14155552345"
SINCE = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
PATH = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"


def listed(id: str = "1", date: str = "Sat, 21 Nov 2026 10:00:00 +0000", **fields: Any) -> dict[str, Any]:
    message = {"sid": f"SM{id}", "from": "+14155552671", "to": NUMBER, "body": "Hi", "direction": "inbound"}
    return {**message, "date_sent": date, "status": "received", **fields}


def page(*messages: dict[str, Any], following: str | None = None) -> bytes:
    return reply(200, orjson.dumps({"messages": messages, "next_page_uri": following}))


async def find(answering: Answering, number: str = NUMBER) -> tuple[list[InboundMessage], Peer]:
    async with served("twilio", answering) as (carrier, peer):
        assert carrier.capabilities.lists_inbound
        return list(await carrier.list_inbound(number, SINCE)), peer


def lines(peer: Peer) -> list[str]:
    return [lines[0].partition(" HTTP")[0] for lines in peer.requests]


async def test_the_texts_to_a_number_are_listed_since_a_time() -> None:
    younger, older = (
        listed("2", date="Sat, 21 Nov 2026 10:00:00 +0000"),
        listed("1", date="Sat, 21 Nov 2026 09:30:00 +0000"),
    )

    found, peer = await find(say(page(younger, older, listed("0", date="Sat, 21 Nov 2026 09:29:59 +0000"))))

    said = {"from_number": "+14155552671", "to_number": NUMBER, "body": "Hi"}
    assert found == [
        InboundMessage("SM2", **said, at=datetime(2026, 11, 21, 10, tzinfo=UTC)),
        InboundMessage("SM1", **said, at=SINCE),
    ]
    assert lines(peer) == [f"GET {PATH}?To=%2B14155552345&DateSent%3E=2026-11-21&PageSize=300"]


async def test_further_pages_are_read_until_an_older_text() -> None:
    older = listed("0", date="Sat, 21 Nov 2026 09:00:00 +0000")
    pages = [
        page(listed("3"), following=f"{PATH}?Page=1"),
        page(listed("2"), older, following=f"{PATH}?Page=2"),
        page(listed("1")),
    ]

    found, peer = await find(then(*map(say, pages)))

    assert [each.provider_message_id for each in found] == ["SM3", "SM2"]
    assert lines(peer)[1:] == [f"GET {PATH}?Page=1"]


@pytest.mark.parametrize(
    "fields",
    [
        {"direction": "outbound-api"},
        {"sid": None},
        {"from": 7},
        {"to": None},
        {"date_sent": None},
        {"date_sent": "yesterday"},
    ],
)
async def test_a_message_that_is_no_text_of_a_person_is_passed_over(fields: dict[str, Any]) -> None:
    found, _ = await find(say(page(listed(**fields), listed("2"))))

    assert [each.provider_message_id for each in found] == ["SM2"]


@pytest.mark.parametrize("answer", [reply(401, b"{}"), reply(500, b"{}"), reply(200, b"[]"), reply(404, b"{}")])
async def test_an_answer_without_a_list_is_none(answer: bytes) -> None:
    with pytest.raises(ConnectionError):
        await find(say(answer))


async def test_a_list_whose_next_page_is_elsewhere_is_none() -> None:
    with pytest.raises(ConnectionError, match="not one of the account"):
        await find(say(page(listed(), following="/2010-04-01/Accounts/other/Messages.json")))


async def test_an_mms_is_listed_without_its_files_which_are_asked_for() -> None:
    files = {"media_list": [{"sid": "ME1", "content_type": "image/png"}, {"sid": "ME2"}, {"sid": None}, {}]}

    async with served("twilio", then(say(page(listed(num_media="2"))), say(reply(200, orjson.dumps(files))))) as (
        carrier,
        peer,
    ):
        [found] = await carrier.list_inbound(NUMBER, SINCE)
        whole = await carrier.find_media(found)

    assert (found.lacks_media, whole.lacks_media) == (True, False)
    assert lines(peer)[1] == f"GET {PATH.removesuffix('.json')}/SM1/Media.json"
    url = "https://api.twilio.com/Media"
    assert read_media(url, files) == (
        Media(f"{url}/ME1", "image/png"),
        Media(f"{url}/ME2", "application/octet-stream"),
    )


async def test_a_limited_list_has_the_wait_that_twilio_asks_for() -> None:
    with pytest.raises(CarrierBusy) as raised:
        await find(say(reply(429, b"{}", b"retry-after: 7\r\n")))

    assert raised.value.retry_after == 7


@pytest.mark.parametrize("kind", ["telnyx"])
async def test_a_carrier_that_lists_no_texts_says_so(kind: str) -> None:
    async with served(kind, say(page())) as (carrier, peer):
        assert not carrier.capabilities.lists_inbound
        assert await carrier.list_inbound(NUMBER, SINCE) == ()
    assert peer.requests == []
