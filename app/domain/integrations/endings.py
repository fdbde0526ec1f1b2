"""The end of integrations with the credential of their creator, and their new creators."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.db.engine import Connection, Database, Pool
from app.domain.accounts import credentials
from app.domain.accounts import sql as accounts
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.integrations.models import Integration, IntegrationStatus
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify, UnitOfWork
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind

TOPIC = "integration_endings"
EVERY_SECONDS = 30.0
BATCH = 1000

TITLE = "The integration {name} has stopped"
ADVICE = (
    "It was paused, because the credential that it depends on has ended: an API key was revoked or expired, an "
    "application was disconnected, or a user was removed. Events that are posted to it are refused, and its waiting "
    "events and texts are kept. If you still need it, resume it on its page in the dashboard, or with: messaging "
    "integration resume {account_id} {id}"
)

FIND_ENDED = credentials.find_ended("integrations")
HOLD = "SELECT id FROM integrations WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE"
PAUSE = """
UPDATE integrations SET status = 'paused' WHERE id = ANY($1::bigint[]) AND status = 'active'
RETURNING id, account_id, name
"""
FIND_NEXT = f"""
SELECT i.id FROM integrations i
WHERE i.status = 'active' AND i.creator_id IS NOT NULL AND i.id > $1
  AND {accounts.status_of("i.account_id")} <> 'deleted'
ORDER BY i.id LIMIT $2
"""
IS_DUE = "SELECT EXISTS (SELECT FROM integrations WHERE status = 'active' AND creator_id IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class Endings:
    """Pauses the integrations whose creator has ended, also those without work; safe to run concurrently."""

    database: Database
    clock: Clock
    notify: Notify
    batch: int = BATCH

    async def run(self) -> bool:
        """Look at all active integrations that have a creator, in batches."""
        pool, after = self.database.pool, 0
        while ids := [row["id"] for row in await pool.fetch(FIND_NEXT, after, self.batch)]:
            if await pause_ended(pool, ids, self.clock.now()):
                self.notify("events")
            after = ids[-1]
        return False

    async def due(self) -> bool:
        """Return whether an active integration has a creator, which may have ended."""
        return await self.database.pool.ask(IS_DUE)


async def pause_ended(pool: Pool, ids: Sequence[int], now: datetime) -> frozenset[int]:
    """Pause the integrations whose creator's credential has ended, and tell the owners once; return their ids.

    Their work is then due no more. The rows are locked before they are paused, in case somebody just takes one over.
    """
    found = list(await _find_ended(pool, ids, now))
    if not found:
        return frozenset()
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(HOLD, found)
        ended = await _find_ended(connection, found, now)
        paused = await connection.fetch(PAUSE, list(ended))
        await outbox.record_all(connection, [_notice(**row) for row in paused])
    return ended


async def has_ended(unit: UnitOfWork, integration: Integration) -> bool:
    """Return whether the credential of an integration's creator has ended."""
    return bool(await credentials.when_ended(unit, [integration.creator_id])) if integration.creator_id else False


async def bind(unit: UnitOfWork, integration: Integration) -> None:
    """Make the actor's credential the creator of an integration; the caller locks and saves it.

    One whose creator has ended is paused, as it is shown, until it is resumed.
    """
    if await has_ended(unit, integration):
        integration.status = IntegrationStatus.paused
    integration.creator_id = await credentials.replace_creator(unit, integration.creator_id)


async def _find_ended(source: Connection | Pool, ids: Sequence[int], now: datetime) -> frozenset[int]:
    return frozenset(row["root"] for row in await source.fetch(FIND_ENDED, ids, now)) if ids else frozenset()


def _notice(account_id: int, id: int, name: str) -> Recorded:
    title, advice = TITLE.format(name=name), ADVICE.format(account_id=account_id, id=id)
    notice = OwnersNotified(kind=NoticeKind.integration, title=title, body=advice, subject_id=id)
    return Recorded(account_id, notice)
