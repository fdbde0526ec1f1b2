"""Reports that are applied together: they end as they would one by one, and hold up no others."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, Receipt, ReceiptStatus
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.handoff import Handoff
from app.domain.messages.receipts import application
from app.domain.messages.receipts.application import Application, ReceiptResult, Report
from app.domain.messages.receipts.journal import Receipts
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, entries
from tests.factories.events import EVENTS
from tests.factories.messages import CARRIER_IDS, MESSAGES, RECEIPTS, UNMATCHED_RECEIPTS, states
from tests.factories.traps import locked, table_locked, until_blocked
from tests.waiting import within

MESSAGES_OF_A_CASE = 3
STATUSES = ("sent", "delivered", "failed", "unconfirmed", "pending")
CASES = st.lists(
    st.tuples(st.integers(0, MESSAGES_OF_A_CASE - 1), st.sampled_from(STATUSES), st.sampled_from(["", "30003"])),
    max_size=12,
)
LEFT_ALONE = ("id", "provider_message_id", "created_at", "due_at", "sent_at", "delivered_at", "failed_at")

Case = Sequence[tuple[int, str, str]]


def report(id: int, status: str, error: str = "", *, named: bool = True) -> Report:
    """Return a receipt of a message; unless `named`, it has only the carrier's id, without our reference."""
    code = FailureCode.unreachable if status == "failed" else None
    reference = id if named else None
    receipt = Receipt(f"sbx_{id}", ReceiptStatus(status), f"{status}{error}", code, error, reference=reference)
    return Report("sandbox", receipt)


async def receive(receipts: Receipts, id: int, status: str, *, named: bool = True) -> None:
    """Receive a report as a callback brings it."""
    await receipts.receive("sandbox", report(id, status, named=named).receipt)


async def apply(pool: Pool, reports: Sequence[Report]) -> list[Any]:
    """Apply a batch of reports in one transaction."""
    async with pool.acquire() as connection, connection.transaction():
        return await Application(reports, Clock().now(), waits=True).run(connection)


async def end_of(pool: Pool, ids: Sequence[int]) -> list[Any]:
    """Return all that reports left of messages, without ids and instants."""
    events = await EVENTS.read(pool, "name", "payload")
    ends: list[Any] = []
    for id in ids:
        message = dict(await MESSAGES.where(id=id).only(pool))
        dated = [message[name] is not None for name in ("sent_at", "delivered_at", "failed_at")]
        journal = await RECEIPTS.where(message_id=id).read(pool, "raw_status", "status", "error_code", "contradicts")
        told = [
            (name, payload["status"], payload["cost"]) for name, payload in events if payload.get("message_id") == id
        ]
        kept = {name: value for name, value in message.items() if name not in LEFT_ALONE}
        ends.append((kept, dated, [tuple(row) for row in journal], told))
    return ends


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES, cuts=st.lists(st.integers(0, 12), max_size=4), are_sent=st.booleans())
async def test_reports_in_batches_end_as_they_do_one_by_one(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, case: Case, cuts: list[int], are_sent: bool
) -> None:
    ids = [(await send(body="Hello")).message_id for _ in range(2 * MESSAGES_OF_A_CASE)]
    if are_sent:
        await hand_over(handoff)
    together, alone = ids[:MESSAGES_OF_A_CASE], ids[MESSAGES_OF_A_CASE:]

    for begin, end in pairwise([0, *sorted(cuts), len(case)]):
        await apply(pool, [report(together[place], *words) for place, *words in case[begin:end]])
    for place, *words in case:
        await apply(pool, [report(alone[place], *words)])

    assert await end_of(pool, together) == await end_of(pool, alone)
    await audit(pool)


async def test_contradicting_reports_of_one_batch_are_applied_in_their_order(
    send: Callable[..., Any], pool: Pool
) -> None:
    first, second = (await send()).message_id, (await send()).message_id
    reports = [(first, "failed"), (second, "sent"), (first, "delivered"), (second, "delivered"), (second, "failed")]

    results = await apply(pool, [report(*each) for each in reports])

    assert results == [ReceiptResult.applied] * 5
    assert await states(pool) == [("failed", "unreachable"), ("delivered", None)]
    assert await RECEIPTS.where(contradicts=True).read(pool, "message_id", "status") == [
        (first, "delivered"),
        (second, "failed"),
    ]
    await audit(pool)


async def test_failures_of_one_batch_leave_an_exact_chain_in_the_ledger_of_each_account(
    services: Services, send: Callable[..., Any], new_account: Callable[..., Any], pool: Pool
) -> None:
    other = await new_account()
    ids = [(await send(body="A" * 161)).message_id for _ in range(3)]
    ids += [await sent_by(services, other) for _ in range(2)]

    await asyncio.gather(*(receive(services.receipts, id, "failed") for id in reversed(ids)))

    refunds = [(amount, left) for kind, amount, left in await entries(pool) if kind == "refund"]
    assert sorted(refunds) == [(1, 999), (1, 1000), (2, 996), (2, 998), (2, 1000)]
    await audit(pool)


async def sent_by(services: Services, account: Opened) -> int:
    """Send a text from an account; return its id."""
    actor = Actor(account.account_id, frozenset())
    return (await services.acceptor.accept(actor, Send("+12025550143", "Hello", consent_attested=True))).message_id


async def test_a_report_that_cannot_be_stored_fails_no_other_of_its_batch(
    services: Services, send: Callable[..., Any], pool: Pool
) -> None:
    ids = [(await send()).message_id for _ in range(4)]
    bad = Receipt(f"sbx_{ids[0]}", ReceiptStatus.sent, "\x00", reference=ids[0])
    good = [report(id, "delivered").receipt for id in ids]

    reports = [services.receipts.receive("sandbox", each) for each in (*good[:2], bad, *good[2:])]
    answers = await asyncio.gather(*reports, return_exceptions=True)

    assert [isinstance(answer, asyncpg.DataError) for answer in answers] == [False, False, True, False, False]
    assert await states(pool) == [("delivered", None)] * 4


@pytest.mark.parametrize(("what", "status"), [("message", "sent"), ("message", "failed"), ("balance", "failed")])
async def test_a_report_on_a_locked_row_waits_and_reports_of_other_accounts_do_not(
    services: Services, send: Callable[..., Any], new_account: Callable[..., Any], pool: Pool, what: str, status: str
) -> None:
    mine, theirs = (await send()).message_id, await sent_by(services, await new_account())
    account_id = await MESSAGES.where(id=mine).only(pool, "account_id")
    rows = MESSAGES.where(id=mine) if what == "message" else ACCOUNTS.where(id=account_id)

    async with locked(pool, rows, "FOR NO KEY UPDATE"):
        waiting = asyncio.create_task(receive(services.receipts, mine, status))
        await until_blocked(pool)
        await within("others' reports", receive(services.receipts, theirs, "failed"))
        between = await states(pool)
    await within("the report", waiting)

    assert between == [("pending", None), ("failed", "unreachable")]
    assert [state for state, _ in await states(pool)] == [status, "failed"]
    await audit(pool)


async def test_a_report_whose_message_stays_locked_is_refused_so_that_the_carrier_brings_it_again(
    services: Services, send: Callable[..., Any], pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "LOCK_TIMEOUT", "50ms")
    id = (await send()).message_id

    async with locked(pool, MESSAGES, "FOR NO KEY UPDATE"):
        with pytest.raises(asyncpg.LockNotAvailableError):
            await receive(services.receipts, id, "delivered")
    await receive(services.receipts, id, "delivered")

    assert await states(pool) == [("delivered", None)]


async def test_a_report_that_comes_while_the_answer_is_recorded_finds_its_message(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id

    async with table_locked(pool, "unmatched_receipts"):
        recording = asyncio.create_task(hand_over(handoff))
        await until_blocked(pool)
        reporting = asyncio.create_task(receive(services.receipts, id, "delivered", named=False))
        await until_blocked(pool, 2)
    await within("the answer and the report", asyncio.gather(recording, reporting))

    assert await states(pool) == [("delivered", None)]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


async def test_an_answer_that_is_recorded_while_a_report_is_kept_apart_finds_the_report(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id

    async with table_locked(pool, "unmatched_receipts"):
        reporting = asyncio.create_task(receive(services.receipts, id, "delivered", named=False))
        await until_blocked(pool)
        recording = asyncio.create_task(hand_over(handoff))
        await until_blocked(pool, 2)
    await within("the answer and the report", asyncio.gather(recording, reporting))
    matched = await UNMATCHED_RECEIPTS.read(pool, "message_id")
    await services.receipts.match()

    assert matched == [id]
    assert await states(pool) == [("delivered", None)]
    assert (await UNMATCHED_RECEIPTS.count(pool), await services.receipts.due()) == (0, False)


async def test_no_report_or_answer_is_lost_when_they_arrive_concurrently(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    ids = [each.message_id for each in await asyncio.gather(*(send() for _ in range(40)))]
    statuses = ["sent", "delivered"]
    early = [receive(services.receipts, id, status, named=False) for id in ids for status in statuses]

    await asyncio.gather(hand_over(handoff), *early)
    while await services.receipts.due():
        await services.receipts.match()

    assert await states(pool) == [("delivered", None)] * 40
    assert (await RECEIPTS.count(pool), await UNMATCHED_RECEIPTS.count(pool)) == (80, 0)
    assert sorted(await CARRIER_IDS.read(pool, "message_id")) == ids


async def test_a_failure_that_is_reported_to_two_processes_at_once_is_refunded_once(
    services: Services, send: Callable[..., Any], pool: Pool
) -> None:
    ids = [(await send()).message_id for _ in range(5)]
    processes = [services.receipts, Receipts(services.database, services.clock, services.notify, services.health)]

    await asyncio.gather(*(receive(process, id, "failed") for id in ids for process in processes))

    assert await states(pool) == [("failed", "unreachable")] * 5
    assert len(await RECEIPTS.read(pool)) == 5
    await audit(pool)
