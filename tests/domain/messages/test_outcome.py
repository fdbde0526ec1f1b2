"""What becomes of a message."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outcome
from app.domain.messages.carrier import FailureCode
from app.domain.messages.outcome import Report
from app.domain.onboarding.service import Opened
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, audit, balance_of, entries
from tests.factories.contacts import CONTACTS, SUPPRESSIONS, id_of_contact
from tests.factories.events import payloads, told
from tests.factories.messages import MESSAGES, states
from tests.factories.traps import locked, until_blocked

TO, OTHER = "+12025550143", "+12025550144"
FINAL = "message_delivered", "message_failed"

Change = Callable[[UnitOfWork, int], Awaitable[bool]]


async def deliver(unit: UnitOfWork, id: int) -> bool:
    return await outcome.deliver(unit, id, Report("sbx_1", "delivered"))


async def fail(unit: UnitOfWork, id: int) -> bool:
    return await outcome.fail(unit, id, FailureCode.filtered, Report("sbx_1", "failed", "30007"))


async def mark_sent(unit: UnitOfWork, id: int) -> bool:
    return await outcome.mark_sent(unit, id, Report("sbx_1", "sent"))


async def note(unit: UnitOfWork, id: int) -> bool:
    return await outcome.note(unit, id, Report("sbx_1", "unknown"), unconfirmed=True)


async def test_a_delivered_text_keeps_its_cost_and_is_told_as_sent_and_as_delivered(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id

    async with act() as unit:
        assert await deliver(unit, id)

    [message] = await MESSAGES.read(pool, "status", "provider_message_id", "carrier_status", "sent_at", "delivered_at")
    assert tuple(message)[:3] == ("delivered", "sbx_1", "delivered")
    assert message["sent_at"] == message["delivered_at"]
    assert await told(pool, "message_sent", *FINAL) == ["message_sent", "message_delivered"]
    assert await entries(pool) == [("debit", -1, 999)]
    await audit(pool)


async def test_a_failed_text_costs_nothing_and_says_why(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send(body="A" * 161)).message_id

    async with act() as unit:
        assert await fail(unit, id)

    [message] = await MESSAGES.read(pool, "status", "error_code", "carrier_error", "cost")
    assert tuple(message) == ("failed", "filtered", "30007", 0)
    [failed] = await payloads(pool, "message_failed")
    assert (failed["cost"], failed["segments"]) == (0.0, 2)
    assert failed["status_description"].startswith("The carrier filtered the text as unwanted.")
    assert await entries(pool) == [("debit", -2, 998), ("refund", 2, 1000)]
    assert await LEDGER_ENTRIES.where(type="refund").only(pool, "description") == ("Message failed: filtered")
    await audit(pool)


@pytest.mark.parametrize("late", [deliver, fail, mark_sent, note])
@pytest.mark.parametrize("final", [deliver, fail])
async def test_a_final_state_absorbs_whatever_comes_later(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool, final: Change, late: Change
) -> None:
    id = (await send()).message_id
    async with act() as unit:
        await final(unit, id)
    before = await MESSAGES.read(pool), await entries(pool), await told(pool, "message_sent", *FINAL)

    async with act() as unit:
        assert not await late(unit, id)

    assert before == (
        await MESSAGES.read(pool),
        await entries(pool),
        await told(pool, "message_sent", *FINAL),
    )


async def test_a_text_is_sent_once(send: Callable[..., Any], act: Callable[..., Any], pool: Pool) -> None:
    id = (await send()).message_id

    async with act() as unit:
        first, second = await mark_sent(unit, id), await mark_sent(unit, id)

    assert (first, second) == (True, False)
    assert await told(pool, "message_sent") == ["message_sent"]


async def test_a_failure_in_many_processes_at_once_is_refunded_and_told_once(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id

    async def one(change: Change) -> bool:
        async with act() as unit:
            return await change(unit, id)

    changed = await asyncio.gather(*(one(change) for change in (fail, deliver, fail, deliver, fail, fail)))

    [status] = {status for status, _ in await states(pool)}
    assert changed.count(True) == 1
    assert await told(pool, *FINAL) == [f"message_{status}"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)][: 1 + (status == "failed")]
    await audit(pool)


async def test_a_failure_waits_for_the_balance_before_it_holds_its_message(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id

    async def fail_it() -> bool:
        async with act() as unit:
            return await fail(unit, id)

    async with locked(pool, ACCOUNTS, "FOR NO KEY UPDATE") as other:
        failing = asyncio.create_task(fail_it())
        await until_blocked(pool)
        await MESSAGES.lock(other, "FOR UPDATE NOWAIT")

    assert await failing


async def test_a_change_that_is_rolled_back_leaves_neither_refund_nor_event(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id

    async def fail_and_stumble() -> None:
        async with act() as unit:
            await fail(unit, id)
            raise KeyError

    with pytest.raises(KeyError):
        await fail_and_stumble()

    assert await states(pool) == [("pending", None)]
    assert await told(pool, *FINAL) == []
    await audit(pool)


async def test_a_text_of_another_account_cannot_be_changed(
    send: Callable[..., Any], act: Callable[..., Any], new_account: Callable[..., Any], pool: Pool, account: Opened
) -> None:
    other = await new_account()
    id = (await send()).message_id
    await MESSAGES.change(pool, account_id=other.account_id)

    async with act() as unit:
        assert not await fail(unit, id)

    assert await states(pool) == [("pending", None)]
    assert await balance_of(pool, account.account_id) == 999


async def test_an_opt_out_known_to_the_carrier_belongs_to_the_phone_that_was_texted(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id
    async with act() as unit:
        await contacts.update(unit, await id_of_contact(pool), {"phone": OTHER})

    async with act() as unit:
        await outcome.fail(unit, id, FailureCode.opted_out, Report())

    assert await SUPPRESSIONS.read(pool, "phone") == [TO]
    assert dict(await CONTACTS.read(pool, "phone", "status")) == {OTHER: "active", TO: "opted_out"}
    assert [opted["phone"] for opted in await payloads(pool, "new_opt_out")] == [TO]
    await audit(pool)
