"""From events to deliveries: each event once for each subscription that is older than it, in the order of the facts."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.db.engine import UNREACHABLE, Connection, Database
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify
from app.domain.live.feed import KINDS
from app.domain.webhooks import ownership, payloads, signing
from app.domain.webhooks.models import DeliveryStatus, SubscriptionStatus

BATCH = 500
LOCK = 7_236_452
"""Key of the advisory lock under which one dispatcher works at a time: a later fact never overtakes an earlier one."""

FIND_EVENTS = """
SELECT id, account_id, name, contact_id, payload, created_at FROM events
WHERE dispatched_at IS NULL ORDER BY id LIMIT $1
"""

# Their rows are held, so that none is disabled or ended before its deliveries can be seen.
FIND_SUBSCRIPTIONS = """
SELECT id, account_id, kind, target_url, events, status, maker_id, created_at
FROM webhook_subscriptions
WHERE account_id = ANY($1::bigint[]) AND status <> 'removed' ORDER BY id FOR KEY SHARE
"""

ADD_DELIVERIES = """
INSERT INTO webhook_deliveries (account_id, subscription_id, event_id, event, webhook_id, contact_id, body, status,
  next_attempt_at, created_at)
SELECT account_id, subscription_id, event_id, event, webhook_id, contact_id, body, status,
  CASE WHEN status = 'pending' THEN $9::timestamptz END, $9
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::text[])
  AS d(account_id, subscription_id, event_id, event, webhook_id, contact_id, body, status)
ON CONFLICT DO NOTHING
"""

WAKE = """
UPDATE webhook_subscriptions SET wake_at = greatest($2, open_until)
WHERE id = ANY($1::bigint[]) AND (wake_at IS NULL OR wake_at > greatest($2, open_until))
"""

# The subquery keeps the numbers in the order of the array; the lock keeps them in the order of the batches.
MARK = """
UPDATE events SET dispatched_at = $3, position = placed.position
FROM (
  SELECT id, CASE WHEN is_live THEN nextval('event_positions') END AS position
  FROM unnest($1::bigint[], $2::boolean[]) AS event(id, is_live)
) placed
WHERE events.id = placed.id
"""

IS_DUE = "SELECT EXISTS (SELECT FROM events WHERE dispatched_at IS NULL)"

Reaction = Callable[[Connection, Sequence[Any]], Awaitable[None]]
"""Does what follows from events, in the transaction that dispatches them: neither happens without the other."""

Watcher = Callable[[Sequence[Any]], Awaitable[None]]
"""Hears of events that were dispatched, after the commit; a process that dies in between tells it of none."""


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Fans events out to deliveries, and has areas react to them.

    A reaction that fails by a defect of ours is undone, reported, and holds up nothing else; one for which the
    database was not there, or which another transaction got in the way of, is run again with the whole batch.
    """

    database: Database
    clock: Clock
    notify: Notify
    reactions: Sequence[Reaction] = ()
    watchers: Sequence[Watcher] = ()

    async def run(self) -> bool:
        """Dispatch one batch; return True when more may wait."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            events = await connection.fetch(FIND_EVENTS, BATCH)
            fanned_out = await self._fan_out(connection, events)
            for react in self.reactions:
                await _react(react, connection, events)
            live = [event["name"] in KINDS for event in events]
            await connection.execute(MARK, [event["id"] for event in events], live, self.clock.now())
        if fanned_out:
            self.notify("webhooks")
        for watch in self.watchers:
            await watch(events)
        return await self.due()

    async def due(self) -> bool:
        """Tell whether an event waits."""
        return await self.database.pool.fetchval(IS_DUE)

    async def _fan_out(self, connection: Connection, events: Sequence[Any]) -> bool:
        wanted = await self._pair(connection, events)
        if not wanted:
            return False
        now = self.clock.now()
        await connection.execute(
            ADD_DELIVERIES,
            [event["account_id"] for event, _ in wanted],
            [subscription["id"] for _, subscription in wanted],
            [event["id"] for event, _ in wanted],
            [payloads.name_for(subscription["kind"], event["name"]) for event, subscription in wanted],
            [signing.webhook_id(event["created_at"], event["id"]) for event, _ in wanted],
            [event["contact_id"] for event, _ in wanted],
            [_body(event, subscription) for event, subscription in wanted],
            [_first_status(subscription) for _, subscription in wanted],
            now,
        )
        await connection.execute(WAKE, sorted({subscription["id"] for _, subscription in wanted}), now)
        return True

    async def _pair(self, connection: Connection, events: Sequence[Any]) -> list[tuple[Any, Any]]:
        accounts = list({event["account_id"] for event in events})
        subscriptions: dict[tuple[int, str], list[Any]] = defaultdict(list)
        found = await connection.fetch(FIND_SUBSCRIPTIONS, accounts)
        for row in await ownership.end_orphans(connection, found, self.clock.now()):
            for name in row["events"]:
                subscriptions[row["account_id"], name].append(row)
        return [
            (event, subscription)
            for event in events
            for subscription in subscriptions[event["account_id"], event["name"]]
            if subscription["created_at"] <= event["created_at"]
        ]


async def _react(react: Reaction, connection: Connection, events: Sequence[Any]) -> None:
    try:
        async with connection.transaction():
            await react(connection, events)
    except UNREACHABLE:
        raise
    except Exception as error:
        context = {"message": f"events up to {events[-1]['id']} were not reacted to", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)


def _body(event: Any, subscription: Any) -> bytes:
    return payloads.serialize(subscription["kind"], event["name"], event["payload"], event["created_at"])


def _first_status(subscription: Any) -> str:
    disabled = subscription["status"] == SubscriptionStatus.disabled
    return DeliveryStatus.skipped if disabled else DeliveryStatus.pending
