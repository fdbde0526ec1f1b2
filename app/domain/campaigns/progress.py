"""Folds the counts of recipients, and shows the progress of campaigns live: one update of a campaign a second."""

from dataclasses import dataclass

from app.db.engine import Connection, Database
from app.domain.campaigns.events import CampaignProgress
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.kernel.unit_of_work import Notify

HOLDS = 7_236_455
"""Seed of the keys of the advisory locks of folding, one for each campaign."""

AT_ONCE = 50

FIND = f"""
WITH RECURSIVE changed AS (
  (SELECT campaign_id FROM campaign_counts WHERE NOT is_folded ORDER BY campaign_id LIMIT 1)
  UNION ALL
  SELECT (SELECT c.campaign_id FROM campaign_counts c WHERE NOT c.is_folded AND c.campaign_id > l.campaign_id
    ORDER BY c.campaign_id LIMIT 1)
  FROM changed l WHERE l.campaign_id IS NOT NULL
)
SELECT campaign_id FROM changed WHERE campaign_id IS NOT NULL
  AND pg_try_advisory_xact_lock(hashint8extended(campaign_id, {HOLDS})) LIMIT {AT_ONCE}
"""
LOCK = f"SELECT pg_advisory_xact_lock(hashint8extended($1, {HOLDS}))"
"""Wait until nobody folds the counts of the campaign `$1`, and let nobody begin until the transaction ends."""

FOLD = """
WITH gone AS (
  DELETE FROM campaign_counts WHERE campaign_id = ANY($1::bigint[]) RETURNING *
), folded AS (
  INSERT INTO campaign_counts (account_id, campaign_id, state, reason, recipients, segments, credits, is_folded)
  SELECT account_id, campaign_id, state, reason, sum(recipients), sum(segments), sum(credits), true FROM gone
  GROUP BY account_id, campaign_id, state, reason
  HAVING sum(recipients) <> 0 OR sum(segments) <> 0 OR sum(credits) <> 0
)
SELECT DISTINCT account_id, campaign_id FROM gone ORDER BY campaign_id
"""
IS_DUE = "SELECT EXISTS (SELECT FROM campaign_counts WHERE NOT is_folded)"


@dataclass(frozen=True, slots=True)
class Progress:
    """Folds the counts of campaigns; the poller runs it once a second."""

    database: Database
    notify: Notify

    async def run(self) -> bool:
        """Fold the counts of campaigns that have changed, and record that they have."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            found = await connection.fetch(FIND)
            if found:
                await _fold(connection, [row["campaign_id"] for row in found])
        if found:
            self.notify("events")
        return False

    async def due(self) -> bool:
        """Return whether counts have changed."""
        return await self.database.pool.ask(IS_DUE)


async def _fold(connection: Connection, ids: list[int]) -> None:
    folded = await connection.fetch(FOLD, ids)
    changed = [Recorded(row["account_id"], CampaignProgress(campaign_id=row["campaign_id"])) for row in folded]
    await outbox.record_all(connection, changed)
