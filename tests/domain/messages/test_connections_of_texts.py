"""Texts leave through the connections of their numbers: several, paused ones, and those of other processes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers import queries
from app.domain.carriers.carrier import (
    Accepted,
    Answer,
    Charge,
    FailureCode,
    InboundMessage,
    Keyword,
    Media,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import connections, synchronous
from app.domain.messages.errors import CarrierTimeout, MessageTooLong
from app.domain.messages.handoff import Handoff
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import TO, Absorbed, after, hand_over, reconcile
from tests.factories.carriers import add_connection, change_connection, opened
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES, OUTGOING, SANDBOX_MESSAGES, UNMATCHED_CALLBACKS, states
from tests.factories.numbers import add_number
from tests.factories.tables import ago
from tests.waiting import within

NUMBER = "+14155550100"


@pytest.fixture
async def second(pool: Pool, account: Opened, services: Services) -> int:
    """Provide the id of a number of a second connection, whose texts have at most 2 parts."""
    await add_connection(pool, "second", settings={"max_segments": 2})
    services.connections.expire()
    return await add_number(pool, account.account_id, NUMBER, carrier="second")


def both(handoff: Handoff, pool: Pool) -> Handoff:
    """Return the hand-off with both connections."""
    second = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    second.key = "second"
    first = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    return replace(handoff, connections=opened(handoff, sandbox=first, second=second))


async def test_a_text_leaves_through_the_connection_of_its_number(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    await send(body="first")
    await send(body="second", from_phone_number_id=second)

    await hand_over(both(handoff, pool))

    assert await MESSAGES.read(pool, "body", "carrier", "status") == [
        ("first", "sandbox", "sent"),
        ("second", "second", "sent"),
    ]
    assert sorted(await SANDBOX_MESSAGES.read(pool, "body", "carrier")) == [("first", "sandbox"), ("second", "second")]


async def test_the_limit_of_parts_is_that_of_the_connection_of_the_number(
    send: Callable[..., Any], pool: Pool, second: int
) -> None:
    await send(body="x" * 320)
    with pytest.raises(MessageTooLong) as refused:
        await send(body="x" * 320, from_phone_number_id=second)

    assert refused.value.facts == {"size": 3, "unit": "segments", "limit": 2}
    assert len(await states(pool)) == 1


async def test_the_texts_of_a_paused_connection_wait_and_leave_when_it_is_resumed(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(body="waits", from_phone_number_id=second)
    await send(body="leaves", to="+12025550144")
    await change_connection(pool, "second", status="paused")

    await hand_over(handoff)
    between, is_due = await MESSAGES.read(pool, "body", "status"), await handoff.due()
    await change_connection(pool, "second", status="active")
    resumed_is_due = await handoff.due()
    await hand_over(handoff)

    assert between == [("waits", "pending"), ("leaves", "sent")]
    assert (is_due, resumed_is_due) == (False, True)
    assert await MESSAGES.read(pool, "status") == ["sent", "sent"]
    assert await OUTGOING.count(pool) == 0


async def test_a_synchronous_send_through_a_paused_connection_waits_until_it_is_resumed(
    services: Services, actor: Actor, handoff: Handoff, pool: Pool, second: int
) -> None:
    hasty = both(replace(handoff, pace=replace(handoff.pace, timeout=0.1)), pool)
    wish = Send(TO, "waits", consent_attested=True, from_phone_number_id=second)
    await change_connection(pool, "second", status="paused")

    with pytest.raises(CarrierTimeout):
        await synchronous.send(services.acceptor, hasty, actor, wish)
    between, calls = await MESSAGES.read(pool, "status"), await SANDBOX_MESSAGES.count(pool)
    await change_connection(pool, "second", status="active")
    await hand_over(both(handoff, pool))

    assert (between, calls) == (["pending"], 0)
    assert await MESSAGES.read(pool, "status") == ["sent"]
    assert await SANDBOX_MESSAGES.count(pool) == 1


async def test_the_carrier_of_a_paused_connection_is_asked_for_texts_in_doubt(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(from_phone_number_id=second)
    await OUTGOING.change(pool, claimed_until=ago(seconds=1))
    await change_connection(pool, "second", status="paused")

    await reconcile(handoff)

    assert await OUTGOING.only(pool, "claimed_until") is None
    assert await SANDBOX_MESSAGES.count(pool) == 0


async def test_a_connection_of_another_role_is_neither_claimed_nor_failed(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(from_phone_number_id=second)
    await change_connection(pool, "second", role="smpp")

    await hand_over(handoff)
    of_workers = await states(pool), await handoff.due()
    handoff.connections.role, handoff.connections.keys = "smpp", ["another"]
    await hand_over(handoff)
    of_another = await states(pool), await handoff.due()
    handoff.connections.keys = ["second"]
    await hand_over(handoff)

    assert of_workers == of_another == ([("pending", None)], False)
    assert await states(pool) == [("sent", None)]


async def test_the_texts_of_many_paused_connections_do_not_keep_others_waiting(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, account: Opened, second: int
) -> None:
    for place in range(100):
        await add_connection(pool, f"a{place}", status="paused")
        id = await add_number(pool, account.account_id, f"+1415555{2000 + place}", carrier=f"a{place}")
        await send(from_phone_number_id=id)
    await send(body="leaves", from_phone_number_id=second)

    handoff = both(handoff, pool)
    await handoff.run()
    await handoff.finish()

    assert await SANDBOX_MESSAGES.read(pool, "body") == ["leaves"]


@pytest.fixture
def move(services: Services, act: Callable[[], Any]) -> Callable[..., Any]:
    """Provide a function that moves a number of the account to the connection with a key."""

    async def move(number_id: int, key: str) -> None:
        async with act() as unit:
            connection = await queries.get_any(unit, key)
            await connections.move_number(unit, services.carriers, number_id, connection)

    return move


async def test_texts_that_wait_leave_through_the_connection_that_their_number_was_moved_to(
    send: Callable[..., Any], move: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(from_phone_number_id=second)
    await change_connection(pool, "second", status="paused")

    await move(second, "sandbox")
    await hand_over(handoff)

    assert await MESSAGES.read(pool, "carrier", "status") == [("sandbox", "sent")]
    assert await SANDBOX_MESSAGES.read(pool, "carrier") == ["sandbox"]


async def test_a_text_in_flight_ends_on_the_connection_that_its_number_was_moved_from(
    send: Callable[..., Any], move: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    slow = Absorbed(pool)
    slow.key = "second"
    handing = replace(handoff, connections=opened(handoff, second=slow))
    await send(from_phone_number_id=second)
    calling = asyncio.create_task(hand_over(handing))
    await within("the call", slow.asked.wait())

    await move(second, "sandbox")
    slow.answer.set_result(Accepted("note_1"))
    await calling

    assert await MESSAGES.read(pool, "carrier", "status", "provider_message_id") == [("second", "sent", "note_1")]


async def test_a_text_that_the_former_connection_refuses_for_now_is_tried_on_the_new_one(
    send: Callable[..., Any], move: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    slow = Absorbed(pool)
    slow.key = "second"
    handing = replace(handoff, connections=opened(handoff, second=slow))
    await send(from_phone_number_id=second)
    calling = asyncio.create_task(hand_over(handing))
    await within("the call", slow.asked.wait())

    await move(second, "sandbox")
    slow.answer.set_result(Rejected(FailureCode.carrier_error, retryable=True))
    await calling
    await hand_over(after(both(handoff, pool), minutes=1))

    assert await MESSAGES.read(pool, "carrier", "status") == [("sandbox", "sent")]


async def test_a_text_to_a_moved_number_is_taken_from_the_former_connection_and_answered_through_the_new_one(
    services: Services, move: Callable[..., Any], pool: Pool, second: int
) -> None:
    await move(second, "sandbox")

    await services.inbox.receive("second", InboundMessage("in-1", TO, NUMBER, "STOP"))

    assert await MESSAGES.read(pool, "direction", "carrier") == [("inbound", "second"), ("outbound", "sandbox")]


async def test_a_connection_of_another_account_brings_no_text_to_a_number(
    services: Services, new_account: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    other: Opened = await new_account()
    await add_connection(pool, "theirs", account_id=other.account_id)
    services.connections.expire()

    await services.inbox.receive("theirs", InboundMessage("in-1", TO, account.phone_number, "STOP"))

    assert await MESSAGES.count(pool) == 0
    assert await UNMATCHED_CALLBACKS.read(pool, "carrier", "problem") == [("theirs", "no account holds the number")]


@pytest.mark.parametrize(
    ("keyword", "status"), [(Keyword.stop, "opted_out"), (Keyword.start, "active"), (Keyword.help, "active")]
)
async def test_a_keyword_that_the_carrier_answered_counts_and_gets_no_second_answer(
    services: Services, account: Opened, pool: Pool, keyword: Keyword, status: str
) -> None:
    inbound = InboundMessage("in-1", TO, account.phone_number, "a word of the carrier's", answered_keyword=keyword)

    await services.inbox.receive("sandbox", inbound)

    assert await CONTACTS.read(pool, "status") == [status]
    assert await MESSAGES.read(pool, "direction") == ["inbound"]


async def test_the_links_to_the_files_of_an_mms_are_kept(services: Services, account: Opened, pool: Pool) -> None:
    media = (Media("https://carrier.example/1", "image/jpeg"),)

    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, account.phone_number, "", media=media))

    assert await MESSAGES.read(pool, "media") == [[{"url": "https://carrier.example/1", "content_type": "image/jpeg"}]]


class Charging(SandboxCarrier):
    """A carrier that counts parts and charges for them."""

    async def send(self, message: OutboundMessage) -> Answer:
        return Accepted("note_1", parts=2, charge=Charge(Decimal("0.0158"), "USD"))


async def test_a_report_that_arrives_before_its_text_is_known_keeps_its_parts_and_charge(
    send: Callable[..., Any], handoff: Handoff, services: Services, pool: Pool
) -> None:
    early = Receipt("note_1", ReceiptStatus.delivered, "delivered", parts=3, charge=Charge(Decimal("0.0237"), "USD"))
    await services.receipts.receive("sandbox", early)
    await send()

    await hand_over(replace(handoff, connections=opened(handoff, sandbox=Charging(pool, b"", 0, 10))))
    await services.receipts.match()

    shown = await MESSAGES.read(pool, "status", "carrier_segments", "carrier_charge", "carrier_currency")
    assert shown == [("delivered", 3, Decimal("0.0237"), "USD")]


async def test_the_parts_and_the_charge_are_kept_as_the_carrier_reports_them(
    send: Callable[..., Any], handoff: Handoff, services: Services, pool: Pool
) -> None:
    await send()
    await hand_over(replace(handoff, connections=opened(handoff, sandbox=Charging(pool, b"", 0, 10))))
    answered = await MESSAGES.read(pool, "segments", "carrier_segments", "carrier_charge", "carrier_currency")
    later = Receipt("note_1", ReceiptStatus.delivered, "delivered", charge=Charge(Decimal("0.02"), "EUR"))
    await services.receipts.receive("sandbox", later)

    assert answered == [(1, 2, Decimal("0.0158"), "USD")]
    assert await MESSAGES.read(pool, "carrier_charge", "carrier_currency") == [(Decimal("0.02"), "EUR")]


class Forgetful(SandboxCarrier):
    """A carrier that has one message, and cannot tell which of two it is."""

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        return (Accepted("the only one"),)


async def test_two_texts_in_doubt_with_the_same_words_never_take_the_same_message_of_the_carrier(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    await send()
    await OUTGOING.change(pool, claimed_until=ago(seconds=1))

    await reconcile(replace(handoff, connections=opened(handoff, sandbox=Forgetful(pool, b"", 0, 10))))

    found = await MESSAGES.read(pool, "status", "provider_message_id")
    assert sorted(found, key=str) == [("pending", None), ("sent", "the only one")]


async def test_a_carrier_that_asks_for_a_long_wait_is_called_again_after_ten_minutes(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    absorbed = Absorbed(pool)
    absorbed.answer.set_result(Rejected(FailureCode.rate_limited, retryable=True, retry_after=timedelta(days=365)))
    await send()
    await hand_over(replace(handoff, connections=opened(handoff, sandbox=absorbed)))

    await hand_over(after(handoff, minutes=11))

    assert await states(pool) == [("sent", None)]
