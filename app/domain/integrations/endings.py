"""The end of integrations with the credential of their creator, and their new creators."""

from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Connection, Pool
from app.domain.accounts import credentials
from app.domain.accounts.credentials import ENDS, FOLLOW, JOIN_CREATOR, MADE_WITH
from app.domain.integrations.models import Integration
from app.domain.kernel.unit_of_work import UnitOfWork

FIND_ENDED = f"""
WITH RECURSIVE source AS (
  SELECT i.id AS root, {MADE_WITH} FROM integrations i {JOIN_CREATOR.format(creator_id="i.creator_id")}
  WHERE i.id = ANY($1::bigint[])
  {FOLLOW}
), ends AS ({ENDS})
SELECT root FROM ends WHERE revoked_at IS NOT NULL OR expires_at <= $2
"""
HOLD = "SELECT id FROM integrations WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE"
PAUSE = "UPDATE integrations SET status = 'paused' WHERE id = ANY($1::bigint[]) AND status = 'active'"


async def pause_ended(pool: Pool, ids: Sequence[int], now: datetime) -> frozenset[int]:
    """Pause the integrations whose creator's credential has ended; return their ids.

    Their work is then due no more. The rows are locked before they are paused, in case somebody just takes one over.
    """
    if not await _find_ended(pool, ids, now):
        return frozenset()
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(HOLD, ids)
        ended = await _find_ended(connection, ids, now)
        await connection.execute(PAUSE, list(ended))
    return ended


async def has_ended(unit: UnitOfWork, integration: Integration) -> bool:
    """Return whether the credential of an integration's creator has ended."""
    return bool(await credentials.when_ended(unit, [integration.creator_id])) if integration.creator_id else False


async def bind(unit: UnitOfWork, integration: Integration) -> None:
    """Make the actor's credential the creator of an integration; the caller saves it."""
    integration.creator_id = await credentials.replace_creator(unit, integration.creator_id)


async def _find_ended(source: Connection | Pool, ids: Sequence[int], now: datetime) -> frozenset[int]:
    return frozenset(row["root"] for row in await source.fetch(FIND_ENDED, ids, now)) if ids else frozenset()
