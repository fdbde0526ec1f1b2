"""Mailed one-time links that set a password."""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import mail_outbox
from app.domain.accounts.models import Account, AccountStatus, PasswordLink, User, WaitingMail
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import UnitOfWork

SEED_BYTES = 32
MAX_LIVE = 5
"""Maximum number of valid links of one user."""

LASTS = timedelta(hours=1)


class PasswordLinkInvalid(DomainError):
    """The password link was used or has expired, or the password was set in another way meanwhile."""

    code = "password_link_invalid"
    status = 410
    message = "This link does not work any more: it was used, is too old, or the password was set meanwhile."


async def make(unit: UnitOfWork, tokens: Tokens, user: User) -> PasswordLink | None:
    """Create a password link, mailed after the commit.

    Older links stay valid: otherwise another person could invalidate the link that the user is about to open. Returns
    None while a link waits to be mailed, or `MAX_LIVE` links are valid.
    """
    await _wait_for_others(unit, user)
    return None if await _has_enough(unit, user.id) else await _make(unit, tokens, user)


async def replace(unit: UnitOfWork, tokens: Tokens, user: User) -> PasswordLink:
    """Create a password link and delete the user's unused ones."""
    await _wait_for_others(unit, user)
    await delete_unused(unit, user.id)
    return await _make(unit, tokens, user)


async def _wait_for_others(unit: UnitOfWork, user: User) -> None:
    await unit.one(select(User.id).where(User.id == user.id).with_for_update())


async def _make(unit: UnitOfWork, tokens: Tokens, user: User) -> PasswordLink:
    seed, now = secrets.token_bytes(SEED_BYTES), unit.clock.now()
    link = PasswordLink(
        account_id=user.account_id,
        user_id=user.id,
        hash=tokens.fingerprint(tokens.of_link(seed)),
        created_at=now,
        expires_at=now + LASTS,
    )
    await unit.save(link)
    await mail_outbox.post_link(unit, link, seed)
    return link


async def find(db: AsyncSession, hash: bytes, now: datetime) -> tuple[PasswordLink, User] | None:
    """Return the valid link with a fingerprint and its user; None for a removed user or an inactive account."""
    statement = (
        select(PasswordLink, User)
        .join(User, User.id == PasswordLink.user_id)
        .join(Account, Account.id == PasswordLink.account_id)
        .where(PasswordLink.hash == hash, PasswordLink.used_at.is_(None), PasswordLink.expires_at > now)
        .where(User.removed_at.is_(None), Account.status == AccountStatus.active)
    )
    row = (await db.execute(statement)).one_or_none()
    return (row[0], row[1]) if row else None


async def use(unit: UnitOfWork, id: int) -> None:
    """Mark a link as used; raise `PasswordLinkInvalid` when it was used or deleted meanwhile."""
    free = (PasswordLink.id == id, PasswordLink.used_at.is_(None))
    spent = update(PasswordLink).where(*free).values(used_at=unit.clock.now())
    if (await unit.execute(spent.returning(PasswordLink.id))).scalar_one_or_none() is None:
        raise PasswordLinkInvalid()
    await mail_outbox.withdraw_link(unit, id)


async def delete_unused(unit: UnitOfWork, user_id: int) -> None:
    """Delete the unused links of a user."""
    await unit.execute(delete(PasswordLink).where(PasswordLink.user_id == user_id, PasswordLink.used_at.is_(None)))


async def _has_enough(unit: UnitOfWork, user_id: int) -> bool:
    live = (PasswordLink.user_id == user_id, PasswordLink.used_at.is_(None), PasswordLink.expires_at > unit.clock.now())
    waiting = select(WaitingMail.link_id).where(WaitingMail.link_id == PasswordLink.id).exists()
    statement = select(func.count(), func.count().filter(waiting)).where(*live)
    [(working, unsent)] = await unit.rows(statement)
    return unsent > 0 or working >= MAX_LIVE
