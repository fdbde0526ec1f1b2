"""Write the recipients of a campaign, some chunks of contacts at a time; a worker that dies repeats only these."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Connection
from app.db.rows import find, unless_all
from app.domain.campaigns import notices
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.models import PauseReason
from app.domain.campaigns.planning import Candidate, Plan, Planned, find_last
from app.domain.campaigns.rows import FrozenCampaign

SECONDS = 0.2
"""The time after which a step begins no further chunk: a pause or a cancellation waits for it."""

FIND = """
SELECT id, account_id, body, audience, is_smart_encoded, is_strict, max_credits, account_settings, read_until,
  read_after, sent_at, local_at FROM campaigns
WHERE id = $1 AND status = 'sending' AND NOT is_read FOR UPDATE
"""
# No phone comes twice: those of an account are unique, and each chunk begins after the phones of the one before it.
ADD = """
INSERT INTO campaign_recipients (account_id, campaign_id, contact_id, phone, state, reason, body, segments, credits,
  original_body, due_at)
SELECT $1, $2, contact_id, phone,
  CASE WHEN reason <> '' THEN 'suppressed' WHEN due_at IS NULL THEN 'queued' ELSE 'deferred' END, coalesce(reason, ''),
  body, coalesce(segments, 1), coalesce(credits, 1), original_body, due_at
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[],
  $10::timestamptz[]) AS planned(contact_id, phone, reason, body, segments, credits, original_body, due_at)
"""
GO_ON = "UPDATE campaigns SET read_after = $2, is_read = $3 WHERE id = $1"
SUM_UNSENT = """
SELECT coalesce(sum(recipients), 0)::bigint AS recipients, coalesce(sum(credits), 0)::bigint AS credits
FROM campaign_counts WHERE campaign_id = $1 AND state IN ('queued', 'deferred')
"""
FAIL = """
UPDATE campaigns SET status = 'failed', reason = $2, ended_at = $3, updated_at = $3, due_at = NULL WHERE id = $1
RETURNING name
"""
PAUSE = """
UPDATE campaigns SET status = 'paused', reason = $2, updated_at = $3, due_at = NULL WHERE id = $1 RETURNING name
"""


async def take(connection: Connection, campaign_id: int, max_segments: int, now: datetime) -> None:
    """Write the recipients of the next chunks; after the last one, decide whether the campaign may begin sending."""
    found = await find(connection, FrozenCampaign, FIND, campaign_id)
    if found is None:
        return
    plan = await Plan.of(connection, found, Audience.from_json(found.audience), max_segments, found.sent_at)
    after = await _write(connection, found, plan)
    await connection.execute(GO_ON, campaign_id, after or "", after is None)
    if after is None:
        await _finish(connection, found, now)


async def _write(connection: Connection, campaign: FrozenCampaign, plan: Plan) -> str | None:
    """Write some chunks; return the phone after which to go on, None at the end of the audience.

    The texts of one are planned while PostgreSQL writes the chunk before it, and finds the contacts of the next.
    """
    time = asyncio.get_running_loop().time
    until = time() + SECONDS
    after: str | None = campaign.read_after
    found, planned = await plan.find(connection, campaign.read_after, campaign.read_until), Planned()
    is_last = False
    while not is_last:
        after = find_last(found)
        is_last = after is None or time() > until
        working = asyncio.create_task(_go_on(connection, campaign, planned, plan, None if is_last else after))
        try:
            planned = await plan.plan_all(found)
        finally:
            found = await working
    await _add(connection, campaign, planned)
    return after


async def _go_on(
    connection: Connection, campaign: FrozenCampaign, planned: Planned, plan: Plan, after: str | None
) -> Sequence[Candidate]:
    """Write a chunk, and find the contacts after a phone; none without one."""
    await _add(connection, campaign, planned)
    return () if after is None else await plan.find(connection, after, campaign.read_until)


async def _add(connection: Connection, campaign: FrozenCampaign, planned: Planned) -> None:
    if planned.contacts:
        await connection.execute(
            ADD,
            campaign.account_id,
            campaign.id,
            [each.contact_id for each in planned.contacts],
            [each.phone for each in planned.contacts],
            unless_all(planned.reasons, ""),
            [each.body for each in planned.texts],
            unless_all([each.segments for each in planned.texts], 1),
            unless_all(planned.credits, 1),
            unless_all([each.original_body for each in planned.texts], None),
            unless_all(planned.due, None),
        )


async def _finish(connection: Connection, campaign: FrozenCampaign, now: datetime) -> None:
    """Fail a campaign without recipients; pause one whose exact cost is more than was allowed.

    Both commit with the last recipients: no worker finds the campaign ready to send in between.
    """
    unsent = await connection.fetchrow(SUM_UNSENT, campaign.id)
    if not unsent["recipients"]:
        name = await connection.fetchval(FAIL, campaign.id, PauseReason.no_recipients, now)
        await notices.record_failure(connection, campaign.account_id, campaign.id, name)
    elif campaign.max_credits is not None and unsent["credits"] > campaign.max_credits:
        name = await connection.fetchval(PAUSE, campaign.id, PauseReason.over_max_credits, now)
        await notices.record_excess(connection, campaign.account_id, campaign.id, name)
