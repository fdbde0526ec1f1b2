"""Erasing a contact with everything that was said."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import Services
from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.contacts.consent import ContactOptedOut
from app.domain.kernel.errors import NotFound
from app.domain.messages import erasure
from app.domain.messages.acceptance import Acceptance
from app.domain.messages.carrier import Accepted, Answer, OutboundMessage, Receipt, ReceiptStatus
from app.domain.messages.erasure import Erased
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.books import audit, calls, entries, states, until_blocked

TO = "+12025550143"


@pytest.fixture
def erase(act: Callable[..., Any], pool: Pool) -> Callable[..., Any]:
    """Give a function that erases the contact with a phone."""

    async def erase(phone: str = TO) -> Erased:
        async with act() as unit:
            return await erasure.erase(unit, await pool.fetchval("SELECT id FROM contacts WHERE phone = $1", phone))

    return erase


async def count(pool: Pool, table: str) -> int:
    return await pool.fetchval(f"SELECT count(*) FROM {table}")


async def test_an_erasure_removes_the_contact_and_all_that_was_said_and_leaves_the_others(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello")
    await send()
    await send("+12025550144")
    id = await pool.fetchval("SELECT id FROM contacts WHERE phone = $1", TO)

    erased = await erase()

    assert erased == Erased(id, 2)
    assert [row["phone"] for row in await pool.fetch("SELECT phone FROM contacts")] == ["+12025550144"]
    assert (await count(pool, "messages"), await count(pool, "conversations")) == (1, 1)
    assert await pool.fetchval("SELECT total FROM contact_totals") == 1


async def test_an_erasure_refunds_what_has_not_left_and_nothing_else(
    send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(body="Gone")
    await send("+15005550001", "Failed")
    await handoff.run()
    await send(body="A" * 161)

    await erase()
    await erase("+15005550001")

    assert await entries(pool) == [
        ("debit", -1, 999),
        ("debit", -1, 998),
        ("refund", 1, 999),
        ("debit", -2, 997),
        ("refund", 2, 999),
    ]
    await audit(pool)


async def test_what_was_erased_is_not_handed_over(
    send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    await erase()

    await handoff.run()

    assert await calls(pool) == []
    assert await pool.fetchval("SELECT balance FROM accounts") == 1000


async def test_an_opt_out_outlives_the_contact(
    send: Callable[..., Any],
    text: Callable[..., Any],
    erase: Callable[..., Any],
    act: Callable[..., Any],
    pool: Pool,
) -> None:
    await text("STOP")

    await erase()
    with pytest.raises(ContactOptedOut):
        await send()
    async with act() as unit:
        created = await contacts.create(unit, {"phone": TO})

    assert created.status == "opted_out"
    with pytest.raises(ContactOptedOut):
        await send()
    assert [tuple(row) for row in await pool.fetch("SELECT phone, kind FROM consents")] == [(TO, "opt_out")]


async def test_who_was_erased_is_still_opted_out_when_they_text_again_so_that_yes_counts(
    text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    await erase()

    await text("Hello again")
    await text("YES")

    assert await pool.fetchval("SELECT status FROM contacts") == "active"
    kinds = [row["kind"] for row in await pool.fetch("SELECT kind FROM consents ORDER BY id")]
    assert kinds == ["opt_out", "re_opt_in"]


async def test_a_contact_of_another_account_cannot_be_erased(
    send: Callable[..., Any], act: Callable[..., Any], new_account: Callable[..., Any], pool: Pool
) -> None:
    await send()
    other: Opened = await new_account()
    await pool.execute("UPDATE contacts SET account_id = $1", other.account_id)

    with pytest.raises(NotFound):
        async with act() as unit:
            await erasure.erase(unit, await pool.fetchval("SELECT id FROM contacts"))

    assert (await count(pool, "contacts"), await count(pool, "messages")) == (1, 1)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_two_erasures_at_once_refund_once(
    send: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await send()

    answers = await asyncio.gather(erase(), erase(), return_exceptions=True)

    assert sorted(type(answer).__name__ for answer in answers) == ["Erased", "NotFound"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_text_that_a_carrier_holds_is_refunded_and_its_late_answer_and_report_change_nothing(
    services: Services, send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send("+15005550001")).message_id
    async with pool.acquire() as other, other.transaction():
        await other.execute("LOCK TABLE sandbox_messages")
        calling = asyncio.create_task(handoff.run())
        await until_blocked(pool)
        await erase("+15005550001")
    await calling
    await services.receipts.receive("sandbox", Receipt(f"sbx_{id}", ReceiptStatus.failed, "failed", reference=id))

    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    assert not await services.receipts.due()
    await audit(pool)


class Gate(SandboxCarrier):
    """A carrier that answers nobody until it is opened."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.opened = asyncio.Event()

    async def send(self, message: OutboundMessage) -> Answer:
        await self.opened.wait()
        return Accepted(f"sbx_{message.reference}")


async def test_an_erasure_and_the_record_of_what_was_sent_do_not_wait_for_each_other(
    services: Services, send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    first, second = (await send()).message_id, (await send()).message_id
    gate = Gate(pool)
    calling = asyncio.create_task(replace(handoff, carriers={"sandbox": gate}).run())
    while await handoff.due():  # noqa: ASYNC110 - what is awaited happens in PostgreSQL
        await asyncio.sleep(0.005)
    await services.receipts.receive("sandbox", Receipt(f"sbx_{first}", ReceiptStatus.sent, "sent", reference=first))

    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM messages WHERE id = $1 FOR UPDATE", second)
        erasing = asyncio.create_task(erase())
        await until_blocked(pool)
        gate.opened.set()
        await until_blocked(pool, 2)

    assert (await erasing).deleted_messages == 2
    assert await calling is False
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998), ("refund", 1, 999)]


async def test_sends_and_hand_over_and_a_stop_at_once_with_an_erasure_lose_no_credit(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await asyncio.gather(*(send() for _ in range(4)))
    small = replace(handoff, pace=replace(handoff.pace, batch=2))

    answers = await asyncio.gather(
        *(send() for _ in range(3)),
        small.run(),
        erase(),
        text("STOP"),
        small.run(),
        *(send() for _ in range(3)),
        return_exceptions=True,
    )
    while await small.due():
        await small.run()

    known = Acceptance | ContactOptedOut | Erased | NotFound | bool | None
    assert [answer for answer in answers if not isinstance(answer, known)] == []
    assert ("pending", None) not in await states(pool)
    assert all(times == 1 for _, times in await calls(pool))
    await audit(pool)
