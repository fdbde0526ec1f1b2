"""Messages that fail, or are presumed sent, without a carrier's report."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, Receipt, ReceiptStatus
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outcome
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, audit, balance_of, entries
from tests.factories.contacts import CONTACTS, SUPPRESSIONS, id_of_contact
from tests.factories.events import event_names, payloads
from tests.factories.messages import MESSAGES, states
from tests.factories.traps import locked, until_blocked

TO, OTHER = "+12025550143", "+12025550144"
FINAL = "message_delivered", "message_failed"


async def fail(unit: UnitOfWork, id: int) -> bool:
    return await outcome.fail(unit, id, FailureCode.filtered, "30007")


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


async def test_a_failure_in_many_processes_at_once_is_refunded_and_told_once(
    services: Services, send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id
    delivered = Receipt("sbx_1", ReceiptStatus.delivered, "delivered", reference=id)

    async def fail_it() -> bool:
        async with act() as unit:
            return await fail(unit, id)

    report = services.receipts.receive("sandbox", delivered)
    changed = await asyncio.gather(fail_it(), fail_it(), report, fail_it(), fail_it())

    [status] = {status for status, _ in await states(pool)}
    assert changed.count(True) == (status == "failed")
    assert await event_names(pool, *FINAL) == [f"message_{status}"]
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
    assert await event_names(pool, *FINAL) == []
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
        await outcome.fail(unit, id, FailureCode.opted_out)

    assert await SUPPRESSIONS.read(pool, "phone") == [TO]
    assert dict(await CONTACTS.read(pool, "phone", "status")) == {OTHER: "active", TO: "opted_out"}
    assert [opted["phone"] for opted in await payloads(pool, "new_opt_out")] == [TO]
    await audit(pool)
