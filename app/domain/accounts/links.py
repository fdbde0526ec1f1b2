"""Mailed links that set a password: made, recognised, and used once."""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import outbox
from app.domain.accounts.models import Account, AccountStatus, LinkPurpose, PasswordLink, User
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit import Unit

SEED_BYTES = 32
LASTS = {LinkPurpose.invitation: timedelta(days=7), LinkPurpose.reset: timedelta(hours=1)}


class LinkNotGood(DomainError):
    """The link that sets a password was used, is too old, or was followed by a newer one."""

    code = "link_not_good"
    status = 410
    message = "This link does not work any more: it was used, is too old, or a newer one was sent."


async def make(unit: Unit, tokens: Tokens, user: User) -> PasswordLink:
    """Make the link that sets a user's password, to be mailed after the commit. Older ones stop working.

    It is an invitation for who has no password yet.
    """
    purpose = LinkPurpose.reset if user.password_hash else LinkPurpose.invitation
    seed, now = secrets.token_bytes(SEED_BYTES), unit.clock.now()
    await forget(unit, user.id)
    link = PasswordLink(
        account_id=user.account_id,
        user_id=user.id,
        purpose=purpose,
        hash=tokens.fingerprint(tokens.of_link(seed)),
        created_at=now,
        expires_at=now + LASTS[purpose],
    )
    await unit.save(link)
    await outbox.post_link(unit, link, seed)
    return link


async def find(db: AsyncSession, hash: bytes, now: datetime) -> tuple[PasswordLink, User] | None:
    """Return the link with a fingerprint and whose it is, unless it is over, its user gone or the account suspended."""
    statement = (
        select(PasswordLink, User)
        .join(User, User.id == PasswordLink.user_id)
        .join(Account, Account.id == PasswordLink.account_id)
        .where(PasswordLink.hash == hash, PasswordLink.used_at.is_(None), PasswordLink.expires_at > now)
        .where(User.removed_at.is_(None), Account.status == AccountStatus.active)
    )
    row = (await db.execute(statement)).one_or_none()
    return (row[0], row[1]) if row else None


async def use(unit: Unit, id: int) -> None:
    """Use a link up; raise `LinkNotGood` where somebody else just did, or it is gone."""
    free = (PasswordLink.id == id, PasswordLink.used_at.is_(None))
    spent = update(PasswordLink).where(*free).values(used_at=unit.clock.now())
    if (await unit.execute(spent.returning(PasswordLink.id))).scalar_one_or_none() is None:
        raise LinkNotGood()
    await outbox.withdraw_link(unit, id)


async def forget(unit: Unit, user_id: int) -> None:
    """Make every link of a user's that was not used stop working."""
    await unit.execute(delete(PasswordLink).where(PasswordLink.user_id == user_id, PasswordLink.used_at.is_(None)))
