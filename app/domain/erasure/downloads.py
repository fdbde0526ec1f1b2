"""Download an export over HTTP: a sealed link for minutes, and the archive in pieces."""

import asyncio
import base64
import json
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, cast

from cryptography.exceptions import InvalidTag

from app.db.engine import Connection, Database
from app.domain.accounts import audit, credentials, queries
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.scopes import Scope
from app.domain.erasure.archive import Archive, Outlet
from app.domain.erasure.export import read_records
from app.domain.kernel.errors import DomainError, NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit import Actor, Unit

LASTS = timedelta(minutes=10)
NONCE_BYTES = 8
MAX_AT_ONCE = 4
"""How many exports the installation sends at the same time; of one account, one."""

MAX_SECONDS = 3600.0
"""How long one download may take; then it is broken off."""

TRY_ACCOUNT = "SELECT pg_try_advisory_xact_lock(hashtextextended('export of an account', $1))"
TRY_PLACE = "SELECT pg_try_advisory_xact_lock(hashtextextended('place of an export', $1))"


class ExportLinkEnded(DomainError):
    """The link to an export is older than ten minutes, or the key or user that made it may read it no more."""

    code = "export_link_ended"
    status = 410
    message = "This link to an export works no more: it lasts ten minutes. Make a new one."


class ExportInProgress(DomainError):
    """The account is being exported by another download, or the service sends as many exports as it does at once."""

    code = "export_in_progress"
    status = 429
    message = "Another export is being downloaded. Try again in {seconds} seconds."

    def __init__(self, *, seconds: int = 30) -> None:
        super().__init__(seconds=seconds)


@dataclass(frozen=True, slots=True)
class ExportLink:
    """A link that downloads the export of an account, until an instant."""

    token: str
    expires_at: datetime


async def make_link(unit: Unit, seal: Seal) -> ExportLink:
    """Make a link that downloads the export of the actor's account for ten minutes; nothing can be read off it."""
    actor, until = unit.actor, unit.clock.now() + LASTS
    made_with = [actor.account_id, actor.label, actor.user_id, actor.grant_id, actor.key_id]
    sealed = seal.close(json.dumps([made_with, secrets.token_hex(NONCE_BYTES), until.isoformat()]))
    await audit.record(unit, "export_link_made")
    return ExportLink(base64.urlsafe_b64encode(sealed).decode(), until)


def open_link(seal: Seal, token: str, now: datetime, request_id: str | None = None) -> Actor:
    """Return who made a link, without scopes; raise `NotFound` for what is none, and `ExportLinkEnded`."""
    try:
        sealed = base64.b64decode(token.encode("ascii"), b"-_", validate=True)
        (account_id, label, *made_with), _, until = json.loads(seal.open(sealed))
    except (InvalidTag, ValueError):
        raise NotFound(kind="export", id=token[:8]) from None
    if datetime.fromisoformat(until) <= now:
        raise ExportLinkEnded()
    return Actor(account_id, frozenset(), label, request_id, *made_with)


async def begin(unit: Unit) -> str:
    """Check that the actor, who made a link, may still export the account, and note it; return the time.

    Raises `ExportLinkEnded` and `AccountSuspended`.
    """
    if not await credentials.may_still(unit, unit.actor, Scope.account_write):
        raise ExportLinkEnded()
    account = await queries.get_own(unit)
    if account.status == AccountStatus.suspended:
        raise AccountSuspended()
    if account.status == AccountStatus.deleted:
        raise ExportLinkEnded()
    await audit.record(unit, "account_exported")
    return timestamp(unit.clock.now())


@dataclass(slots=True)
class Places:
    """The places for downloads: of an account one, of the installation `MAX_AT_ONCE`, of this process `here`.

    Each holds a connection, in a transaction that reads nothing meanwhile: it keeps no snapshot back from vacuum.
    """

    database: Database
    here: int
    _taken: int = 0

    @asynccontextmanager
    async def take(self, account_id: int) -> AsyncGenerator[None]:
        """Hold a place while a block runs; raise `ExportInProgress` where none is free."""
        if self._taken >= self.here:
            raise ExportInProgress()
        self._taken += 1
        try:
            async with self.database.pool.acquire() as connection, connection.transaction():
                await _hold(connection, account_id)
                yield
        finally:
            self._taken -= 1


async def _hold(connection: Connection, account_id: int) -> None:
    if not await connection.fetchval(TRY_ACCOUNT, account_id):
        raise ExportInProgress()
    for place in range(MAX_AT_ONCE):
        if await connection.fetchval(TRY_PLACE, place):
            return
    raise ExportInProgress()


async def send(database: Database, account_id: int, exported_at: str) -> AsyncGenerator[bytes]:
    """Yield the archive in pieces, each of at most one batch of records; compressing is done in a thread.

    Each batch is read in a statement of its own: what is changed meanwhile is exported as it is when it is read.
    Raises `TimeoutError` after `MAX_SECONDS`.
    """
    outlet, ends = Outlet(), time.monotonic() + MAX_SECONDS
    archive = Archive(cast("IO[bytes]", outlet))
    async for area, records in read_records(database.pool, account_id):
        await asyncio.to_thread(archive.add, area, records)
        if piece := outlet.take():
            yield piece
        if time.monotonic() > ends:
            raise TimeoutError
    archive.finish(account_id, exported_at)
    yield outlet.take()
