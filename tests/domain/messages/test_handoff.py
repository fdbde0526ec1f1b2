"""Handing messages to carriers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    FailureCode,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from app.domain.messages.handoff import Handoff
from app.domain.messages.receipts.application import Application, Report
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import INVALID, RATE_LIMITED, TO, Absorbed, after, hand_over, reconcile, through
from tests.factories.billing import audit, entries
from tests.factories.carriers import CONNECTIONS, opened
from tests.factories.clocks import Stopped
from tests.factories.events import event_names, payloads
from tests.factories.messages import MESSAGES, OUTGOING, calls, states
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.waiting import until, within

UNANSWERED, UNHEARD = "+15005550301", "+15005550302"


class Unreachable(SandboxCarrier):
    """A carrier that cannot be asked."""

    async def find(self, message: OutboundMessage, since: datetime) -> Any:
        raise ConnectionError("no route to the carrier")


async def test_an_accepted_text_is_sent_and_told_once(send: Callable[..., Any], handoff: Handoff, pool: Pool) -> None:
    id = (await send()).message_id

    await hand_over(handoff)
    await hand_over(handoff)

    [sent] = await payloads(pool, "message_sent")
    assert (sent["message_id"], sent["provider_message_id"], sent["status"], sent["cost"]) == (
        id,
        f"sbx_{id}",
        "sent",
        0.01,
    )
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    assert not await handoff.due()
    assert not await handoff.lapsed()
    await audit(pool)


async def test_a_rejected_text_fails_and_is_refunded(send: Callable[..., Any], handoff: Handoff, pool: Pool) -> None:
    await send(INVALID, "A" * 161)

    await hand_over(handoff)

    [failed] = await payloads(pool, "message_failed")
    assert (failed["status"], failed["cost"], failed["delivered_at"]) == ("failed", 0.0, None)
    assert failed["status_description"].startswith("The number does not exist")
    assert await states(pool) == [("failed", "invalid_number")]
    failed_at, created_at = await MESSAGES.only(pool, "failed_at", "created_at")
    assert failed_at > created_at
    assert await entries(pool) == [("debit", -2, 998), ("refund", 2, 1000)]
    assert await event_names(pool, "message_sent") == []
    await audit(pool)


async def test_a_carrier_that_is_not_set_up_fails_its_texts(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()

    await CONNECTIONS.delete(pool)
    handoff.connections.expire()

    await hand_over(handoff)

    assert await states(pool) == [("failed", "account_problem")]
    await audit(pool)


async def test_a_text_that_the_carrier_takes_later_waits_longer_each_time_and_is_sent_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(RATE_LIMITED)
    clock = Stopped()
    stopped = replace(handoff, clock=clock)
    dues: list[bool] = []

    await hand_over(stopped)
    for seconds in (1.9, 0.1, 3.9, 0.1):
        clock.move(seconds)
        dues.append(await stopped.due())
        await hand_over(stopped)

    assert dues == [False, True, False, True]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 3)]
    assert await entries(pool) == [("debit", -1, 999)]
    assert await event_names(pool, "message_sent", "message_failed") == ["message_sent"]


async def test_a_text_that_the_carrier_puts_off_for_a_day_expires_and_is_refunded(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(RATE_LIMITED)
    await hand_over(handoff)

    await hand_over(after(handoff, hours=24))

    assert await states(pool) == [("failed", "expired")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_text_that_first_leaves_after_a_day_is_tried_again_after_a_refusal_for_now(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(RATE_LIMITED)

    await hand_over(after(handoff, hours=30))
    between = await states(pool)
    for seconds in (3, 8):
        await hand_over(after(handoff, hours=30, seconds=seconds))

    assert between == [("pending", None)]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 3)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_text_whose_worker_died_after_the_carrier_took_it_is_found_and_not_sent_again(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(UNANSWERED)
    dying = asyncio.create_task(hand_over(handoff))
    await until(lambda: calls(pool))
    dying.cancel()
    await within("dying to end", asyncio.wait([dying]))

    assert not await handoff.due()
    assert not await handoff.lapsed()
    assert await after(handoff, seconds=31).lapsed()
    await reconcile(after(handoff, seconds=31))

    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    assert await event_names(pool, "message_sent") == ["message_sent"]
    assert not await after(handoff, hours=1).lapsed()


async def test_a_text_whose_worker_died_before_the_call_is_sent_exactly_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    await OUTGOING.change(pool, claimed_until=ago(seconds=1), attempts=1)
    again = after(handoff, seconds=3)

    await asyncio.gather(reconcile(handoff), reconcile(handoff))
    states_between = await states(pool), await entries(pool)
    await asyncio.gather(hand_over(again), hand_over(again))

    assert states_between == ([("pending", None)], [("debit", -1, 999)])
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    await audit(pool)


async def test_a_text_that_the_carrier_refused_before_its_worker_died_fails_and_is_refunded(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    accepted = await send(INVALID)
    carrier = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    await carrier.send(OutboundMessage(accepted.message_id, "+15002000001", INVALID, "Hello", 1))
    await OUTGOING.change(pool, claimed_until=ago(seconds=1))

    await reconcile(handoff)

    assert await states(pool) == [("failed", "invalid_number")]
    await audit(pool)


async def test_a_text_that_was_not_answered_stays_paid_and_pending_until_the_carrier_is_asked(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(UNHEARD)
    impatient = replace(handoff, pace=replace(handoff.pace, timeout=0.01, ambiguous_wait=300))

    await hand_over(impatient)

    assert await states(pool) == [("pending", None)]
    assert await entries(pool) == [("debit", -1, 999)]
    assert not await impatient.due()
    assert not await impatient.lapsed()
    assert await after(impatient, seconds=301).lapsed()


async def test_a_text_that_never_reaches_the_carrier_expires_after_a_day_and_is_refunded_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(UNHEARD)
    impatient = replace(handoff, pace=replace(handoff.pace, timeout=0.01, ambiguous_wait=0))

    await hand_over(impatient)
    await reconcile(after(handoff, seconds=1))
    between = await states(pool), await handoff.due(), await after(handoff, seconds=4).due()
    await hand_over(after(impatient, hours=23))
    await reconcile(after(handoff, hours=25))

    assert between == ([("pending", None)], False, True)
    assert await states(pool) == [("failed", "expired")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


@pytest.mark.parametrize("gone", [True, False])
async def test_a_carrier_that_cannot_be_asked_is_asked_later(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, gone: bool
) -> None:
    await send()
    await OUTGOING.change(pool, claimed_until=ago(seconds=1))
    carriers = {} if gone else {"sandbox": Unreachable(pool, b"", 0, 10)}
    deaf = replace(handoff, connections=opened(handoff, **carriers), pace=replace(handoff.pace, ambiguous_wait=5))

    await reconcile(deaf)

    assert await states(pool) == [("pending", None)]
    assert not await handoff.due()
    assert not await handoff.lapsed()
    assert await after(handoff, seconds=6).lapsed()
    assert await calls(pool) == []


@pytest.mark.parametrize(
    "answer",
    [Rejected(FailureCode.rate_limited, retryable=True), Ambiguous("no answer in time")],
    ids=["refused for now", "no answer"],
)
async def test_a_worker_that_slept_past_its_lease_does_not_free_the_claim_of_the_next(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, answer: Answer
) -> None:
    await send()
    slow, second = Absorbed(pool), Absorbed(pool)
    sleeper = through(replace(handoff, pace=replace(handoff.pace, ambiguous_wait=0)), slow)
    sleeping = asyncio.create_task(hand_over(sleeper))
    await within("the first worker to ask the carrier", slow.asked.wait())
    await reconcile(after(handoff, seconds=31))
    next_one = asyncio.create_task(hand_over(through(after(handoff, seconds=34), second)))
    await within("the second worker to ask the carrier", second.asked.wait())

    slow.answer.set_result(answer)
    await sleeping

    assert not await after(handoff, seconds=35).due()
    assert not await after(handoff, seconds=35).lapsed()
    second.answer.set_result(Accepted("sbx_second"))
    await next_one
    assert await states(pool) == [("sent", None)]
    assert await event_names(pool, "message_sent") == ["message_sent"]


async def test_a_lease_that_is_too_short_for_the_call_is_given_back_unsent(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    hasty = replace(handoff, pace=replace(handoff.pace, timeout=10, lease=5))

    await hand_over(hasty)

    assert await calls(pool) == []
    assert await states(pool) == [("pending", None)]
    assert await after(handoff, seconds=3).due()


async def test_many_workers_hand_each_text_over_once(send: Callable[..., Any], handoff: Handoff, pool: Pool) -> None:
    bodies = [f"Text {number:02}" for number in range(40)]
    await asyncio.gather(*(send(body=body) for body in bodies))
    small = replace(handoff, pace=replace(handoff.pace, window=7))

    while await small.due():
        await asyncio.gather(*(hand_over(small) for _ in range(4)))

    assert await calls(pool) == [(body, 1) for body in bodies]
    assert await states(pool) == [("sent", None)] * 40
    assert len(await event_names(pool, "message_sent")) == 40
    await audit(pool)


async def test_a_receipt_that_commits_while_the_answer_is_recorded_is_not_undone(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    carrier = Absorbed(pool)
    calling = asyncio.create_task(hand_over(through(handoff, carrier)))
    await within("the carrier to be asked", carrier.asked.wait())

    report = Report("sandbox", Receipt(f"sbx_{id}", ReceiptStatus.delivered, "delivered", reference=id))
    async with pool.acquire() as connection, connection.transaction():
        await Application([report], handoff.clock.now()).run(connection)
        carrier.answer.set_result(Accepted(f"sbx_{id}"))
        await until_blocked(pool)
    await calling

    assert await states(pool) == [("delivered", None)]
    assert await event_names(pool, "message_sent", "message_delivered") == ["message_sent", "message_delivered"]
    assert await MESSAGES.only(pool, "carrier_status") == "delivered"
    assert await OUTGOING.count(pool) == 0


class Broken(SandboxCarrier):
    """A carrier whose adapter fails at one number, after it has given the message away."""

    async def send(self, message: OutboundMessage) -> Answer:
        answer = await super().send(message)
        if message.to_number == TO:
            raise KeyError("sid")
        return answer


async def test_a_defect_of_a_carriers_adapter_leaves_its_message_in_doubt_and_records_the_others(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    reported: list[Exception] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    await send()
    await send(to="+12025550144")

    await hand_over(through(handoff, Broken(pool, b"secret", 0, 10)))
    first = await states(pool)
    await reconcile(after(handoff, seconds=31))

    assert first == [("pending", None), ("sent", None)]
    assert await states(pool) == [("sent", None), ("sent", None)]
    assert [str(error) for error in reported] == ["'sid'"]
    assert [count for _, count in await calls(pool)] == [1, 1]


class Repeating(SandboxCarrier):
    """A carrier that gives every message one id."""

    async def send(self, message: OutboundMessage) -> Answer:
        await super().send(message)
        return Accepted("once")


async def test_a_message_whose_id_the_carrier_gave_before_is_recorded_without_it(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await asyncio.gather(*(send(body=body) for body in ("One", "Two")))

    await hand_over(through(handoff, Repeating(pool, b"secret", 0, 10)))

    assert await states(pool) == [("sent", None), ("sent", None)]
    ids = await MESSAGES.read(pool, "provider_message_id")
    assert sorted(ids, key=str) == [None, "once"]
    assert await event_names(pool, "message_sent") == ["message_sent"] * 2
