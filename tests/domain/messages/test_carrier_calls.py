"""Calls to carriers about late texts: slow, busy and unreachable carriers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import CarriedMessage, CarrierBusy
from app.domain.carriers.unusable import UnusableCarrier
from tests.domain.messages.lateness import Asked, Lost, failed, work
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.carriers import add_connection
from tests.factories.messages import MESSAGE_MARKS, MESSAGES, STATUS_QUERIES, states
from tests.waiting import until, within


def raising(error: Exception) -> Callable[[CarriedMessage], None]:
    def answer(_: CarriedMessage) -> None:
        raise error

    return answer


unreachable = raising(ConnectionError("HTTP 500"))


@pytest.mark.parametrize(
    ("error", "calls"),
    [(CarrierBusy(5), 4), (CarrierBusy(), 4), (ConnectionError("HTTP 503"), 6), (TimeoutError(), 6)],
)
async def test_a_carrier_that_is_busy_or_unreachable_rests_and_is_asked_again(
    lost: Lost, pool: Pool, error: Exception, calls: int
) -> None:
    for digit in range(9):
        await lost.hand_over(f"+1202555014{digit}")
    lost.carrier.answer = raising(error)
    reports = lost.after(1.1)

    await work(reports)

    assert 1 <= len(lost.carrier.asked) <= calls
    assert await states(pool) == [("sent", None)] * 9
    assert not await reports.due()
    lost.carrier.answer = failed
    await work(lost.after(1.4))
    assert await states(pool) == [("failed", "unreachable")] * 9
    assert await LEDGER_ENTRIES.where(type="refund").count(pool) == 9
    await audit(pool)


async def test_a_carrier_that_fails_now_and_then_does_not_rest(lost: Lost, pool: Pool) -> None:
    ids = [await lost.hand_over(f"+1202555014{digit}") for digit in range(9)]
    answers = cycle([unreachable, failed])
    lost.carrier.answer = lambda message: next(answers)(message)

    await lost.after(1.1).run()

    assert sorted(lost.carrier.asked) == ids
    assert await MESSAGES.where(status="failed").count(pool) == 4


async def test_a_call_without_an_answer_is_made_again_ten_minutes_later(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()
    lost.carrier.answer = unreachable

    await work(lost.after(1.1))
    assert len(lost.carrier.asked) == 1
    await work(lost.after(1.2))
    assert len(lost.carrier.asked) == 1
    lost.carrier.answer = failed
    await work(lost.after(1.3))

    assert len(lost.carrier.asked) == 2
    assert await states(pool) == [("failed", "unreachable")]


async def test_a_carrier_that_does_not_answer_delays_no_text_of_other_ones(lost: Lost, pool: Pool) -> None:
    await add_connection(pool, "other")
    ids = [await lost.hand_over(f"+1202555014{digit}") for digit in range(6)]
    for id in ids[:3]:
        await MESSAGES.where(id=id).change(pool, carrier="other")
    slow = Asked(pool, "other")
    slow.permitted.clear()
    reports = replace(lost.after(1.1, lost.carrier, slow), claimed=1)

    running = asyncio.create_task(reports.run())
    await within("the slow carrier to be asked", slow.asks.wait())
    await until(lambda: _has_failed(pool, 3))
    slow.permitted.set()
    await within("the batch", running)

    assert sorted(lost.carrier.asked) == ids[3:]


async def _has_failed(pool: Pool, count: int) -> bool:
    return await MESSAGES.where(status="failed").count(pool) == count


async def test_a_text_whose_connection_cannot_be_opened_is_asked_for_once_it_can(lost: Lost, pool: Pool) -> None:
    id = await lost.hand_over()

    await work(lost.after(1.1, UnusableCarrier("sandbox")))
    assert await MESSAGE_MARKS.only(pool, "last_id") == id
    await work(lost.after(1.4))

    assert await states(pool) == [("failed", "unreachable")]


async def test_a_text_of_a_carrier_that_answers_no_questions_is_not_noted(lost: Lost, pool: Pool) -> None:
    id = await lost.hand_over()
    lost.carrier.capabilities = replace(lost.carrier.capabilities, answers_status_queries=False)

    await work(lost.after(1.1))

    assert await MESSAGE_MARKS.only(pool, "last_id") == id
    assert await STATUS_QUERIES.count(pool) == 0
    assert lost.carrier.asked == []


async def test_no_call_begins_once_the_time_of_a_run_is_over(lost: Lost, pool: Pool) -> None:
    await lost.hand_over()
    reports = lost.after(1.1)
    ended = replace(reports, calls=replace(reports.calls, run_seconds=0))

    await ended.run()

    assert lost.carrier.asked == []
    await work(lost.after(1.1))
    assert await states(pool) == [("failed", "unreachable")]


async def test_an_answer_that_an_adapter_does_not_understand_is_reported_and_delays_no_other_one(
    lost: Lost, pool: Pool
) -> None:
    ids = [await lost.hand_over(f"+1202555014{digit}") for digit in range(6)]
    lost.carrier.answer = lambda message: (
        failed(message) if message.reference == ids[-1] else raising(KeyError())(message)
    )
    faults: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))

    await work(lost.after(1.1))

    assert faults == ["the answer of the connection sandbox was not understood"] * 5
    assert sorted(lost.carrier.asked) == ids
    assert await MESSAGES.where(status="failed").read(pool, "id") == ids[-1:]
