"""Work of campaigns in the background: start the scheduled, write recipients, accept texts, finish, cancel.

Each step of a campaign is one transaction, under an advisory lock that lets one worker at a time take a step of it.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.db.engine import UNREACHABLE, Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.campaigns import breaker, enqueue, notices, progress, queries, senders, service, snapshot
from app.domain.campaigns.batches import Source
from app.domain.campaigns.concurrency import ConcurrentAcceptance
from app.domain.campaigns.enqueue import Enqueued
from app.domain.campaigns.models import Campaign, CampaignStatus, PauseReason
from app.domain.campaigns.reasons import DEFERRED
from app.domain.campaigns.rows import Attester, DueCampaign
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import sql as messages
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.sending import cancellation

HOLDS = 7_236_454
"""Seed of the keys of this area's advisory locks, one for each campaign."""

SOON = timedelta(milliseconds=100)
"""The time after which a campaign with a full window, or with texts in flight, is looked at again."""

AFTER_FAULT = timedelta(seconds=1)
"""The time after which a step that failed is tried again."""

DEFERRED_LOOK = timedelta(seconds=10)
"""The time after which a campaign is looked at again all of whose texts in flight wait for their recipients' hours."""

CANCELED_AT_ONCE = 100
QUEUED_AT_ONCE = 2000
DELETED_AT_ONCE = 5000
"""The number of texts that one step refunds, of recipients without a text that it cancels, and of those it deletes."""

# Nothing leaves the service by a step itself: what claims its texts for a call commits after it, and waits for the disk
# of both. A step that is lost with its server is taken again.
# Campaigns have few recipients or very many, and PostgreSQL keeps plans for the usual number: with a bitmap of all
# results of a campaign, such a plan would read and sort them in each step rather than go through an index in its order.
SETTINGS = """
  set_config('synchronous_commit', 'off', true) AS commits, set_config('enable_bitmapscan', 'off', true) AS plans
"""
TAKE = f"""
SELECT id, account_id, status, is_read, actor, attested_at, phone_number_id, is_deleted, due_at FROM (
  SELECT *, deleted_at IS NOT NULL AS is_deleted FROM campaigns WHERE due_at <= $1 ORDER BY due_at, id
  LIMIT 100 OFFSET 0
) due, {SETTINGS} WHERE pg_try_advisory_xact_lock(hashint8extended(id, {HOLDS})) LIMIT 1
"""
IS_DUE = "SELECT EXISTS (SELECT FROM campaigns WHERE due_at <= $1)"
COUNT = f"""
SELECT coalesce(sum(recipients) FILTER (WHERE state = 'claimed'), 0)::bigint AS claimed,
  coalesce(sum(recipients) FILTER (WHERE state = 'claimed' AND reason = '{DEFERRED}'), 0)::bigint AS deferred,
  coalesce(sum(recipients) FILTER (WHERE state IN ('queued', 'deferred')), 0)::bigint AS waiting
FROM campaign_counts WHERE campaign_id = $1
"""
NOTE_DEFERRED = f"""
UPDATE campaign_recipients r SET reason = '{DEFERRED}' WHERE campaign_id = $1 AND state = 'claimed' AND reason = ''
  AND ({messages.is_put_off("r.message_id", "$2::timestamptz")}) IS TRUE
"""
"""Note which texts a hand-off put off after the time `$2`: they keep no others waiting."""

FIND_WAITING = f"""
SELECT message_id FROM campaign_recipients r WHERE campaign_id = $1 AND state = 'claimed'
  AND {cancellation.IS_WAITING.format(id="r.message_id")}
ORDER BY id LIMIT {CANCELED_AT_ONCE}
"""
IS_UNFINISHED = """
SELECT EXISTS (SELECT FROM campaign_recipients WHERE campaign_id = $1 AND state IN ('queued', 'deferred', 'claimed'))
"""
MARK_CANCELED = """
UPDATE campaign_recipients SET state = 'canceled', reason = '', credits = 0, settled_at = $2
WHERE message_id = ANY($1::bigint[]) AND state = 'claimed'
"""
# The rows are found where they were read, whatever plan PostgreSQL keeps: one of a time with few recipients would else
# compare each of the next with all others. A row that was changed meanwhile is left to the next step.
CANCEL_QUEUED = """
UPDATE campaign_recipients r SET state = 'canceled', body = '', original_body = NULL, due_at = NULL, credits = 0,
  settled_at = $2
FROM (
  SELECT ctid AS place_of_row FROM campaign_recipients
  WHERE campaign_id = $1 AND state IN ('queued', 'deferred') LIMIT $3
) next WHERE r.ctid = next.place_of_row RETURNING r.id
"""
LOOK_AGAIN = "UPDATE campaigns SET due_at = $2 WHERE id = $1 AND due_at = $3"
"""Set the time of the next step, unless a change of the campaign, beside this step, has set or removed it."""

RETRY = f"""
UPDATE campaigns c SET due_at = CASE WHEN can_go_on THEN $2::timestamptz ELSE $3 END,
  status = CASE WHEN can_go_on THEN 'sending' ELSE c.status END,
  reason = CASE WHEN can_go_on THEN '' ELSE c.reason END
FROM (
  SELECT p.id, a.balance >= coalesce(
    (SELECT credits FROM campaign_recipients WHERE campaign_id = p.id AND state = 'queued' ORDER BY id LIMIT 1),
    (SELECT credits FROM campaign_recipients WHERE campaign_id = p.id AND due_at IS NOT NULL ORDER BY due_at, id
      LIMIT 1), 0) AS can_go_on
  FROM campaigns p {accounts.join("p.account_id")} WHERE p.id = $1
) found WHERE c.id = found.id AND c.status = 'paused' AND c.reason = 'insufficient_credits'
"""
"""Let a campaign that was paused without credits go on when the account can pay for its next text."""

FIND_NEXT = "SELECT min(due_at) FROM campaign_recipients WHERE campaign_id = $1 AND due_at IS NOT NULL"
COMPLETE = """
UPDATE campaigns SET status = 'completed', ended_at = $2, updated_at = $2, due_at = NULL
WHERE id = $1 AND status = 'sending' AND is_read RETURNING name
"""


DELETE_RECIPIENTS = """
DELETE FROM campaign_recipients r USING (
  SELECT ctid AS place_of_row FROM campaign_recipients WHERE campaign_id = $1 ORDER BY id LIMIT $2
) next WHERE r.ctid = next.place_of_row RETURNING r.id
"""
DELETE_COUNTS = "DELETE FROM campaign_counts WHERE campaign_id = $1"
DELETE = """
DELETE FROM campaigns WHERE id = $1 AND NOT EXISTS (SELECT FROM campaign_recipients WHERE campaign_id = $1)
"""


@dataclass(frozen=True, slots=True)
class CampaignRunner:
    """Takes steps of due campaigns; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify
    concurrent: ConcurrentAcceptance = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the concurrent acceptance of batches."""
        object.__setattr__(self, "concurrent", ConcurrentAcceptance(self.database.pool, self.acceptor))

    async def run(self) -> bool:
        """Take one step of the campaign that has been due longest; return whether there was one."""
        campaign: DueCampaign | None = None
        try:
            async with self._due() as (connection, campaign):
                if campaign is None:
                    return False
                reason = await self._step(connection, campaign)
        except enqueue.RecipientsChanged:
            return True
        except Exception:
            if campaign:
                await self._postpone(campaign)
                self._notify_all()
            raise
        self._notify_all()
        if campaign.is_deleted:
            return True
        if reason:
            await self._stop(campaign, reason)
        elif campaign.status == CampaignStatus.scheduled:
            await self._start(campaign)
        return True

    def _notify_all(self) -> None:
        self.notify("messages")
        self.notify("events")

    async def _postpone(self, campaign: DueCampaign) -> None:
        """Let the other campaigns that are due go first after a step that failed."""
        with suppress(*UNREACHABLE):
            again = self.clock.now() + AFTER_FAULT
            await self.database.pool.execute(LOOK_AGAIN, campaign.id, again, campaign.due_at)

    async def due(self) -> bool:
        """Return whether a campaign is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    @asynccontextmanager
    async def _due(self) -> AsyncGenerator[tuple[Connection, DueCampaign | None]]:
        async with self.database.pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow(TAKE, self.clock.now())
            yield connection, DueCampaign(*row) if row else None

    async def _step(self, connection: Connection, campaign: DueCampaign) -> PauseReason | None:
        now = self.clock.now()
        if campaign.is_deleted:
            await self._delete(connection, campaign)
            return None
        match campaign.status:
            case CampaignStatus.sending if campaign.is_read:
                return await self._send(connection, campaign, now)
            case CampaignStatus.sending | CampaignStatus.paused if not await self._may_send(connection, campaign, now):
                return PauseReason.credential_ended
            case CampaignStatus.sending:
                await snapshot.take(connection, campaign.id, self.acceptor.max_segments, now)
            case CampaignStatus.paused:
                await connection.execute(RETRY, campaign.id, now, now + service.RETRY)
            case CampaignStatus.canceled:
                await self._cancel(connection, campaign, now)
            case _:
                pass
        return None

    async def _may_send(self, connection: Connection, campaign: DueCampaign, now: datetime) -> bool:
        attester = Attester(campaign.actor, campaign.attested_at)
        return await senders.may_send(connection, campaign.account_id, attester, now)

    async def _send(self, connection: Connection, campaign: DueCampaign, now: datetime) -> PauseReason | None:
        if fault := await breaker.find_fault(connection, campaign.id):
            return fault
        counts = await connection.fetchrow(COUNT, campaign.id)
        if not counts["waiting"] and not counts["claimed"]:
            if name := await connection.fetchval(COMPLETE, campaign.id, now):
                await notices.record_completion(connection, campaign.account_id, campaign.id, name)
            return None
        room = enqueue.WINDOW - (counts["claimed"] - counts["deferred"])
        if counts["waiting"] and room > 0:
            done = await self._accept(connection, campaign, room, now)
            if done.stops or done.decided:
                return done.stops
        elif await self._must_hold(connection, campaign, counts["waiting"], now):
            return PauseReason.credential_ended
        else:
            await connection.execute(NOTE_DEFERRED, campaign.id, now + DEFERRED_LOOK)
        await connection.execute(
            LOOK_AGAIN, campaign.id, await self._next_look(connection, campaign.id, counts, now), campaign.due_at
        )
        return None

    async def _must_hold(self, connection: Connection, campaign: DueCampaign, waiting: int, now: datetime) -> bool:
        """Return whether the credential of the sender has ended while texts wait, for acceptance or for a worker."""
        if await self._may_send(connection, campaign, now):
            return False
        return waiting > 0 or await connection.fetchval(FIND_WAITING, campaign.id) is not None

    async def _accept(self, connection: Connection, campaign: DueCampaign, room: int, now: datetime) -> Enqueued:
        source = Source(campaign.account_id, campaign.id, campaign.phone_number_id)
        if decided := await self.concurrent.accept(connection, source, room, now):
            return Enqueued(decided)
        return await enqueue.accept_locked(connection, self.acceptor, source, room, now)

    async def _next_look(
        self, connection: Connection, campaign_id: int, counts: Mapping[str, int], now: datetime
    ) -> datetime:
        """Return when there may be something to do: soon while texts wait for their carriers, else at the next hour."""
        if counts["claimed"] > counts["deferred"]:
            return now + SOON
        next_due = await connection.fetchval(FIND_NEXT, campaign_id)
        if not counts["deferred"]:
            return max(next_due or now, now + SOON)
        latest = now + DEFERRED_LOOK
        return latest if next_due is None else min(max(next_due, now + SOON), latest)

    async def _cancel(self, connection: Connection, campaign: DueCampaign, now: datetime) -> None:
        """Cancel recipients of a canceled campaign; refund its texts that have not left.

        Those in flight come to their own results.
        """
        [account] = await connection.fetch(accounts.LOCK, [campaign.account_id], enqueue.PATIENCE)
        ids = [row["message_id"] for row in await connection.fetch(FIND_WAITING, campaign.id)]
        actor = f"campaign:{campaign.id}"
        canceled = await cancellation.cancel(connection, campaign.account_id, account["balance"], ids, actor, now)
        await connection.execute(MARK_CANCELED, canceled, now)
        queued = await connection.fetch(CANCEL_QUEUED, campaign.id, now, QUEUED_AT_ONCE)
        is_unfinished = await connection.fetchval(IS_UNFINISHED, campaign.id)
        next_look = now if canceled or queued else (now + SOON if is_unfinished else None)
        await connection.execute(LOOK_AGAIN, campaign.id, next_look, campaign.due_at)

    async def _delete(self, connection: Connection, campaign: DueCampaign) -> None:
        """Delete recipients of a deleted campaign; after the last of them, the campaign."""
        if not await connection.fetch(DELETE_RECIPIENTS, campaign.id, DELETED_AT_ONCE):
            await connection.execute(progress.LOCK, campaign.id)
            await connection.execute(DELETE_COUNTS, campaign.id)
            await connection.execute(DELETE, campaign.id)

    async def _stop(self, campaign: DueCampaign, reason: PauseReason) -> None:
        async with self._unit(campaign) as unit:
            if found := await self._lock_unchanged(unit, campaign):
                await service.stop(unit, found, reason)

    async def _start(self, campaign: DueCampaign) -> None:
        async with self._unit(campaign) as unit:
            if found := await self._lock_unchanged(unit, campaign):
                await service.start(unit, found)

    async def _lock_unchanged(self, unit: UnitOfWork, campaign: DueCampaign) -> Campaign | None:
        """Return a campaign, locked; None if it was changed or deleted after the step, which set no other time."""
        with suppress(NotFound):
            found = await queries.get(unit, campaign.id, lock=True)
            if (found.status, found.due_at) == (campaign.status, campaign.due_at):
                return found
        return None

    @asynccontextmanager
    async def _unit(self, campaign: DueCampaign) -> AsyncGenerator[UnitOfWork]:
        actor = Actor(campaign.account_id, frozenset(), f"campaign:{campaign.id}")
        async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
            yield unit
