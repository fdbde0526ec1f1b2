"""Write the recipients of a campaign, a chunk of contacts at a time; a worker that dies repeats only its chunk."""

from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Connection
from app.db.rows import find, unless_all
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.models import PauseReason
from app.domain.campaigns.planning import Plan, Planned
from app.domain.campaigns.rows import FrozenCampaign

FIND = """
SELECT id, account_id, body, audience, is_smart_encoded, is_strict, max_credits, read_until, read_after,
  sent_at, local_at FROM campaigns
WHERE id = $1 AND status = 'sending' AND NOT is_read FOR UPDATE
"""
ADD = """
INSERT INTO campaign_recipients (account_id, campaign_id, contact_id, phone, state, reason, body, segments, credits,
  original_body, due_at)
SELECT DISTINCT ON (phone) $1, $2, contact_id, phone,
  CASE WHEN reason <> '' THEN 'suppressed' WHEN due_at IS NULL THEN 'queued' ELSE 'deferred' END, coalesce(reason, ''),
  body, coalesce(segments, 1), coalesce(credits, 1), original_body, due_at
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[],
  $10::timestamptz[]) AS planned(contact_id, phone, reason, body, segments, credits, original_body, due_at)
ORDER BY phone
ON CONFLICT (campaign_id, phone) DO NOTHING
"""
GO_ON = "UPDATE campaigns SET read_after = $2, is_read = $3 WHERE id = $1"
SUM_UNSENT = """
SELECT coalesce(sum(recipients), 0)::bigint AS recipients, coalesce(sum(credits), 0)::bigint AS credits
FROM campaign_counts WHERE campaign_id = $1 AND state IN ('queued', 'deferred')
"""
FAIL = """
UPDATE campaigns SET status = 'failed', reason = $2, ended_at = $3, updated_at = $3, due_at = NULL WHERE id = $1
"""


async def take(connection: Connection, campaign_id: int, max_segments: int, now: datetime) -> PauseReason | None:
    """Write the recipients of the next chunk; after the last one, return the reason not to begin sending, if any."""
    found = await find(connection, FrozenCampaign, FIND, campaign_id)
    if found is None:
        return None
    plan = await Plan.of(connection, found, Audience.from_json(found.audience), max_segments, found.sent_at)
    chunk = await plan.read(connection, found.read_after, found.read_until)
    await _add(connection, found.account_id, campaign_id, chunk.planned)
    await connection.execute(GO_ON, campaign_id, chunk.after or "", chunk.after is None)
    return await _finish(connection, campaign_id, found.max_credits, now) if chunk.after is None else None


async def _add(connection: Connection, account_id: int, campaign_id: int, planned: Sequence[Planned]) -> None:
    if planned:
        await connection.execute(
            ADD,
            account_id,
            campaign_id,
            [each.contact_id for each in planned],
            [each.phone for each in planned],
            unless_all([each.reason for each in planned], ""),
            [each.body for each in planned],
            unless_all([each.segments for each in planned], 1),
            unless_all([each.credits for each in planned], 1),
            unless_all([each.original_body for each in planned], None),
            unless_all([each.due_at for each in planned], None),
        )


async def _finish(
    connection: Connection, campaign_id: int, max_credits: int | None, now: datetime
) -> PauseReason | None:
    """Fail a campaign without recipients; return a reason where the exact cost is more than was allowed."""
    unsent = await connection.fetchrow(SUM_UNSENT, campaign_id)
    if not unsent["recipients"]:
        await connection.execute(FAIL, campaign_id, PauseReason.no_recipients, now)
    if max_credits is not None and unsent["credits"] > max_credits:
        return PauseReason.over_max_credits
    return None
