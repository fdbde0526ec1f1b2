"""Download of an export over HTTP: a short-lived sealed link, and the archive in pieces."""

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, cast

from cryptography.exceptions import InvalidTag

from app.db.engine import Pool
from app.domain.accounts import audit, credentials, queries
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.scopes import Scope
from app.domain.erasure.archive import Archive, Outlet
from app.domain.erasure.export import Record, read_records
from app.domain.kernel.errors import DomainError, NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor, UnitOfWork

LASTS = timedelta(minutes=10)
NONCE_BYTES = 8
PIECE_BYTES = 64 * 1024


class ExportLinkEnded(DomainError):
    """The link to an export is older than ten minutes, or its creator may no longer export the account."""

    code = "export_link_ended"
    status = 410
    message = (
        "This link to an export is older than ten minutes, or its creator may no longer export the account. "
        "Create a new one."
    )


class ExportInProgress(DomainError):
    """The account is being exported by another download, or the process sends its maximum number of exports."""

    code = "export_in_progress"
    status = 429
    message = "Another export is being downloaded. Try again in {seconds} s."

    def __init__(self, *, seconds: int = 30) -> None:
        super().__init__(seconds=seconds)


@dataclass(frozen=True, slots=True)
class ExportLink:
    """A link that downloads the export of an account until `expires_at`."""

    token: str
    expires_at: datetime


async def make_link(unit: UnitOfWork, seal: Seal) -> ExportLink:
    """Create a link that downloads the export of the actor's account for ten minutes; its content is encrypted."""
    actor, until = unit.actor, unit.clock.now() + LASTS
    made_with = [actor.account_id, actor.label, actor.user_id, actor.grant_id, actor.key_id]
    sealed = seal.close(json.dumps([made_with, secrets.token_hex(NONCE_BYTES), until.isoformat()]))
    await audit.record(unit, AuditAction.export_link_made)
    return ExportLink(base64.urlsafe_b64encode(sealed).decode(), until)


def open_link(seal: Seal, token: str, now: datetime, request_id: str | None = None) -> Actor:
    """Return the actor who created a link, without scopes; raise `NotFound` and `ExportLinkEnded`."""
    try:
        sealed = base64.b64decode(token.encode("ascii"), b"-_", validate=True)
        (account_id, label, *made_with), _, until = json.loads(seal.open(sealed))
    except (InvalidTag, ValueError):
        raise NotFound(kind="export", id=token[:8]) from None
    if datetime.fromisoformat(until) <= now:
        raise ExportLinkEnded()
    return Actor(account_id, frozenset(), label, request_id, *made_with)


async def check(unit: UnitOfWork) -> None:
    """Check that the actor who created a link may still export the account.

    Raises `ExportLinkEnded` and `AccountSuspended`.
    """
    if not await credentials.may_still(unit, unit.actor, Scope.account_write):
        raise ExportLinkEnded()
    account = await queries.get_own(unit)
    if account.status == AccountStatus.suspended:
        raise AccountSuspended()
    if account.status == AccountStatus.deleted:
        raise ExportLinkEnded()


async def begin(unit: UnitOfWork) -> str:
    """Run `check` and record an audit entry; return the time of the export."""
    await check(unit)
    await audit.record(unit, AuditAction.account_exported)
    return timestamp(unit.clock.now())


@dataclass(frozen=True, slots=True)
class Sending:
    """The archive of one download. No connection and no slot is held while the client reads.

    `turns` limits the downloads of a process that read and compress concurrently.
    """

    pool: Pool
    account_id: int
    turns: asyncio.Semaphore

    async def pieces(self, exported_at: str) -> AsyncGenerator[bytes]:
        """Yield the archive in pieces of at most `PIECE_BYTES`; a thread compresses it.

        Each batch is read by its own statement, so that the export is no snapshot.
        """
        outlet = Outlet()
        records = read_records(self.pool, self.account_id)
        with Archive(cast("IO[bytes]", outlet)) as archive:
            while await self._add_batch(archive, records):
                for piece in _split(outlet.take()):
                    yield piece
            archive.finish(self.account_id, exported_at)
        for piece in _split(outlet.take()):
            yield piece

    async def _add_batch(self, archive: Archive, records: AsyncGenerator[tuple[str, list[Record]]]) -> bool:
        async with self.turns:
            batch = await anext(records, None)
            if batch:
                await asyncio.to_thread(archive.add, *batch)
        return batch is not None


def _split(data: bytes) -> Iterator[bytes]:
    return (data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES))
