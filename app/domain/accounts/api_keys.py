"""Create, rotate and revoke API keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import audit, credentials, keys, queries
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.credentials import creator_of
from app.domain.accounts.keys import KeyKind, KeyText
from app.domain.accounts.models import ApiKey, Creator
from app.domain.accounts.queries import ShownKey
from app.domain.accounts.scopes import ALL, AUTOMATION, AUTOMATION_LIMIT, GENERAL, Scope
from app.domain.kernel import overlap, plain_names
from app.domain.kernel.errors import Conflict, DomainError, InsufficientScope, InvalidInput, NotFound, shorten
from app.domain.kernel.unit_of_work import UnitOfWork

USED_EVERY = timedelta(minutes=1)
LIMITS = {KeyKind.svc: ALL, KeyKind.auto: AUTOMATION_LIMIT}
DEFAULTS = {KeyKind.svc: GENERAL, KeyKind.auto: AUTOMATION}
MAKER = {KeyKind.svc: Scope.account_write, KeyKind.auto: Scope.webhooks_manage}
"""The scope that creating a key of a kind needs."""

MAX_NAME = 100
MAX_LIVE = 500
"""Maximum number of live keys of an account at the creation of one; a rotation is never refused for it."""

KEPT_BY_ROTATION = ("name", "scopes", "created_by", "expires_at")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to create: its name, its scopes (the default scopes of the kind when None) and its expiry."""

    name: str
    kind: KeyKind = KeyKind.svc
    scopes: Sequence[str] | None = None
    expires_at: datetime | None = None


Made = tuple[ApiKey, KeyText]
"""A key and its text, which is shown only once."""


class KeyCannotCreateKeys(DomainError):
    """An `auto_` key, or a key that another key created or rotated, cannot create keys: sign in, or use another key."""

    code = "key_cannot_create_keys"
    status = 403
    message = (
        "This key cannot create keys, because it is an auto_ key, or a key that another key created or rotated. "
        "Sign in, or use another key."
    )


async def create_key(unit: UnitOfWork, secret: bytes, new: NewKey) -> Made:
    """Create a key. It ends with its creator: the actor's key, the application's grant, or the user.

    An actor cannot give scopes that it does not have. Raises `InvalidInput`, `InsufficientScope`,
    `KeyCannotCreateKeys`, and `Conflict` for more than `MAX_LIVE` keys.
    """
    wanted = DEFAULTS[new.kind] & unit.actor.scopes if new.scopes is None else frozenset(new.scopes)
    name = plain_names.checked(new.name, MAX_NAME)
    _check(unit, new, wanted)
    await _check_makes_keys(unit)
    await queries.lock_own(unit)
    if sum(key.is_live(unit.clock.now()) for key in await queries.list_keys(unit)) >= MAX_LIVE:
        raise Conflict(reason=f"An account has at most {MAX_LIVE} live keys. Revoke one first.")
    row = ApiKey(name=name, scopes=sorted(wanted), created_by=unit.actor.label, expires_at=new.expires_at)
    await audit.record(unit, AuditAction.key_created, row.name, scopes=row.scopes)
    made = await _store(unit, secret, new.kind, row)
    await _add_creators(unit, row, creator_of(unit.actor))
    return made


async def find_grantable(unit: UnitOfWork, kind: KeyKind) -> frozenset[str]:
    """Return the scopes that the actor may give a key of a kind; none where it cannot create one."""
    if MAKER[kind] not in unit.actor.scopes or not await _may_make_keys(unit):
        return frozenset()
    return LIMITS[kind] & unit.actor.scopes


async def rotate_key(unit: UnitOfWork, secret: bytes, id: int, overlap_hours: int = 24) -> Made:
    """Replace a key by a new one; the old one works for another 0 to 72 hours.

    The keys that the old key created depend on the new one from now on. The new key depends on everything that the old
    one depends on, and on the credential that rotates it (`credentials`). The actor must have every scope of the key.
    Raises `NotFound`, `Conflict` for a key that has ended or was rotated before, `InsufficientScope` and
    `InvalidInput`.
    """
    until = overlap.end(unit.clock.now(), overlap_hours)
    await queries.lock_own(unit)
    old, now = await queries.get_key(unit, id, lock=True), unit.clock.now()
    _check_may_rotate(old, await queries.show_key(unit, id), now)
    if missing := sorted(frozenset(old.scopes) - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    made = {each: getattr(old, each) for each in KEPT_BY_ROTATION}
    new, text = await _store(unit, secret, keys.kind_of(old.prefix), ApiKey(**made))
    await credentials.hand_on(unit, old.id, new.id)
    await _add_creators(unit, new, creator_of(unit.actor), *await credentials.find_creators(unit, old.id))
    old.expires_at, old.successor_id = min(old.expires_at or until, until), new.id
    await unit.save(old)
    await audit.record(unit, AuditAction.key_rotated, old.name, key_id=old.id, overlap_hours=overlap_hours)
    return new, text


async def revoke_key(unit: UnitOfWork, id: int) -> ApiKey:
    """Revoke a key and everything that depends on it; all processes refuse them within seconds. Idempotent.

    The records that the key created before its rotation depend on its successor instead (`credentials`). A batch of
    texts that is being accepted is waited for: the next one finds the key revoked.
    """
    await queries.lock_own(unit)
    key = await queries.get_key(unit, id)
    if key.revoked_at is None:
        key.revoked_at = unit.clock.now()
        await unit.save(key)
        await audit.record(unit, AuditAction.key_revoked, key.name, key_id=key.id)
    return key


async def revoke_automation_key(unit: UnitOfWork, id: int) -> ApiKey:
    """Revoke an `auto_` key that the actor manages (`queries.list_automation_keys`); raise `NotFound`."""
    if all(key.id != id for key in await queries.list_automation_keys(unit)):
        raise NotFound(kind="automation key", id=id)
    return await revoke_key(unit, id)


async def touch_key(session: AsyncSession, id: int, now: datetime) -> None:
    """Update a key's `last_used_at`, at most once a minute."""
    stale = (ApiKey.last_used_at.is_(None)) | (ApiKey.last_used_at < now - USED_EVERY)
    await session.execute(update(ApiKey).where(ApiKey.id == id, stale).values(last_used_at=now))


def _check(unit: UnitOfWork, new: NewKey, wanted: frozenset[str]) -> None:
    if unknown := sorted(wanted - LIMITS[new.kind]):
        known = ", ".join(sorted(LIMITS[new.kind]))
        reason = f"{new.kind}_ keys cannot have the scope {shorten(unknown[0])}. Choose from: {known}."
        raise InvalidInput(reason=reason, field="scopes")
    if missing := sorted(wanted - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    if not wanted:
        raise InvalidInput(
            reason="scopes must name at least one scope. Leave them out for the default ones.", field="scopes"
        )
    if new.expires_at and new.expires_at <= unit.clock.now():
        raise InvalidInput(reason="expires_at must be in the future.", field="expires_at")


async def _check_makes_keys(unit: UnitOfWork) -> None:
    if not await _may_make_keys(unit):
        raise KeyCannotCreateKeys()


async def _may_make_keys(unit: UnitOfWork) -> bool:
    if unit.actor.key_id is None:
        return True
    key = await queries.get_key(unit, unit.actor.key_id)
    creators = await credentials.find_creators(unit, key.id)
    return keys.kind_of(key.prefix) != KeyKind.auto and not any(creator.creator_key_id for creator in creators)


async def _add_creators(unit: UnitOfWork, key: ApiKey, *creators: Creator | None) -> None:
    """Store each distinct creator of a key; the rows of another key are copied."""
    made_with = {
        (creator.creator_key_id, creator.creator_grant_id, creator.creator_user_id) for creator in creators if creator
    }
    rows = [
        Creator(
            account_id=key.account_id,
            key_id=key.id,
            creator_key_id=by_key,
            creator_grant_id=by_grant,
            creator_user_id=by,
        )
        for by_key, by_grant, by in made_with
    ]
    await unit.save(*rows)


def _check_may_rotate(old: ApiKey, shown: ShownKey, now: datetime) -> None:
    if shown.revoked_at or (shown.expires_at and shown.expires_at <= now):
        raise Conflict(reason="The key was revoked or has expired. Create a new one.")
    if old.successor_id:
        raise Conflict(reason="The key was rotated before. Rotate its newest one, or revoke this one to end it now.")


async def _store(unit: UnitOfWork, secret: bytes, kind: KeyKind, row: ApiKey) -> Made:
    text = keys.make(kind)
    row.account_id = unit.actor.account_id
    row.prefix, row.last_four = text.prefix, text.last_four
    row.hash = keys.fingerprint(secret, text.text)
    await unit.save(row)
    return row, text
