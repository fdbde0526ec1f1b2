"""Finding accounts, users and keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.models import Account, AccountStatus, ApiKey, Role, User
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit import Unit


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A live key, as far as the edge needs it."""

    id: int
    account_id: int
    scopes: frozenset[str]
    expires_at: datetime | None


async def get_own(unit: Unit) -> Account:
    """Return the actor's account."""
    account = await unit.one(select(Account).where(Account.id == unit.actor.account_id))
    if account is None:
        raise NotFound(kind="account", id=unit.actor.account_id)
    return account


async def list_users(unit: Unit) -> Sequence[User]:
    """Return the people of the account, the first one first; who was removed is left out."""
    own = (User.account_id == unit.actor.account_id, User.removed_at.is_(None))
    return await unit.all(select(User).where(*own).order_by(User.id))


async def get_viewer(unit: Unit) -> User:
    """Return the user who asks; for a key, which is nobody's, the owner who has been there longest."""
    present = select(User).where(User.account_id == unit.actor.account_id, User.removed_at.is_(None))
    if unit.actor.user_id is None:
        present = present.where(User.role == Role.owner).order_by(User.id).limit(1)
    else:
        present = present.where(User.id == unit.actor.user_id)
    user = await unit.one(present)
    if user is None:
        raise NotFound(kind="user", id=unit.actor.user_id or "owner")
    return user


async def list_keys(unit: Unit) -> Sequence[ApiKey]:
    """Return the account's keys, the newest first; revoked ones too."""
    return await unit.all(select(ApiKey).where(ApiKey.account_id == unit.actor.account_id).order_by(ApiKey.id.desc()))


async def get_key(unit: Unit, id: int) -> ApiKey:
    """Return one of the account's keys; raise `NotFound`."""
    key = await unit.one(select(ApiKey).where(ApiKey.account_id == unit.actor.account_id, ApiKey.id == id))
    if key is None:
        raise NotFound(kind="API key", id=id)
    return key


async def find_live_key(session: AsyncSession, hash: bytes, now: datetime) -> KnownKey | None:
    """Return the key with a fingerprint, unless it is revoked, expired or its account suspended.

    This is the one look-up that does not start from an actor: it finds out who the actor is.
    """
    statement = (
        select(ApiKey.id, ApiKey.account_id, ApiKey.scopes, ApiKey.expires_at)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.hash == hash, ApiKey.revoked_at.is_(None), Account.status == AccountStatus.active)
    )
    key = (await session.execute(statement)).one_or_none()
    if key is None or (key.expires_at and key.expires_at <= now):
        return None
    return KnownKey(key.id, key.account_id, frozenset(key.scopes), key.expires_at)
