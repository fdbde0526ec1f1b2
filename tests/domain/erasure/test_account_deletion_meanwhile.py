"""Events during the deletion of an account: messages in flight, late receipts, mails, withdrawals, credentials."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from app.bootstrap import open_mail_sender
from app.db.engine import Pool
from app.domain.accounts import deletion
from app.domain.accounts.errors import AccountDeleted
from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in.authentication import SignInRefused
from app.domain.carriers.carrier import Answer, InboundMessage, OutboundMessage, Receipt, ReceiptStatus
from app.domain.messages.handoff import Handoff
from app.domain.messages.retention import RULES
from app.domain.onboarding.service import Opened
from app.jobs.sweeps import purge
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.erasure.deletions import ask, deletions, forget_at_carriers, run_out
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import ACCOUNTS, WAITING_MAILS
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.factories.messages import (
    CARRIER_ERASURES,
    MESSAGES,
    OUTGOING,
    RECEIPTS,
    SANDBOX_MESSAGES,
    UNMATCHED_CALLBACKS,
)
from tests.factories.search import find_places
from tests.factories.tables import ago
from tests.factories.traps import locked, until_blocked
from tests.rest.answers import refusal
from tests.waiting import within

TO = "+12025550143"
VISITOR = Visitor("127.0.0.1")


class Deleting(SandboxCarrier):
    """A carrier that takes a text while the account that sent it is deleted."""

    services: Services
    account_id: int

    async def send(self, message: OutboundMessage) -> Answer:
        answer = await super().send(message)
        await ask(self.services, self.account_id)
        await run_out(deletions(self.services))
        return answer


async def test_a_text_in_flight_at_the_carrier_is_forgotten_there_once_it_is_accepted(
    services: Services, pool: Pool, account: Opened, send: Callable[..., Any], handoff: Handoff
) -> None:
    carrier = Deleting(pool, b"secret", delay=0, timeout=10)
    carrier.services, carrier.account_id = services, account.account_id
    await send(body="A wombat")

    await hand_over(replace(handoff, connections=opened(handoff, sandbox=carrier)))
    between = await find_places(pool, ["wombat"])
    await forget_at_carriers(services)

    assert between == {("sandbox_messages", "body"): {"wombat"}}
    assert await find_places(pool, ["wombat", TO[1:]]) == {}
    assert (await MESSAGES.count(pool), await SANDBOX_MESSAGES.count(pool)) == (0, 0)


async def test_a_text_that_is_claimed_while_its_account_is_deleted_is_forgotten_by_its_carrier_after_the_claim(
    services: Services, pool: Pool, account: Opened, send: Callable[..., Any]
) -> None:
    await send()
    claimed_until = ago(minutes=-5)
    await ask(services, account.account_id)

    async with locked(pool, OUTGOING) as worker:
        deleting = asyncio.create_task(run_out(deletions(services)))
        await until_blocked(pool)
        await OUTGOING.change(worker, claimed_until=claimed_until)
    await within("the deletion", deleting)

    assert await CARRIER_ERASURES.read(pool, "due_at") == [claimed_until]
    assert await OUTGOING.count(pool) == 0


async def test_a_late_report_is_dropped_quietly(
    services: Services, pool: Pool, account: Opened, send: Callable[..., Any], handoff: Handoff
) -> None:
    sent = await send()
    await hand_over(handoff)
    await ask(services, account.account_id)
    await run_out(deletions(services))

    said = Receipt(f"sbx_{sent.message_id}", ReceiptStatus.delivered, "delivered", None, "", 1, sent.message_id)
    await services.receipts.receive("sandbox", said)

    assert not await services.receipts.due()
    week = timedelta(days=7)
    await purge("retention", RULES, services.database, Later(week)).run()
    assert await RECEIPTS.count(pool) == 0


async def test_a_text_to_its_number_belongs_to_no_account_any_more(
    services: Services, pool: Pool, account: Opened
) -> None:
    await ask(services, account.account_id)
    await run_out(deletions(services))

    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, account.phone_number, "Hello?"))

    assert await MESSAGES.count(pool) == 0
    assert await UNMATCHED_CALLBACKS.read(pool, "problem") == ["no account holds the number"]


async def test_credits_that_come_back_meanwhile_are_forfeited_too(
    services: Services, pool: Pool, account: Opened, send: Callable[..., Any], handoff: Handoff
) -> None:
    await send()
    await ask(services, account.account_id)
    job = deletions(services)
    await job.run()

    await hand_over(handoff)
    await run_out(job)

    assert await LEDGER_ENTRIES.read(pool, "type", "amount", "balance_after") == [
        ("adjustment", 1000, 1000),
        ("debit", -1, 999),
        ("forfeiture", -999, 0),
        ("refund", 1, 1),
        ("forfeiture", -1, 0),
    ]
    assert await ACCOUNTS.only(pool, "balance") == 0


async def test_its_owners_mails_are_tried_once_before(
    services: Services, pool: Pool, account: Opened, act: Callable[..., Any]
) -> None:
    async with act() as unit:
        await deletion.bring_forward(unit)
    job = deletions(services)
    before = await job.run()

    await open_mail_sender(services).run()
    await job.run()

    assert before is False
    assert await WAITING_MAILS.count(pool) == 0
    assert await ACCOUNTS.only(pool, "status") == "deleted"
    [mail] = (services.settings.data / "mail").iterdir()
    assert "1,000 credits are left now" in mail.read_text().replace("=\n", "")


async def test_an_account_whose_owners_were_not_reminded_is_not_deleted(
    services: Services, pool: Pool, account: Opened, act: Callable[..., Any]
) -> None:
    async with act() as unit:
        await deletion.request(unit, str(account.company_name), timedelta(days=30))
    await WAITING_MAILS.change(pool, attempts=1)
    late = deletions(services, days=31)

    assert (await late.due(), await late.run()) == (False, False)

    assert await ACCOUNTS.only(pool, "status", "deleted_at") == ("active", None)


async def test_credentials_end_with_the_account_before_its_rows_do(
    services: Services, account: Opened, api: httpx2.AsyncClient
) -> None:
    _, token = await services.authentication.enter(account.email, account.password, VISITOR)
    await ask(services, account.account_id)

    await deletions(services).run()

    assert refusal(await api.get("/billing/balance"))[:2] == (401, "unauthenticated")
    assert await services.authentication.find(token) is None
    with pytest.raises(SignInRefused):
        await services.authentication.enter(account.email, account.password, VISITOR)


async def test_a_send_admitted_before_the_deletion_is_refused_without_a_debit(
    services: Services, pool: Pool, account: Opened, send: Callable[..., Any]
) -> None:
    await ask(services, account.account_id)
    await deletions(services).run()
    ledger = await LEDGER_ENTRIES.count(pool)

    with pytest.raises(AccountDeleted):
        await send()

    assert (await MESSAGES.count(pool), await LEDGER_ENTRIES.count(pool)) == (0, ledger)


async def test_a_withdrawal_that_comes_first_keeps_the_account(
    services: Services, pool: Pool, account: Opened, act: Callable[..., Any], send: Callable[..., Any]
) -> None:
    await ask(services, account.account_id)
    job = deletions(services)

    async with act() as unit:
        await deletion.withdraw(unit)
        meanwhile = await job.run()
    await run_out(job)
    await send()

    assert meanwhile is False
    assert await ACCOUNTS.only(pool, "status", "deletion_at", "deleted_at") == ("active", None, None)
    assert await MESSAGES.count(pool) == 1


async def test_a_withdrawal_that_comes_too_late_is_refused(
    services: Services, pool: Pool, account: Opened, act: Callable[..., Any]
) -> None:
    await ask(services, account.account_id)
    await deletions(services).run()

    with pytest.raises(AccountDeleted, match=r"^This account was deleted.$"):
        async with act() as unit:
            await deletion.withdraw(unit)

    assert await ACCOUNTS.only(pool, "status") == "deleted"
