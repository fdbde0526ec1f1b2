"""Making, rotating and revoking API keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import audit, keys, queries
from app.domain.accounts.keys import KeyKind, KeyText
from app.domain.accounts.models import ApiKey
from app.domain.accounts.queries import ShownKey
from app.domain.accounts.scopes import ALL, AUTOMATION, AUTOMATION_LIMIT, GENERAL
from app.domain.kernel.errors import Conflict, DomainError, InsufficientScope, InvalidInput
from app.domain.kernel.unit import Unit

USED_EVERY = timedelta(minutes=1)
LIMITS = {KeyKind.svc: ALL, KeyKind.auto: AUTOMATION_LIMIT}
DEFAULTS = {KeyKind.svc: GENERAL, KeyKind.auto: AUTOMATION}
MAX_NAME = 100
MAX_OVERLAP_HOURS = 72
KEPT_BY_ROTATION = (
    "name",
    "scopes",
    "created_by",
    "expires_at",
    "made_by_key_id",
    "made_by_grant_id",
    "made_by_user_id",
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be: its name, its scopes (the kind's usual ones when None) and when it ends."""

    name: str
    kind: KeyKind = KeyKind.svc
    scopes: Sequence[str] | None = None
    expires_at: datetime | None = None


Made = tuple[ApiKey, KeyText]
"""A key, and its text, which is shown this once."""


class KeyMakesNoKeys(DomainError):
    """An `auto_` key, or one that was itself made with a key, makes no keys: sign in, or use a `svc_` key that may."""

    code = "key_makes_no_keys"
    status = 403
    message = "This key makes no keys: it is an auto_ key, or was made with a key itself. Sign in, or use another key."


async def create_key(unit: Unit, secret: bytes, new: NewKey) -> Made:
    """Make a key, which ends with what it was made with: the actor's key, the application's grant, or the user.

    An actor cannot give scopes that it does not hold itself. Raises `InvalidInput`, `InsufficientScope` and
    `KeyMakesNoKeys`.
    """
    wanted = DEFAULTS[new.kind] & unit.actor.scopes if new.scopes is None else frozenset(new.scopes)
    name = new.name.strip()
    _check(unit, new, name, wanted)
    makers = await _makers(unit)
    row = ApiKey(name=name, scopes=sorted(wanted), created_by=unit.actor.label, expires_at=new.expires_at, **makers)
    await audit.record(unit, "key_created", row.name, scopes=row.scopes)
    return await _store(unit, secret, new.kind, row)


async def rotate_key(unit: Unit, secret: bytes, id: int, overlap_hours: int = 24) -> Made:
    """Make a key like an old one, which goes on working for 0 to 72 hours; the keys made with it go with the new one.

    The actor must hold every scope of the key. Raises `NotFound`, `Conflict` for a key that has ended or was rotated
    before, `InsufficientScope` and `InvalidInput`.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise InvalidInput(reason=f"overlap_hours must be from 0 to {MAX_OVERLAP_HOURS}.")
    old, now = await queries.get_key(unit, id, lock=True), unit.clock.now()
    _check_may_rotate(old, await queries.show_key(unit, id), now)
    if missing := sorted(frozenset(old.scopes) - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    made = {each: getattr(old, each) for each in KEPT_BY_ROTATION}
    new, text = await _store(unit, secret, keys.kind_of(old.prefix), ApiKey(**made))
    until = now + timedelta(hours=overlap_hours)
    old.expires_at, old.successor_id = min(old.expires_at or until, until), new.id
    await unit.save(old)
    await unit.execute(update(ApiKey).where(ApiKey.made_by_key_id == old.id).values(made_by_key_id=new.id))
    await audit.record(unit, "key_rotated", old.name, key_id=old.id, overlap_hours=overlap_hours)
    return new, text


async def revoke_key(unit: Unit, id: int) -> ApiKey:
    """Revoke a key, and with it those that were made with it; every process stops taking them within seconds.

    Again changes nothing.
    """
    key = await queries.get_key(unit, id)
    if key.revoked_at is None:
        key.revoked_at = unit.clock.now()
        await unit.save(key)
        await audit.record(unit, "key_revoked", key.name, key_id=key.id)
    return key


async def touch_key(session: AsyncSession, id: int, now: datetime) -> None:
    """Note that a key was used, at most once a minute."""
    stale = (ApiKey.last_used_at.is_(None)) | (ApiKey.last_used_at < now - USED_EVERY)
    await session.execute(update(ApiKey).where(ApiKey.id == id, stale).values(last_used_at=now))


def _check(unit: Unit, new: NewKey, name: str, wanted: frozenset[str]) -> None:
    if unknown := sorted(wanted - LIMITS[new.kind]):
        raise InvalidInput(reason=f"{new.kind}_ keys cannot have the scope {unknown[0]}.")
    if missing := sorted(wanted - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    if not wanted:
        raise InvalidInput(reason="scopes must name at least one scope. Leave them out for the usual ones.")
    if not 1 <= len(name) <= MAX_NAME:
        raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.")
    if new.expires_at and new.expires_at <= unit.clock.now():
        raise InvalidInput(reason="expires_at must be in the future.")


async def _makers(unit: Unit) -> dict[str, int | None]:
    """Return what the actor's new key is to end with. Its look-up goes no further than one key up: so chains end."""
    actor = unit.actor
    if actor.key_id is None:
        return {"made_by_grant_id": actor.grant_id, "made_by_user_id": actor.user_id}
    key = await queries.get_key(unit, actor.key_id)
    if key.made_by_key_id or keys.kind_of(key.prefix) == KeyKind.auto:
        raise KeyMakesNoKeys()
    return {"made_by_key_id": key.id, "made_by_user_id": key.made_by_user_id}


def _check_may_rotate(old: ApiKey, shown: ShownKey, now: datetime) -> None:
    if shown.revoked_at or (shown.expires_at and shown.expires_at <= now):
        raise Conflict(reason="The key has ended. Make a new one.")
    if old.successor_id:
        raise Conflict(reason="The key was rotated before. Rotate its newest one, or revoke this one to end it now.")


async def _store(unit: Unit, secret: bytes, kind: KeyKind, row: ApiKey) -> Made:
    text = keys.make(kind)
    row.account_id = unit.actor.account_id
    row.prefix, row.last_four = text.prefix, text.last_four
    row.hash = keys.fingerprint(secret, text.text)
    await unit.save(row)
    return row, text
