"""The deletion of an account until it happens: requested, told, reminded of, withdrawn."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.accounts import administration, deletion
from app.domain.accounts.deletion import Deletion
from app.domain.accounts.errors import AccountDeleted, AccountDeletionPending
from app.domain.accounts.sessions import Visitor
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.jobs.job import Job
from app.jobs.sweeps import sweep
from app.services import Services
from tests.domain.conftest import NOON, SetClock, UnitFor
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, WAITING_MAILS, add_user
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.contacts import CONTACTS
from tests.factories.events import EVENTS
from tests.factories.messages import MESSAGES, OUTBOUND

MONTH = timedelta(days=30)
END = datetime(2026, 12, 21, 12, tzinfo=UTC)
TO = "+12025550143"
ActAt = Callable[[datetime], AbstractAsyncContextManager[UnitOfWork]]


def reminders(services: Services, now: datetime) -> Job:
    of = services.database, SetClock(now), services.notify
    return sweep("deletion_notices", deletion.FIND_DUE_REMINDERS, deletion.remind, *of)


@pytest.fixture
def at(services: Services, account: Opened) -> ActAt:
    """Give a function that opens a unit of the account's at an instant."""
    actor = Actor(account.account_id, frozenset(), "user:1")
    return lambda now: open_unit(services.database.sessions, actor, SetClock(now), services.notify)


@pytest.fixture
async def pending(at: ActAt) -> Deletion:
    """Give a deletion that is to come."""
    async with at(NOON) as unit:
        return await deletion.request(unit, "Blue Door", MONTH)


async def send(services: Services, account: Opened, **wishes: Any) -> Acceptance:
    return await services.acceptor.accept(
        Actor(account.account_id, frozenset(), "key:1"), Send(TO, "Hello", True, **wishes)
    )


async def subjects(services: Services) -> list[str]:
    return [words["subject"] for words in await WAITING_MAILS.read(services, "words")]


async def test_a_deletion_is_asked_for_by_the_accounts_name_and_comes_after_the_delay(
    services: Services, account: Opened, pending: Deletion
) -> None:
    assert pending == Deletion(account.account_id, END, 1000)
    stored = await ACCOUNTS.only(services, "status", "deletion_at", "deletion_notice_at", "deleted_at")
    assert stored == ("active", END, END - timedelta(days=3), None)
    assert await AUDIT_ENTRIES.where(action="account_deletion_requested").read(services, "actor", "details") == [
        ("user:1", {"deletion_at": "2026-12-21T12:00:00+00:00"})
    ]


async def test_a_second_request_keeps_the_first_date_and_sends_no_mail(
    services: Services, at: ActAt, pending: Deletion
) -> None:
    async with at(NOON + timedelta(days=5)) as unit:
        again = await deletion.request(unit, "Blue Door", MONTH)

    assert again == pending
    assert await WAITING_MAILS.count(services) == 1


@pytest.mark.parametrize("confirm", ["", "blue door", "Blue", "yes", "1"])
async def test_a_wrong_confirmation_schedules_no_deletion(services: Services, at: ActAt, confirm: str) -> None:
    with pytest.raises(InvalidInput, match=r"^confirm must be the company name of the account"):
        async with at(NOON) as unit:
            await deletion.request(unit, confirm, MONTH)

    assert await ACCOUNTS.only(services, "deletion_at") is None
    assert await WAITING_MAILS.count(services) == 0


async def test_an_account_without_a_name_is_confirmed_by_its_id(
    services: Services, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    account: Opened = await new_account(company_name="")
    with pytest.raises(InvalidInput, match=r"^confirm must be the id, as the account has no company name"):
        async with unit_for(account) as unit:
            await deletion.request(unit, "", MONTH)

    async with unit_for(account) as unit:
        await deletion.request(unit, f" {account.account_id} ", MONTH)

    assert await ACCOUNTS.only(services, "deletion_at") is not None


async def test_every_owner_is_mailed_when_and_how_many_credits_go(
    services: Services, account: Opened, at: ActAt
) -> None:
    other = await add_user(services, account.account_id, "bea@example.com", "owner")
    await add_user(services, account.account_id, "cem@example.com", "member")

    async with at(NOON) as unit:
        await deletion.request(unit, "Blue Door", MONTH)

    [first, second] = await WAITING_MAILS.read(services, "user_id", "kind", "words")
    assert (first["kind"], second["user_id"], first["words"]) == ("notice", other, second["words"])
    assert first["words"]["subject"] == "Your account will be deleted on 21 December 2026, 12:00 UTC"
    assert "1,000 credits are left now; what is left then is forfeited." in first["words"]["opening"]
    assert "withdraw_account_deletion" in first["words"]["opening"]


async def test_owners_are_reminded_once_three_days_before(services: Services, pending: Deletion) -> None:
    early = reminders(services, END - timedelta(days=3, seconds=1))
    job = reminders(services, END - timedelta(days=3))

    before = await early.due(), await early.run()
    ran = await job.due(), await job.run(), await job.due(), await job.run()

    assert (before, ran) == ((False, False), (True, True, False, False))
    [_, reminder] = await WAITING_MAILS.read(services, "words")
    assert reminder["subject"] == "Your account will be deleted on 21 December 2026, 12:00 UTC"
    assert reminder["opening"].startswith("The account will be deleted on 21 December 2026, 12:00 UTC. ")


async def test_a_late_reminder_puts_the_deletion_off_by_as_much(services: Services, pending: Deletion) -> None:
    late = END + timedelta(days=2)

    assert await reminders(services, late).run()

    assert await ACCOUNTS.only(services, "deletion_at", "deletion_notice_at") == (late + timedelta(days=3), None)
    [_, reminder] = await WAITING_MAILS.read(services, "words")
    assert reminder["subject"] == "Your account will be deleted on 26 December 2026, 12:00 UTC"


async def test_a_delay_of_three_days_or_less_has_no_reminder(services: Services, at: ActAt) -> None:
    async with at(NOON) as unit:
        await deletion.request(unit, "Blue Door", timedelta(days=3))

    assert await ACCOUNTS.only(services, "deletion_notice_at") is None


async def test_the_mails_about_a_deletion_and_a_suspension_say_that_a_plan_is_still_charged(
    services: Services, at: ActAt, pending: Deletion
) -> None:
    await reminders(services, END - timedelta(days=3)).run()
    async with at(NOON) as unit:
        await administration.suspend(unit, "Bills are open.")

    openings = [words["opening"] for words in await WAITING_MAILS.read(services, "words")]

    told = "A plan of monthly credits is charged until then, unless it is ended before (end_plan)."
    assert [told in opening for opening in openings] == [True, True, False]
    assert "A plan of monthly credits is still charged" in openings[-1]
    assert openings[-1].endswith("Bills are open.")


async def test_a_withdrawal_keeps_the_account_and_mails_its_owners(
    services: Services, account: Opened, at: ActAt, pending: Deletion
) -> None:
    async with at(END - timedelta(days=1)) as unit:
        kept = await deletion.withdraw(unit)

    assert (kept.id, kept.deletion_at, kept.deletion_notice_at) == (account.account_id, None, None)
    assert (await subjects(services))[1:] == ["Your account will not be deleted"]
    assert await AUDIT_ENTRIES.where(action="account_deletion_withdrawn").read(services, "actor") == ["user:1"]
    assert (await send(services, account)).credits_remaining == 999


async def test_withdrawing_a_deletion_that_is_not_scheduled_is_refused(services: Services, at: ActAt) -> None:
    with pytest.raises(Conflict, match=r"^No deletion of this account is scheduled.$"):
        async with at(NOON) as unit:
            await deletion.withdraw(unit)

    assert await WAITING_MAILS.count(services) == 0


async def test_an_account_pending_deletion_takes_no_new_text_and_is_not_debited(
    services: Services, account: Opened, pending: Deletion
) -> None:
    ledger = await LEDGER_ENTRIES.count(services)
    with pytest.raises(AccountDeletionPending, match=r"will be deleted on 2026-12-21T12:00:00.000Z and takes no new"):
        await send(services, account)

    assert (await MESSAGES.count(services), await CONTACTS.count(services)) == (0, 0)
    assert (await LEDGER_ENTRIES.count(services), await ACCOUNTS.only(services, "balance")) == (ledger, 1000)
    assert await EVENTS.where(name="send_blocked").count(services) == 0


async def test_a_send_that_was_answered_before_is_answered_again(
    services: Services, account: Opened, at: ActAt
) -> None:
    first = await send(services, account, idempotency_key="k")
    async with at(NOON) as unit:
        await deletion.request(unit, "Blue Door", MONTH)

    again = await send(services, account, idempotency_key="k")

    assert (again.message_id, again.replayed) == (first.message_id, True)


async def test_sign_in_goes_on_and_an_opt_out_is_heeded_and_answered(
    services: Services, account: Opened, pending: Deletion
) -> None:
    entry, _ = await services.authentication.enter(account.email, account.password, Visitor("127.0.0.1"))

    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, account.phone_number, "STOP"))

    assert entry.account.id == account.account_id
    assert await CONTACTS.read(services, "status") == ["opted_out"]
    assert await OUTBOUND.read(services, "status", "purpose") == [("pending", "compliance")]


async def test_the_operator_brings_it_forward_which_is_mailed(services: Services, at: ActAt, pending: Deletion) -> None:
    async with at(NOON + timedelta(hours=1)) as unit:
        brought = await deletion.bring_forward(unit)

    assert brought.deletion_at == NOON + timedelta(hours=1)
    assert (await subjects(services))[1:] == ["Your account will be deleted on 21 November 2026, 13:00 UTC"]


async def test_bringing_a_deletion_forward_again_sends_no_second_mail(services: Services, at: ActAt) -> None:
    async with at(NOON) as unit:
        first = await deletion.bring_forward(unit)
    async with at(NOON + timedelta(hours=1)) as unit:
        again = await deletion.bring_forward(unit)

    assert (first.deletion_at, again) == (NOON, first)
    assert await WAITING_MAILS.count(services) == 1


async def test_a_reminder_before_its_due_time_sends_no_mail(services: Services, at: ActAt, pending: Deletion) -> None:
    async with at(NOON) as unit:
        reminded = await deletion.remind(unit)

    assert reminded is False
    assert await ACCOUNTS.only(services, "deletion_notice_at") == END - timedelta(days=3)
    assert await WAITING_MAILS.count(services) == 1


async def test_a_deleted_account_is_neither_suspended_nor_resumed(services: Services, at: ActAt) -> None:
    await ACCOUNTS.change(services, status="deleted")

    with pytest.raises(AccountDeleted):
        async with at(NOON) as unit:
            await administration.suspend(unit, "")
    with pytest.raises(AccountDeleted):
        async with at(NOON) as unit:
            await administration.resume(unit)

    assert await ACCOUNTS.only(services, "status") == "deleted"
    assert await WAITING_MAILS.count(services) == 0
