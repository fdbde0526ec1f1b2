"""Deletion of an account: request it, withdraw it, bring it forward, and remind its owners.

`app.domain.erasure.accounts` deletes the accounts that are due.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.accounts import audit, mail_outbox, queries
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.errors import AccountDeleted
from app.domain.accounts.models import Account, AccountStatus
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

TOPIC = "deletions"
FIND_DUE_REMINDERS = "SELECT id FROM accounts WHERE deletion_notice_at <= $1 ORDER BY deletion_notice_at LIMIT 100"
REMINDED_BEFORE = timedelta(days=3)
"""The time between the reminder and the deletion; a shorter delay has no reminder."""

MAX_LATE = timedelta(hours=1)
"""The delay of a reminder above which the deletion is postponed."""

WHAT_GOES = (
    "Everything in it goes then: contacts, messages, keys, webhooks, users. Only the phones that opted out and the "
    "figures of the ledger are kept. {credits:,} credits are left now; what is left then is forfeited. "
    "A plan of monthly credits is charged until then, unless it is ended before (end_plan). "
)
REQUESTED = (
    "The deletion of the account was asked for, and happens on {at}. {what_goes}Until then the account takes no new "
    "texts; you can sign in, read, have it exported, and withdraw the deletion (withdraw_account_deletion)."
)
REMINDER = (
    "The account will be deleted on {at}. {what_goes}If you want to keep it, withdraw the deletion until then "
    "(withdraw_account_deletion)."
)
WITHDRAWN = "The deletion of the account was withdrawn. The account stays, and sends texts again."


@dataclass(frozen=True, slots=True)
class Deletion:
    """A scheduled deletion: the account, the time, and the credits that would be forfeited now."""

    account_id: int
    deletion_at: datetime
    credits: int


async def request(unit: UnitOfWork, confirm: str, delay: timedelta) -> Deletion:
    """Schedule the deletion of the actor's account and mail its owners. Idempotent.

    `confirm` is the company name, or the id of an account without one. Raises `InvalidInput` and `AccountDeleted`.
    """
    account = await _lock(unit)
    _check_confirmation(account, confirm)
    if account.deletion_at is None:
        await _schedule(unit, account, unit.clock.now() + delay)
    return _deletion(account)


async def bring_forward(unit: UnitOfWork) -> Deletion:
    """Make the deletion of the actor's account due now, for the operator; raise `AccountDeleted`.

    The mails to its owners are attempted once before the deletion.
    """
    account, now = await _lock(unit), unit.clock.now()
    if account.deletion_at is None or account.deletion_at > now:
        await _schedule(unit, account, now)
    return _deletion(account)


async def withdraw(unit: UnitOfWork) -> Account:
    """Cancel the scheduled deletion and mail the owners; raise `Conflict` when there is none, and `AccountDeleted`."""
    account = await _lock(unit)
    if account.deletion_at is None:
        raise Conflict(reason="No deletion of this account is scheduled.")
    deletion_at, account.deletion_at, account.deletion_notice_at = account.deletion_at, None, None
    await unit.save(account)
    await audit.record(
        unit, AuditAction.account_deletion_withdrawn, account.company_name, deletion_at=deletion_at.isoformat()
    )
    await mail_outbox.notify_owners(unit, subject="Your account will not be deleted", opening=WITHDRAWN)
    return account


async def remind(unit: UnitOfWork) -> bool:
    """Mail the owners a reminder of the deletion, once; return whether it was due.

    A late reminder postpones the deletion to `REMINDED_BEFORE` after the mail.
    """
    account, now = await queries.get_own(unit, lock=True), unit.clock.now()
    if account.deletion_at is None or account.deletion_notice_at is None or account.deletion_notice_at > now:
        return False
    if now - account.deletion_notice_at > MAX_LATE:
        account.deletion_at = now + REMINDED_BEFORE
    account.deletion_notice_at = None
    await unit.save(account)
    await _notify(unit, account, REMINDER)
    return True


async def _lock(unit: UnitOfWork) -> Account:
    account = await queries.get_own(unit, lock=True)
    if account.status == AccountStatus.deleted:
        raise AccountDeleted()
    return account


def _check_confirmation(account: Account, confirm: str) -> None:
    if confirm.strip() != (account.company_name or str(account.id)):
        what = "the company name" if account.company_name else "the id, as the account has no company name,"
        raise InvalidInput(
            reason=f"confirm must be {what} of the account that is to be deleted. Nothing was changed.", field="confirm"
        )


async def _schedule(unit: UnitOfWork, account: Account, at: datetime) -> None:
    notice_at = at - REMINDED_BEFORE
    account.deletion_at = at
    account.deletion_notice_at = notice_at if notice_at > unit.clock.now() else None
    await unit.save(account)
    await audit.record(unit, AuditAction.account_deletion_requested, account.company_name, deletion_at=at.isoformat())
    await _notify(unit, account, REQUESTED)
    unit.notify(TOPIC)


async def _notify(unit: UnitOfWork, account: Account, opening: str) -> None:
    assert account.deletion_at
    at = f"{account.deletion_at.day} {account.deletion_at:%B %Y, %H:%M} UTC"
    text = opening.format(at=at, what_goes=WHAT_GOES.format(credits=account.balance))
    await mail_outbox.notify_owners(unit, subject=f"Your account will be deleted on {at}", opening=text)


def _deletion(account: Account) -> Deletion:
    assert account.deletion_at
    return Deletion(account.id, account.deletion_at, account.balance)
