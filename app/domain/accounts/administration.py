"""Operator commands: list, suspend and resume accounts, and reset the password of a user."""

from sqlalchemy import or_, select
from sqlalchemy.orm import aliased

from app.domain.accounts import audit, links, mail_outbox, queries, users
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.errors import AccountDeleted
from app.domain.accounts.models import Account, AccountStatus, User
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_WEIGHT = 100

SUSPENDED = (
    "Your account is suspended: it sends no texts, and its keys, applications and sign-ins are refused. "
    "Texts from your contacts are still taken in, and opt-outs are heeded. A plan of monthly credits is still charged: "
    "ask the operator of this service to end it if you want that. {reason}"
)
RESUMED = "Your account is active again. Its keys, applications and sign-ins work as before."


async def list_accounts(unit: UnitOfWork, search: str, window: Window) -> Page[Account]:
    """Return a page of all accounts, newest first; `search` matches the company name or a user's e-mail address.

    For the operator only: it is not limited to the actor's account.
    """
    statement = select(Account)
    if search:
        user = aliased(User)
        found = select(user.account_id).where(user.email.icontains(search, autoescape=True))
        named = Account.company_name.icontains(search, autoescape=True)
        statement = statement.where(or_(named, Account.id.in_(found)))

    return await fetch(unit, statement, Order((Account.id,)), window)


async def suspend(unit: UnitOfWork, reason: str) -> Account:
    """Suspend the actor's account and mail its owners the reason. Idempotent; raises `AccountDeleted`."""
    return await _change(unit, AccountStatus.suspended, reason, SUSPENDED.format(reason=reason).strip())


async def resume(unit: UnitOfWork) -> Account:
    """Reactivate the actor's account and mail its owners. Idempotent; raises `AccountDeleted`."""
    return await _change(unit, AccountStatus.active, "", RESUMED)


async def set_weight(unit: UnitOfWork, weight: int) -> Account:
    """Set the actor's account's share of the calls to carriers, relative to other accounts whose texts wait.

    Raises `InvalidInput` for a weight below 1 or above `MAX_WEIGHT`, and `AccountDeleted`.
    """
    if not 1 <= weight <= MAX_WEIGHT:
        raise InvalidInput(reason=f"weight must be from 1 to {MAX_WEIGHT}.", field="weight")
    account = await queries.get_own(unit, lock=True)
    if account.status == AccountStatus.deleted:
        raise AccountDeleted()
    account.weight = weight
    await unit.save(account)
    return account


async def reset_password(unit: UnitOfWork, tokens: Tokens, user_id: int) -> tuple[User, str]:
    """Create and mail a password link for a user; return the user and the link's token.

    Older links stop working. The old password works until the new one is set.
    """
    user = await users.get(unit, user_id)
    link = await links.replace(unit, tokens, user)
    await audit.record(unit, AuditAction.password_reset_asked, user.email, user_id=user.id)
    return user, await mail_outbox.read_token(unit, tokens, link)


async def _change(unit: UnitOfWork, status: AccountStatus, reason: str, opening: str) -> Account:
    account = await queries.get_own(unit, lock=True)
    if account.status == AccountStatus.deleted:
        raise AccountDeleted()
    if account.status == status:
        return account
    account.status = status
    await unit.save(account)
    action = AuditAction.account_suspended if status == AccountStatus.suspended else AuditAction.account_resumed
    await audit.record(unit, action, account.company_name, reason=reason)
    await mail_outbox.notify_owners(unit, subject=f"Your account is {status}", opening=opening)
    return account
