"""Opening accounts, adding people, making and revoking keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from pwdlib import PasswordHash
from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import keys, queries
from app.domain.accounts.keys import KeyKind, KeyText
from app.domain.accounts.models import Account, ApiKey, User
from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput
from app.domain.kernel.unit import Unit

USED_EVERY = timedelta(minutes=1)
LIMITS = {KeyKind.svc: ALL, KeyKind.auto: AUTOMATION}
DEFAULTS = {KeyKind.svc: GENERAL, KeyKind.auto: AUTOMATION}
PASSWORDS = PasswordHash.recommended()


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be: its name, its scopes (the kind's usual ones when None) and when it ends."""

    name: str
    kind: KeyKind = KeyKind.svc
    scopes: Sequence[str] | None = None
    expires_at: datetime | None = None


async def open_account(unit: Unit, company_name: str, rate: Decimal, region: str = "US") -> Account:
    """Open an account; `rate` is the price of one credit."""
    if not company_name.strip():
        raise InvalidInput(reason="The company name must not be empty.")
    account = Account(company_name=company_name.strip(), rate=rate, region=region)
    await unit.save(account)
    return account


async def add_user(unit: Unit, email: str, password: str, first_name: str = "", last_name: str = "") -> User:
    """Add a person to the account; raise `Conflict` where the address is taken, in any account."""
    row = {
        "account_id": unit.actor.account_id,
        "email": email.strip().lower(),
        "first_name": first_name,
        "last_name": last_name,
        "password_hash": PASSWORDS.hash(password),
    }
    added = await unit.execute(insert(User).values(row).on_conflict_do_nothing().returning(User))
    user = added.scalar_one_or_none()
    if user is None:
        raise Conflict(reason=f"A user with the e-mail address {row['email']} exists.")
    return user


async def create_key(unit: Unit, secret: bytes, new: NewKey) -> tuple[ApiKey, KeyText]:
    """Make a key; its text is returned this once. An actor cannot give scopes that it does not hold itself."""
    wanted = DEFAULTS[new.kind] & unit.actor.scopes if new.scopes is None else frozenset(new.scopes)
    if unknown := sorted(wanted - LIMITS[new.kind]):
        raise InvalidInput(reason=f"A {new.kind}_ key cannot have the scope {unknown[0]}.")
    if missing := sorted(wanted - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])
    if not new.name.strip():
        raise InvalidInput(reason="name must not be empty.")
    if new.expires_at and new.expires_at <= unit.clock.now():
        raise InvalidInput(reason="expires_at must be in the future.")
    text = keys.make(new.kind)
    key = ApiKey(
        account_id=unit.actor.account_id,
        name=new.name.strip(),
        prefix=text.prefix,
        last_four=text.last_four,
        hash=keys.fingerprint(secret, text.text),
        scopes=sorted(wanted),
        created_by=unit.actor.label,
        expires_at=new.expires_at,
    )
    await unit.save(key)
    return key, text


async def revoke_key(unit: Unit, id: int) -> ApiKey:
    """Revoke a key; every process stops taking it within seconds. Again changes nothing."""
    key = await queries.get_key(unit, id)
    key.revoked_at = key.revoked_at or unit.clock.now()
    await unit.save(key)
    return key


async def touch_key(session: AsyncSession, id: int, now: datetime) -> None:
    """Note that a key was used, at most once a minute."""
    stale = (ApiKey.last_used_at.is_(None)) | (ApiKey.last_used_at < now - USED_EVERY)
    await session.execute(update(ApiKey).where(ApiKey.id == id, stale).values(last_used_at=now))
