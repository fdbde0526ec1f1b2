"""Texts whose final report was lost: their carriers are asked for it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from app.bootstrap.late import open_late_reports
from app.db.engine import Pool
from app.domain.carriers.carrier import CarriedMessage, Charge, FailureCode
from app.domain.erasure import service as erasure
from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.handoff import Handoff
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.domain.messages.lateness import Asked, Lost, failed, report, work
from tests.factories.billing import LEDGER_ENTRIES, audit, entries
from tests.factories.carriers import CONNECTIONS, add_connection, opened
from tests.factories.clocks import At
from tests.factories.contacts import CONSENTS, SUPPRESSIONS, id_of_contact
from tests.factories.events import event_names
from tests.factories.messages import MESSAGE_MARKS, MESSAGES, RECEIPTS, SANDBOX_MESSAGES, STATUS_QUERIES, states
from tests.factories.traps import writes_refused
from tests.waiting import within

TOLD = ("message_sent", "message_delivered", "message_failed")


async def refunds(pool: Pool) -> int:
    return await LEDGER_ENTRIES.where(type="refund").count(pool)


async def test_a_failed_text_whose_callback_was_lost_fails_and_is_refunded_once(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()

    await work(lost.after(0.9))
    assert lost.carrier.asked == []
    await work(lost.after(1.1))
    await work(lost.after(6.1))

    assert await states(pool) == [("failed", "unreachable")]
    assert await MESSAGES.only(pool, "carrier_status", "carrier_error") == ("undelivered", "30003")
    assert [(kind, amount) for kind, amount, _ in await entries(pool)] == [("debit", -1), ("refund", 1)]
    assert await event_names(pool, *TOLD) == ["message_sent", "message_failed"]
    assert len(lost.carrier.asked) == 1
    assert await STATUS_QUERIES.count(pool) == 0
    await audit(pool)


async def test_the_same_report_in_a_callback_afterwards_changes_nothing(
    services: Services, lost: Lost, pool: Pool
) -> None:
    id = await lost.hand_over()
    await work(lost.after(1.1))

    await services.receipts.receive("sandbox", failed(CarriedMessage(id, f"sbx_{id}")))

    assert await refunds(pool) == 1
    assert await RECEIPTS.where(message_id=id, status="failed").count(pool) == 1
    assert await event_names(pool, *TOLD) == ["message_sent", "message_failed"]
    await audit(pool)


async def test_an_answer_and_a_callback_at_the_same_moment_refund_once(
    services: Services, lost: Lost, pool: Pool
) -> None:
    ids = [await lost.hand_over(f"+1202555014{digit}") for digit in range(8)]
    callbacks = (services.receipts.receive("sandbox", failed(CarriedMessage(id, f"sbx_{id}"))) for id in ids)

    await asyncio.gather(work(lost.after(1.1)), *callbacks)

    assert await refunds(pool) == len(ids)
    assert await states(pool) == [("failed", "unreachable")] * len(ids)
    await audit(pool)


async def test_a_delivered_text_is_delivered_with_its_charge(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()
    charge = Charge(charged := (await MESSAGES.only(pool, "cost")) / 2, "USD")
    lost.carrier.answer = lambda message: replace(report(message, "delivered"), parts=1, charge=charge)

    await work(lost.after(1.1))

    assert await states(pool) == [("delivered", None)]
    assert await MESSAGES.only(pool, "carrier_segments", "carrier_charge") == (1, charged)
    assert await event_names(pool, *TOLD) == ["message_sent", "message_delivered"]
    assert await refunds(pool) == 0


async def test_an_opt_out_that_is_learned_of_late_counts_at_the_time_of_its_text(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()
    await MESSAGES.age(pool, "sent_at", hours=2)
    sent_at = await MESSAGES.only(pool, "sent_at")
    lost.carrier.answer = lambda message: report(message, "failed", FailureCode.opted_out)

    await work(lost.after(1.1))

    assert await states(pool) == [("failed", "opted_out")]
    assert await SUPPRESSIONS.only(pool, "reason") == "carrier"
    assert await CONSENTS.where(kind="revoked_other").only(pool, "occurred_at") == sent_at


@pytest.mark.parametrize("status", ["pending", "sent"])
async def test_an_answer_that_is_not_final_changes_nothing_and_the_text_is_asked_for_at_four_ages(
    lost: Lost, pool: Pool, status: str
) -> None:
    await lost.hand_over()
    lost.carrier.answer = lambda message: report(message, status)
    before = await MESSAGES.only(pool)
    asked_at = []

    for half in range(1, 150):
        count = len(lost.carrier.asked)
        await work(lost.after(half / 2))
        if len(lost.carrier.asked) > count:
            asked_at.append(half / 2)

    assert asked_at == [1, 6, 24, 71]
    assert await MESSAGES.only(pool) == before
    assert await RECEIPTS.count(pool) == 0
    assert await STATUS_QUERIES.count(pool) == 0


async def test_a_text_that_its_carrier_has_no_longer_stays_as_it_is(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()
    lost.carrier.answer = lambda _: None

    await work(lost.after(1.1))
    await work(lost.after(73))

    assert await states(pool) == [("sent", None)]
    assert await refunds(pool) == 0
    assert await STATUS_QUERIES.count(pool) == 0


async def test_a_text_whose_final_report_has_arrived_is_not_asked_for(
    services: Services, lost: Lost, pool: Pool
) -> None:
    first, second = await lost.hand_over(), await lost.hand_over("+12025550144")
    await services.receipts.receive("sandbox", report(CarriedMessage(first, f"sbx_{first}"), "delivered"))
    lost.carrier.answer = lambda message: report(message, "sent")
    await work(lost.after(1.1))
    await services.receipts.receive("sandbox", report(CarriedMessage(second, f"sbx_{second}"), "delivered"))

    await work(lost.after(6.1))

    assert lost.carrier.asked == [second]
    assert await STATUS_QUERIES.count(pool) == 0


async def test_a_text_that_left_late_is_asked_for_an_hour_after_it_left(
    lost: Lost, services: Services, pool: Pool
) -> None:
    accepted = await lost.send()
    await work(lost.after(3))
    assert await STATUS_QUERIES.only(pool, "message_id") == accepted.message_id
    clock = At(lost.start + timedelta(hours=50))
    await hand_over(replace(lost.handoff, connections=opened(lost.handoff, sandbox=lost.carrier), clock=clock))
    await work(lost.after(50.5))
    assert lost.carrier.asked == []

    await work(lost.after(52.1))

    assert await states(pool) == [("failed", "unreachable")]


async def test_two_workers_ask_for_each_text_once(lost: Lost, pool: Pool) -> None:
    ids = [await lost.hand_over(f"+1202555014{digit}") for digit in range(8)]
    one, other = lost.after(1.1), lost.after(1.1)

    await asyncio.gather(work(one), work(other))
    await asyncio.gather(work(one), work(other))

    assert sorted(lost.carrier.asked) == ids
    assert await refunds(pool) == len(ids)


async def test_texts_of_a_worker_that_was_killed_after_its_claim_are_asked_for_once_the_claim_ends(
    lost: Lost, pool: Pool
) -> None:
    await lost.hand_over()
    lost.carrier.permitted.clear()
    running = asyncio.create_task(lost.after(1.1).run())
    await within("the carrier to be asked", lost.carrier.asks.wait())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    lost.carrier.permitted.set()

    await work(lost.after(1.15))
    assert len(lost.carrier.asked) == 1
    await work(lost.after(1.3))

    assert len(lost.carrier.asked) == 2
    assert await states(pool) == [("failed", "unreachable")]
    assert await refunds(pool) == 1


async def test_the_walk_ends_before_the_first_message_that_is_too_young(lost: Lost, pool: Pool) -> None:
    old, young = await lost.hand_over(), await lost.hand_over("+12025550144")
    await MESSAGES.where(id=young).age(pool, "created_at", hours=-2)
    later = await lost.hand_over("+12025550145")

    await work(lost.after(1.1))
    assert await MESSAGE_MARKS.only(pool, "last_id") == old
    assert lost.carrier.asked == [old]
    await work(lost.after(3.2))

    assert await MESSAGE_MARKS.only(pool, "last_id") == later
    assert sorted(lost.carrier.asked) == [old, young, later]


async def test_the_walk_advances_only_with_what_it_has_noted(lost: Lost, pool: Pool) -> None:
    id = await lost.hand_over()
    async with writes_refused(pool, "message_marks", "last_id = 0"):
        with pytest.raises(asyncpg.CheckViolationError):
            await lost.after(1.1).run()
    assert await STATUS_QUERIES.count(pool) == 0

    await work(lost.after(1.1))

    assert lost.carrier.asked == [id]


async def test_a_removed_connection_takes_its_questions_with_it(lost: Lost, pool: Pool) -> None:
    id = await lost.hand_over()
    await add_connection(pool, "other")
    await MESSAGES.where(id=id).change(pool, carrier="other")
    await lost.after(1.1, Asked(pool, "other")).run()
    await STATUS_QUERIES.delete(pool)
    await STATUS_QUERIES.insert(pool, message_id=id, carrier="other", due_at=lost.start)

    await CONNECTIONS.where(key="other").delete(pool)

    assert await STATUS_QUERIES.count(pool) == 0


@pytest.mark.parametrize(
    ("number", "state"),
    [
        ("+12025550143", ("delivered", None)),
        ("+15005550104", ("failed", "filtered")),
        ("+15005550205", ("sent", None)),
        ("+15005550204", ("delivered", None)),
    ],
)
async def test_the_sandbox_is_asked_for_the_outcome_of_its_numbers(
    services: Services, handoff: Handoff, send: Callable[..., Any], pool: Pool, number: str, state: tuple[str, Any]
) -> None:
    await send(number)
    await hand_over(handoff)
    assert await SANDBOX_MESSAGES.count(pool) == 1
    clock = At(datetime.now(UTC) + timedelta(hours=1, minutes=1))
    calls = CarrierCalls(handoff.connections, clock, TimeLimit(30))

    await work(replace(open_late_reports(services), calls=calls, clock=clock))

    assert await states(pool) == [state]
    await audit(pool)


async def test_a_deleted_contact_leaves_no_question_about_its_texts(
    act: Callable[..., Any], lost: Lost, pool: Pool
) -> None:
    await lost.hand_over()
    lost.carrier.answer = lambda message: report(message, "sent")
    await work(lost.after(1.1))
    assert await STATUS_QUERIES.count(pool) == 1

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))

    assert await STATUS_QUERIES.count(pool) == 0
    await work(lost.after(72))
    assert len(lost.carrier.asked) == 1
