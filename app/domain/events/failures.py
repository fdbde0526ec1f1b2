"""Reactions that failed for an event: retried with increasing waits, then set aside for the operator."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.db.engine import Database
from app.domain.events import sql
from app.domain.events.isolation import Failure, isolate
from app.domain.events.reactions import AccountsBusy, Batch, OutboxEvent, Reaction
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify

BATCH = 100
WAITS = tuple(timedelta(seconds=seconds) for seconds in (1, 10, 60, 600, 3600, 6 * 3600))
"""The waits after each failed attempt. After the last one the failure is set aside."""

BUSY = timedelta(seconds=1)
"""The wait of a failure if another transaction has locked rows of its account."""

MAX_ERROR = 1000

ADD = """
INSERT INTO failed_reactions (account_id, event_id, reaction, error, next_attempt_at, failed_at)
SELECT account_id, event_id, reaction, error, $5, $6
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS f(account_id, event_id, reaction, error)
"""

# A transaction that locked an account before, such as an erasure, may have deleted its failures: read them under the
# lock.
TAKE_DUE = f"""
WITH due AS MATERIALIZED (
  SELECT account_id, event_id, reaction FROM failed_reactions
  WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $2
), held AS MATERIALIZED (
  SELECT account_id FROM (SELECT DISTINCT account_id FROM due) d
  WHERE pg_try_advisory_xact_lock({sql.KEY.format(account_id="account_id")})
)
SELECT f.reaction, f.attempts, e.id, e.account_id, e.name, e.contact_id, e.payload, e.created_at
FROM failed_reactions f JOIN due USING (account_id, event_id, reaction) JOIN held USING (account_id)
JOIN events e ON e.id = f.event_id ORDER BY f.event_id FOR UPDATE OF f SKIP LOCKED
"""

IS_DUE = "SELECT EXISTS (SELECT FROM failed_reactions WHERE next_attempt_at <= $1)"

POSTPONE = """
UPDATE failed_reactions f SET error = n.error, attempts = n.attempts, next_attempt_at = n.next_attempt_at
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])
  AS n(account_id, event_id, reaction, error, attempts, next_attempt_at)
WHERE f.account_id = n.account_id AND f.event_id = n.event_id AND f.reaction = n.reaction
"""

POSTPONE_BUSY = """
UPDATE failed_reactions SET next_attempt_at = $2 WHERE account_id = ANY($1::bigint[]) AND next_attempt_at < $2
"""

DELETE = """
DELETE FROM failed_reactions f USING unnest($1::bigint[], $2::bigint[]) AS done(account_id, event_id)
WHERE f.account_id = done.account_id AND f.event_id = done.event_id AND f.reaction = $3
"""


@dataclass(frozen=True, slots=True)
class Retries:
    """Retries failed reactions; each retry and its record are one transaction."""

    database: Database
    clock: Clock
    notify: Notify
    reactions: Sequence[Reaction]

    async def run(self) -> bool:
        """Retry a batch of failed reactions; return True when more may be due."""
        now, topics = self.clock.now(), set[str]()
        try:
            async with self.database.pool.acquire() as connection, connection.transaction():
                await connection.execute(sql.BEGIN)
                rows = await connection.fetch(TAKE_DUE, now, BATCH)
                for name, due in _group(rows).items():
                    await self._retry(name, due, Batch(connection, [event for event, _ in due], now, topics))
        except AccountsBusy as busy:
            await self.database.pool.execute(POSTPONE_BUSY, list(busy.account_ids), now + BUSY)
            return True
        for topic in topics:
            self.notify(topic)
        return bool(rows)

    async def due(self) -> bool:
        """Return whether a retry is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _retry(self, name: str, due: Sequence[tuple[OutboxEvent, int]], batch: Batch) -> None:
        failed = await isolate(self._find(name), batch)
        again = {failure.event.id for failure in failed}
        done = [event for event in batch.events if event.id not in again]
        await batch.connection.execute(DELETE, [each.account_id for each in done], [each.id for each in done], name)
        if failed:
            await _postpone(batch, failed, {event.id: attempts + 1 for event, attempts in due})

    def _find(self, name: str) -> Reaction:
        async def refuse(_: Batch) -> None:
            raise LookupError(f"There is no reaction {name}.")

        return next((each for each in self.reactions if each.name == name), Reaction(name, refuse))


async def record(batch: Batch, failed: Sequence[Failure]) -> None:
    """Record the events that made a reaction fail, and log the first error."""
    await batch.connection.execute(ADD, *_columns(failed), batch.now + WAITS[0], batch.now)
    _report(failed, "is tried again later")


async def _postpone(batch: Batch, failed: Sequence[Failure], attempts: Mapping[int, int]) -> None:
    counts = [attempts[failure.event.id] for failure in failed]
    next_attempts = [batch.now + WAITS[count - 1] if count <= len(WAITS) else None for count in counts]
    await batch.connection.execute(POSTPONE, *_columns(failed), counts, next_attempts)
    if set_aside := [failure for failure, at in zip(failed, next_attempts, strict=True) if at is None]:
        _report(set_aside, "was set aside")


def _group(rows: Sequence[Sequence[Any]]) -> Mapping[str, list[tuple[OutboxEvent, int]]]:
    """Return the events by reaction, each with its number of attempts."""
    groups: dict[str, list[tuple[OutboxEvent, int]]] = defaultdict(list)
    for reaction, attempts, *event in rows:
        groups[reaction].append((OutboxEvent(*event), attempts))
    return groups


def _columns(failed: Sequence[Failure]) -> Sequence[Sequence[object]]:
    return [
        [failure.event.account_id for failure in failed],
        [failure.event.id for failure in failed],
        [failure.reaction for failure in failed],
        [repr(failure.error).replace("\x00", "")[:MAX_ERROR] for failure in failed],
    ]


def _report(failed: Sequence[Failure], consequence: str) -> None:
    first = failed[0]
    text = f"reaction {first.reaction} failed for {len(failed)} events, first for {first.event.id}, and {consequence}"
    asyncio.get_running_loop().call_exception_handler({"message": text, "exception": first.error})
