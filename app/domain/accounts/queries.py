"""Queries of accounts, users and keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text

from app.db.engine import Database
from app.domain.accounts.credentials import ENDS, FOLLOW, MADE_WITH, own_creators, sees_all
from app.domain.accounts.keys import KeyKind, kind_of
from app.domain.accounts.models import Account, ApiKey, Creator, Role, User
from app.domain.accounts.roles import scopes_of
from app.domain.accounts.scopes import complete
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

EXPIRES_AT = "least(k.expires_at, ends.expires_at)"
REVOKED_AT = "least(k.revoked_at, ends.revoked_at)"

FIND_LIVE = f"""
WITH RECURSIVE source AS (
  SELECT m.key_id AS root, {MADE_WITH} FROM creators m JOIN api_keys k ON k.id = m.key_id
  WHERE k.hash = ANY($1::bytea[])
  {FOLLOW}
), ends AS ({ENDS})
SELECT k.hash, k.id, k.account_id, k.scopes, ends.roles, {EXPIRES_AT} AS expires_at,
  a.status = 'suspended' AS is_suspended
FROM api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN ends ON ends.root = k.id
WHERE k.hash = ANY($1::bytea[]) AND a.status <> 'deleted' AND {REVOKED_AT} IS NULL
  AND coalesce({EXPIRES_AT}, 'infinity') > $2
"""
MAX_SHOWN = 1000
"""Maximum length of a list of keys; `api_keys.MAX_LIVE` is lower, so that no live key is left out."""

SHOW = f"""
WITH RECURSIVE source AS (
  SELECT m.key_id AS root, {MADE_WITH} FROM creators m
  WHERE m.account_id = :account_id AND {{made}}
  {FOLLOW}
), ends AS ({ENDS})
SELECT k.id, k.name, k.prefix, k.last_four, k.scopes, k.created_by, k.created_at, {EXPIRES_AT} AS expires_at,
       k.last_used_at, {REVOKED_AT} AS revoked_at, ends.roles
FROM api_keys k LEFT JOIN ends ON ends.root = k.id
WHERE k.account_id = :account_id AND {{shown}}
ORDER BY ({REVOKED_AT} IS NOT NULL OR coalesce({EXPIRES_AT}, 'infinity') <= :now), k.successor_id IS NOT NULL, k.id DESC
LIMIT {MAX_SHOWN}
"""
SHOW_ALL = SHOW.format(made="m.key_id IS NOT NULL", shown="k.prefix LIKE :prefix")
SHOW_SOME = SHOW.format(made="m.key_id = ANY(:ids)", shown="k.id = ANY(:ids)")


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A valid key for authentication; `expires_at` is the earliest expiry of the key and its creators."""

    id: int
    account_id: int
    scopes: frozenset[str]
    expires_at: datetime | None
    is_suspended: bool


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key for display; `expires_at` and `revoked_at` include those of its creators."""

    id: int
    name: str
    prefix: str
    last_four: str
    scopes: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def is_live(self, now: datetime) -> bool:
        """Return whether the key and its creator are still valid."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


async def lock_own(unit: UnitOfWork) -> None:
    """Lock the actor's account until the transaction ends; another one that locks it too sees this one's changes.

    Others may add rows that refer to the account meanwhile.
    """
    await unit.one(select(Account.id).where(Account.id == unit.actor.account_id).with_for_update(key_share=True))


async def has_any(unit: UnitOfWork) -> bool:
    """Tell whether the service has an account."""
    return bool(await unit.all(select(Account.id).limit(1)))


async def get_own(unit: UnitOfWork, *, lock: bool = False) -> Account:
    """Return the actor's account; with `lock`, locked for a change."""
    own = select(Account).where(Account.id == unit.actor.account_id)
    if lock:
        own = own.with_for_update(key_share=True).execution_options(populate_existing=True)
    account = await unit.one(own)
    if account is None:
        raise NotFound(kind="account", id=unit.actor.account_id)
    return account


async def find_currencies(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, str]:
    """Return the currency (ISO 4217) of the actor's account by its id; other ids are left out."""
    own = (Account.id == unit.actor.account_id, Account.id.in_(ids))
    return dict(await unit.rows(select(Account.id, Account.currency).where(*own)))


async def list_users(unit: UnitOfWork) -> Sequence[User]:
    """Return the users of the account, oldest first, without removed ones: at most `invitations.MAX_PEOPLE`."""
    own = (User.account_id == unit.actor.account_id, User.removed_at.is_(None))
    return await unit.all(select(User).where(*own).order_by(User.id))


async def find_users(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, User]:
    """Return users of the account by their ids, removed ones too."""
    own = (User.account_id == unit.actor.account_id, records.among(User.id, ids))
    return {user.id: user for user in await unit.all(select(User).where(*own))}


async def get_viewer(unit: UnitOfWork) -> User:
    """Return the actor's user; for an actor without a user, the oldest owner."""
    present = select(User).where(User.account_id == unit.actor.account_id, User.removed_at.is_(None))
    if unit.actor.user_id is None:
        present = present.where(User.role == Role.owner).order_by(User.id).limit(1)
    else:
        present = present.where(User.id == unit.actor.user_id)
    user = await unit.one(present)
    if user is None:
        raise NotFound(kind="user", id=unit.actor.user_id or "owner")
    return user


async def list_keys(unit: UnitOfWork, *, active_only: bool = False) -> list[ShownKey]:
    """Return at most `MAX_SHOWN` keys of the account, or the valid ones: those first, then the newest first."""
    return _kept(unit, await _show_all(unit), active_only)


async def find_keys(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, ShownKey]:
    """Return keys of the account by their ids, revoked ones too."""
    return {key.id: key for key in await _show(unit, SHOW_SOME, ids=ids)}


async def list_automation_keys(unit: UnitOfWork, *, active_only: bool = False) -> list[ShownKey]:
    """Return at most `MAX_SHOWN` `auto_` keys that the actor manages: valid ones first, then the newest first.

    The actor manages all of the account's, or those that its credential created.
    """
    if sees_all(unit.actor):
        return _kept(unit, await _show_all(unit, KeyKind.auto), active_only)
    own = await unit.all(select(Creator.key_id).where(Creator.id.in_(own_creators(unit.actor))))
    shown = await _show(unit, SHOW_SOME, ids=own)
    return _kept(unit, [key for key in shown if kind_of(key.prefix) == KeyKind.auto], active_only)


async def show_key(unit: UnitOfWork, id: int) -> ShownKey:
    """Return one of the account's keys for display; raise `NotFound`."""
    for key in await _show(unit, SHOW_SOME, ids=[id]):
        return key
    raise NotFound(kind="API key", id=id)


async def get_key(unit: UnitOfWork, id: int, *, lock: bool = False) -> ApiKey:
    """Return one of the account's keys; with `lock`, locked for a change. Raise `NotFound`."""
    own = select(ApiKey).where(ApiKey.account_id == unit.actor.account_id, ApiKey.id == id)
    key = await unit.one(own.with_for_update() if lock else own)
    if key is None:
        raise NotFound(kind="API key", id=id)
    return key


async def find_live_keys(database: Database, hashes: Sequence[bytes], now: datetime) -> dict[bytes, KnownKey]:
    """Return the keys with some fingerprints, without those that, or whose creators or account, have ended.

    `is_suspended` is true for a key of a suspended account. The scopes of a key that depends on a user are limited to
    those of the user's current role. This look-up has no actor, because it identifies the actor.
    """
    return {
        row["hash"]: KnownKey(
            row["id"], row["account_id"], _scopes(row["scopes"], row["roles"]), row["expires_at"], row["is_suspended"]
        )
        for row in await database.pool.fetch(FIND_LIVE, hashes, now)
    }


def _kept(unit: UnitOfWork, keys: list[ShownKey], active_only: bool) -> list[ShownKey]:
    return [key for key in keys if key.is_live(unit.clock.now())] if active_only else keys


async def _show_all(unit: UnitOfWork, kind: KeyKind | None = None) -> list[ShownKey]:
    return await _show(unit, SHOW_ALL, prefix=f"{kind or ''}%")


async def _show(unit: UnitOfWork, statement: str, **values: Any) -> list[ShownKey]:
    asked = text(statement).bindparams(account_id=unit.actor.account_id, now=unit.clock.now(), **values)
    return [_shown(row) for row in await unit.execute(asked)]


def _shown(row: Row[Any]) -> ShownKey:
    return ShownKey(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        last_four=row.last_four,
        scopes=sorted(_scopes(row.scopes, row.roles)),
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )


def _scopes(given: Sequence[str], roles: Sequence[str] | None) -> frozenset[str]:
    return complete(given).intersection(*(scopes_of(role) for role in roles or ()))
