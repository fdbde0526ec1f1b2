"""Grants and their tokens: exchange codes, rotate refresh tokens, revoke grants."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import audit, credentials
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.tokens import Tokens
from app.domain.grants.models import Client, Grant
from app.domain.kernel.errors import RateLimited
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.oauth import queries, redirects
from app.domain.oauth.models import AuthorizationCode, RefreshToken
from app.domain.oauth.queries import ConnectedApplication, LiveGrant

CODE_LASTS = timedelta(seconds=60)
REFRESH_LASTS = timedelta(days=30)
GRANT_LASTS = timedelta(days=365)
MINUTE = timedelta(minutes=1)
MAX_IN_A_MINUTE = 60
"""Maximum number of refresh tokens of a grant in a minute, because each row is stored for a month."""

GRACE = timedelta(seconds=60)
"""The time that a rotated refresh token still works, for concurrent refreshes and lost responses."""

DAY = timedelta(days=1)
USED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent of a user to a client, and the redirect URI of the code."""

    user_id: int
    scopes: frozenset[str]
    resource: str
    redirect_uri: str
    code_challenge: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """A valid code or refresh token, and its grant."""

    row: AuthorizationCode | RefreshToken
    grant: LiveGrant
    client: Client

    @property
    def scopes(self) -> frozenset[str]:
        """Return the scopes that new access tokens may have."""
        kept = self.row.scopes if isinstance(self.row, RefreshToken) else self.grant.scopes
        return self.grant.scopes & frozenset(kept)


async def allow(unit: UnitOfWork, tokens: Tokens, client: Client, consent: Consent) -> str:
    """Create the grant of a user's consent; return its authorization code, which is not stored."""
    now = unit.clock.now()
    grant = Grant(
        account_id=unit.actor.account_id,
        user_id=consent.user_id,
        client_id=client.id,
        scopes=sorted(consent.scopes),
        resource=consent.resource,
        created_at=now,
        expires_at=now + GRANT_LASTS,
    )
    await unit.save(grant)
    code = tokens.make()
    row = AuthorizationCode(
        hash=tokens.fingerprint(code),
        grant_id=grant.id,
        redirect_uri=consent.redirect_uri,
        code_challenge=consent.code_challenge,
        created_at=now,
        expires_at=now + CODE_LASTS,
    )
    await unit.save(row)
    await audit.record(
        unit,
        AuditAction.application_connected,
        client.name,
        grant_id=grant.id,
        scopes=grant.scopes,
        resource=grant.resource,
        redirect_host=redirects.host(row.redirect_uri),
    )
    return code


async def find_code(unit: UnitOfWork, tokens: Tokens, client: Client, text: str) -> Found | None:
    """Return an unused code of a client, locked.

    A code that was used before may be stolen: its grant is revoked (RFC 6749, 4.1.2).
    """
    hash = tokens.fingerprint(text)
    row = await unit.one(select(AuthorizationCode).where(AuthorizationCode.hash == hash).with_for_update())
    live = await _live_grant_of(unit, row, client)
    if row is None or live is None:
        return None
    if row.used_at:
        await _revoke_as_stolen(unit, client, live, "code_replayed")
        return None
    return Found(row, live, client) if row.expires_at > unit.clock.now() else None


async def find_refresh_token(unit: UnitOfWork, tokens: Tokens, client: Client, text: str) -> Found | None:
    """Return a usable refresh token of a client, locked.

    A token that was rotated longer ago than `GRACE` may be stolen: its grant is revoked with all tokens
    (RFC 9700, 4.14.2).
    """
    hash = tokens.fingerprint(text)
    row = await unit.one(select(RefreshToken).where(RefreshToken.hash == hash).with_for_update())
    live = await _live_grant_of(unit, row, client)
    if row is None or live is None:
        return None
    now = unit.clock.now()
    if row.rotated_at and row.rotated_at + GRACE <= now:
        await _revoke_as_stolen(unit, client, live, "refresh_token_reused")
        return None
    return Found(row, live, client) if row.expires_at > now else None


async def find_grant_of(unit: UnitOfWork, tokens: Tokens, text: str) -> LiveGrant | None:
    """Return the valid grant of a refresh token of any client, rotated or not."""
    row = await unit.one(select(RefreshToken).where(RefreshToken.hash == tokens.fingerprint(text)))
    return await queries.find_live(unit, row.grant_id) if row else None


async def use(unit: UnitOfWork, tokens: Tokens, found: Found) -> str:
    """Mark a code or refresh token as used; return a new refresh token, which is not stored.

    What the user's earlier connections of the client created lives as long as the new one.

    Raises `RateLimited` above `MAX_IN_A_MINUTE` tokens of the grant; then nothing is marked.
    """
    now = unit.clock.now()
    await unit.execute(update(Grant).where(Grant.id == found.grant.id).values(last_used_at=now))
    await _check_rate(unit, found.grant, now)
    if isinstance(found.row, AuthorizationCode):
        found.row.used_at, scopes = now, sorted(found.grant.scopes)
        await credentials.hand_on_to_grant(unit, found.grant.id)
    else:
        found.row.rotated_at, scopes = found.row.rotated_at or now, found.row.scopes
    text = tokens.make()
    new = RefreshToken(
        hash=tokens.fingerprint(text),
        grant_id=found.grant.id,
        scopes=scopes,
        created_at=now,
        expires_at=min(now + REFRESH_LASTS, found.grant.expires_at),
    )
    await unit.save(found.row, new)
    return text


async def _check_rate(unit: UnitOfWork, grant: LiveGrant, now: datetime) -> None:
    own = (RefreshToken.grant_id == grant.id, RefreshToken.created_at > now - MINUTE)
    [(count, first)] = await unit.rows(select(func.count(), func.min(RefreshToken.created_at)).where(*own))
    if count >= MAX_IN_A_MINUTE:
        raise RateLimited(seconds=math.ceil((first + MINUTE - now).total_seconds()))


async def revoke(unit: UnitOfWork, id: int, user_id: int | None = None) -> ConnectedApplication:
    """Revoke a grant of the account, or of one of its users, with its tokens. Idempotent; raises `NotFound`."""
    grant = await queries.get_grant(unit, id, user_id)
    is_first = grant.revoked_at is None
    if is_first:
        await _end(unit, grant, "revoked_by_user")
        await credentials.hand_back(unit, id)
    application = await queries.get_application(unit, grant)
    if is_first:
        await audit.record(unit, AuditAction.application_disconnected, application.client_name, grant_id=id)
    return application


async def revoke_by_client(unit: UnitOfWork, client: Client, grant: LiveGrant) -> None:
    """Revoke a grant at the request of its client (RFC 7009)."""
    _act_for(unit, client, grant)
    await _end_by_id(unit, grant.id, "revoked_by_client")
    await credentials.hand_back(unit, grant.id)
    await audit.record(unit, AuditAction.application_disconnected, client.name, grant_id=grant.id)


async def revoke_all_of(unit: UnitOfWork, client: Client, because: str) -> None:
    """Revoke all grants of a client."""
    held = update(Grant).where(Grant.client_id == client.id, Grant.revoked_at.is_(None))
    await unit.execute(held.values(revoked_at=unit.clock.now(), revoked_because=because))


async def touch(session: AsyncSession, id: int, now: datetime) -> None:
    """Update a grant's `last_used_at`, at most once a minute."""
    stale = (Grant.last_used_at.is_(None)) | (Grant.last_used_at < now - USED_EVERY)
    await session.execute(update(Grant).where(Grant.id == id, stale).values(last_used_at=now))


async def _live_grant_of(
    unit: UnitOfWork, row: AuthorizationCode | RefreshToken | None, client: Client
) -> LiveGrant | None:
    """Return the valid grant of a code or token, if it is the client's; raise `AccountSuspended`."""
    live = await queries.find_live(unit, row.grant_id) if row else None
    if live is None or live.client_key != client.id:
        return None
    if live.is_suspended:
        raise AccountSuspended()
    return live


async def _revoke_as_stolen(unit: UnitOfWork, client: Client, grant: LiveGrant, because: str) -> None:
    _act_for(unit, client, grant)
    await _end_by_id(unit, grant.id, because)
    await audit.record(unit, AuditAction.application_cut_off, client.name, grant_id=grant.id, because=because)


def _act_for(unit: UnitOfWork, client: Client, grant: LiveGrant) -> None:
    """Set the unit's actor to the client for the grant's account; the token or code authorizes it."""
    label = f"client:{client.id}"
    unit.actor = Actor(grant.account_id, grant.scopes, label, unit.actor.request_id, grant.user_id)


async def _end_by_id(unit: UnitOfWork, id: int, because: str) -> None:
    await _end(unit, cast(Grant, await unit.one(select(Grant).where(Grant.id == id))), because)


async def _end(unit: UnitOfWork, grant: Grant, because: str) -> None:
    """End a grant; a batch of texts that is being accepted is waited for, and the next one finds the grant ended."""
    await accounts.get_own(unit, lock=True)
    grant.revoked_at, grant.revoked_because = unit.clock.now(), because
    await unit.save(grant)
