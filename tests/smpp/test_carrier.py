"""Messages that the carrier submits to the SMSC of the npm package `smpp`."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from app.domain.carriers.carrier import Accepted, Ambiguous, FailureCode, OutboundMessage, Rejected
from app.domain.kernel.time_limit import TimeLimit
from app.providers.carriers.smpp import carrier as smpp_carrier
from app.providers.carriers.smpp.carrier import PartTag, SmppCarrier, Style
from app.providers.carriers.smpp.link import Link, LinkSettings
from app.providers.carriers.smpp.session import Submitted, Target, Timers
from app.providers.carriers.smpp.statuses import Status
from app.providers.carriers.smpp.text import Alphabet
from tests.factories.tables import ago
from tests.smpp.smscs import HOST, LOGIN, THEM, US, Inbox, Smsc
from tests.waiting import PATIENCE_SECONDS, never, until

pytestmark = pytest.mark.anyio

PATIENT = Timers(PATIENCE_SECONDS, PATIENCE_SECONDS)


class LateInbox(Inbox):
    """Gives late responses to a carrier, as a connection does."""

    def __init__(self, carrier: SmppCarrier) -> None:
        super().__init__()
        self._carrier = carrier

    def answered_late(self, tag: object, response: Submitted) -> None:
        super().answered_late(tag, response)
        assert isinstance(tag, PartTag)
        self._carrier.answered_late(tag, response)


def made(smsc: Smsc, style: Style) -> SmppCarrier:
    settings = LinkSettings("smpp_1", Target(HOST, smsc.port), LOGIN, 10, PATIENT)
    return SmppCarrier(settings, style, never)


@pytest.fixture
async def carrier(smsc: Smsc, request: Any) -> AsyncGenerator[SmppCarrier]:
    opened = made(smsc, getattr(request, "param", Style()))
    link = opened.link = Link(opened.settings, LateInbox(opened))
    running = asyncio.create_task(link.run())
    await until(lambda: link.session)
    yield opened
    running.cancel()
    await link.stop()


def message(body: str = "Hello", reference: int = 300, sender: str = US) -> OutboundMessage:
    return OutboundMessage(reference, sender, THEM, body, 1)


async def test_a_message_of_one_part_is_accepted_under_the_id_of_the_smsc(smsc: Smsc, carrier: SmppCarrier):
    smsc.command("name", ids=["00AB12"])

    answer = await carrier.send(message())

    [submit] = await smsc.await_all("submit")
    assert answer == Accepted("ab12", "accepted", 1, part_ids=("ab12",), ids_recur=True)
    assert (submit["text"], submit["udh"], submit["esm_class"], submit["registered_delivery"]) == ("Hello", [], 0, 1)


async def test_the_parts_of_a_long_message_have_one_reference_and_a_receipt_each(smsc: Smsc, carrier: SmppCarrier):
    smsc.command("name", ids=["1", "2", "3"])

    answer = await carrier.send(message("€" * 160, reference=0x1FE))

    submits = await smsc.await_all("submit", 3)
    assert isinstance(answer, Accepted)
    assert (answer.provider_message_id, answer.parts, sorted(answer.part_ids)) == ("1", 3, ["1", "2", "3"])
    assert "".join(each["text"] for each in submits) == "€" * 160
    assert [each["udh"] for each in submits] == [["0003fe0301"], ["0003fe0302"], ["0003fe0303"]]
    assert {each["esm_class"] for each in submits} == {0x40}
    assert {each["registered_delivery"] for each in submits} == {1}


@pytest.mark.parametrize("sender", ["+12025550143", "24680", "Iron House"])
async def test_the_type_of_the_sender_follows_from_it(smsc: Smsc, carrier: SmppCarrier, sender: str):
    await carrier.send(message(sender=sender))

    kinds = {"+12025550143": [1, 1, "12025550143"], "24680": [3, 0, "24680"], "Iron House": [5, 0, "Iron House"]}
    assert [each["source"] for each in await smsc.await_all("submit")] == [kinds[sender]]


@pytest.mark.parametrize("carrier", [Style(Alphabet.latin_1, source=(0, 1))], indirect=True)
async def test_a_style_sets_the_alphabet_and_the_type_of_senders(smsc: Smsc, carrier: SmppCarrier):
    await carrier.send(message("déjà"))

    [submit] = await smsc.await_all("submit")
    assert (submit["text"], submit["data_coding"], submit["source"]) == ("déjà", 3, [0, 1, US[1:]])


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (0x0B, Rejected(FailureCode.invalid_number, "ESME status 0x0B")),
        (0x0A, Rejected(FailureCode.sender_invalid, "ESME status 0x0A")),
        (0x45, Rejected(FailureCode.carrier_error, "ESME status 0x45")),
        (0x04, Rejected(FailureCode.carrier_error, "ESME status 0x04", retryable=True)),
        (0x08, Ambiguous("ESME status 0x08")),
    ],
)
async def test_the_status_of_a_refusal_determines_the_outcome(
    smsc: Smsc, carrier: SmppCarrier, status: int, answer: object
):
    smsc.answer(status)

    assert await carrier.send(message("A" * 200)) == answer
    assert len(await smsc.await_all("submit")) == 1


@pytest.mark.parametrize("status", [Status.throttled, Status.queue_full])
async def test_after_a_limit_the_connection_waits_and_submits_nothing(
    smsc: Smsc, carrier: SmppCarrier, status: Status, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(smpp_carrier, "FIRST_LIMIT", 600)
    monkeypatch.setattr(smpp_carrier, "LONGEST_LIMIT", 600)
    smsc.answer(status)

    limited = await carrier.send(message())
    refused = await carrier.send(message(reference=301))

    assert isinstance(limited, Rejected)
    assert isinstance(refused, Rejected)
    assert (limited.code, limited.retryable, limited.limited) == (FailureCode.rate_limited, True, "connection")
    assert limited.retry_after
    assert timedelta(minutes=9) < limited.retry_after <= timedelta(minutes=10)
    assert refused.code is FailureCode.rate_limited
    assert len(await smsc.await_all("submit")) == 1
    monkeypatch.setattr(carrier._limit, "_until", 0.0)
    assert isinstance(await carrier.send(message()), Accepted)


async def test_a_limit_in_the_middle_of_a_message_delays_its_later_parts_and_repeats_none(
    smsc: Smsc, carrier: SmppCarrier, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(smpp_carrier, "FIRST_LIMIT", 0.05)
    smsc.answer(0, Status.throttled, Status.throttled, 0)

    answer = await carrier.send(message("A" * 300))

    assert isinstance(answer, Accepted)
    assert [each["udh"][0][-2:] for each in await smsc.await_all("submit", 4)] == ["01", "02", "02", "02"]


async def test_without_a_response_the_message_is_ambiguous_until_a_late_one_is_found(smsc: Smsc, carrier: SmppCarrier):
    smsc.answer("held")
    smsc.command("name", ids=["late"])
    assert carrier.link
    assert carrier.link.session
    carrier.link.session._responses = TimeLimit(0.2)

    assert await carrier.send(message()) == Ambiguous("no response in time")
    with pytest.raises(ConnectionError):
        await carrier.find(message(), ago())
    smsc.command("release")
    await until(lambda: carrier.unfinished[300][1])

    assert await carrier.find(message(), ago()) == [
        Accepted("late", "accepted", 1, part_ids=("late",), is_ours=True, ids_recur=True)
    ]
    assert len(smsc.all("submit")) == 1


async def test_a_message_that_was_never_submitted_cannot_be_found(carrier: SmppCarrier):
    with pytest.raises(ConnectionError):
        await carrier.find(message(), ago())


async def test_a_part_that_was_accepted_is_not_submitted_again(smsc: Smsc, carrier: SmppCarrier):
    smsc.answer(0, 0x04)
    smsc.command("name", ids=["first", "second"])

    refused = await carrier.send(message("A" * 300))
    answer = await carrier.send(message("A" * 300))

    assert refused == Rejected(FailureCode.carrier_error, "ESME status 0x04", retryable=True)
    assert isinstance(answer, Accepted)
    assert answer.part_ids == ("first", "second")
    assert [each["udh"][0][-2:] for each in await smsc.await_all("submit", 3)] == ["01", "02", "02"]


async def test_a_carrier_that_drains_ends_the_messages_that_it_has_begun_and_begins_no_more(
    smsc: Smsc, carrier: SmppCarrier
):
    smsc.answer("held")
    sending = asyncio.create_task(carrier.send(message("A" * 300)))
    await smsc.await_all("submit")

    carrier.drain(is_last=False)
    refused = await carrier.send(message(reference=301))
    smsc.command("release")

    assert isinstance(await sending, Accepted)
    assert refused == Rejected(FailureCode.carrier_error, "the connection is not bound", retryable=True)
    assert [each["udh"][0][-2:] for each in await smsc.await_all("submit", 2)] == ["01", "02"]


async def test_a_message_that_is_partly_submitted_when_the_last_carrier_drains_is_never_sent_again(
    smsc: Smsc, carrier: SmppCarrier
):
    smsc.answer("held", 0x04)
    sending = asyncio.create_task(carrier.send(message("A" * 300)))
    await smsc.await_all("submit")

    carrier.drain(is_last=True)
    smsc.command("release")

    assert await sending == Ambiguous("the process stopped when some parts were submitted")


async def test_a_connection_that_is_lost_leaves_the_message_ambiguous(smsc: Smsc, carrier: SmppCarrier):
    smsc.answer("silent")
    sending = asyncio.create_task(carrier.send(message()))
    await smsc.await_all("submit")

    smsc.command("drop")

    assert await sending == Ambiguous("no response in time")
    assert len(smsc.all("submit")) == 1


async def test_without_a_session_nothing_is_submitted(smsc: Smsc):
    answer = await made(smsc, Style()).send(message())

    assert answer == Rejected(FailureCode.carrier_error, "the connection is not bound", retryable=True)
