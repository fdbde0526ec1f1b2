"""Making, rotating and revoking API keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import audit, keys, queries
from app.domain.accounts.keys import KeyKind, KeyText
from app.domain.accounts.models import ApiKey
from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput
from app.domain.kernel.unit import Unit

USED_EVERY = timedelta(minutes=1)
LIMITS = {KeyKind.svc: ALL, KeyKind.auto: AUTOMATION}
DEFAULTS = {KeyKind.svc: GENERAL, KeyKind.auto: AUTOMATION}
MAX_OVERLAP_HOURS = 72


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be: its name, its scopes (the kind's usual ones when None) and when it ends."""

    name: str
    kind: KeyKind = KeyKind.svc
    scopes: Sequence[str] | None = None
    expires_at: datetime | None = None


Made = tuple[ApiKey, KeyText]
"""A key, and its text, which is shown this once."""


async def create_key(unit: Unit, secret: bytes, new: NewKey) -> Made:
    """Make a key. An actor cannot give scopes that it does not hold itself."""
    wanted = DEFAULTS[new.kind] & unit.actor.scopes if new.scopes is None else frozenset(new.scopes)
    if unknown := sorted(wanted - LIMITS[new.kind]):
        raise InvalidInput(reason=f"{new.kind}_ keys cannot have the scope {unknown[0]}.")
    if missing := sorted(wanted - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    if not new.name.strip():
        raise InvalidInput(reason="name must not be empty.")
    if new.expires_at and new.expires_at <= unit.clock.now():
        raise InvalidInput(reason="expires_at must be in the future.")
    row = ApiKey(name=new.name.strip(), scopes=sorted(wanted), created_by=unit.actor.label, expires_at=new.expires_at)
    await audit.record(unit, "key_created", row.name, scopes=row.scopes)
    return await _store(unit, secret, new.kind, row)


async def rotate_key(unit: Unit, secret: bytes, id: int, overlap_hours: int = 24) -> Made:
    """Make a key like an old one, which goes on working for 0 to 72 hours; again, sooner, but never longer.

    The actor must hold every scope of the key. Raises `NotFound`, `Conflict` for a key that has ended,
    `InsufficientScope` and `InvalidInput`.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise InvalidInput(reason=f"overlap_hours must be from 0 to {MAX_OVERLAP_HOURS}.")
    old, now = await queries.get_key(unit, id), unit.clock.now()
    if old.revoked_at or (old.expires_at and old.expires_at <= now):
        raise Conflict(reason="The key has ended. Make a new one.")
    if missing := sorted(frozenset(old.scopes) - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    row = ApiKey(name=old.name, scopes=old.scopes, created_by=old.created_by, expires_at=old.expires_at)
    until = now + timedelta(hours=overlap_hours)
    old.expires_at = min(old.expires_at or until, until)
    await unit.save(old)
    await audit.record(unit, "key_rotated", old.name, key_id=old.id, overlap_hours=overlap_hours)
    return await _store(unit, secret, keys.kind_of(old.prefix), row)


async def revoke_key(unit: Unit, id: int) -> ApiKey:
    """Revoke a key, and those that were made with it; every process stops taking them within seconds.

    Again changes nothing.
    """
    key = await queries.get_key(unit, id)
    if key.revoked_at is None:
        key.revoked_at = unit.clock.now()
        await unit.save(key)
        await audit.record(unit, "key_revoked", key.name, key_id=key.id)
    made = select(ApiKey.id).where(ApiKey.id == id).cte("made", recursive=True)
    by = func.concat("key:", made.c.id)
    made = made.union(select(ApiKey.id).where(ApiKey.account_id == key.account_id, ApiKey.created_by == by))
    heirs = update(ApiKey).where(ApiKey.id.in_(select(made.c.id)), ApiKey.revoked_at.is_(None))
    await unit.execute(heirs.values(revoked_at=key.revoked_at))
    return key


async def touch_key(session: AsyncSession, id: int, now: datetime) -> None:
    """Note that a key was used, at most once a minute."""
    stale = (ApiKey.last_used_at.is_(None)) | (ApiKey.last_used_at < now - USED_EVERY)
    await session.execute(update(ApiKey).where(ApiKey.id == id, stale).values(last_used_at=now))


async def _store(unit: Unit, secret: bytes, kind: KeyKind, row: ApiKey) -> Made:
    text = keys.make(kind)
    row.account_id = unit.actor.account_id
    row.prefix, row.last_four = text.prefix, text.last_four
    row.hash = keys.fingerprint(secret, text.text)
    await unit.save(row)
    return row, text
