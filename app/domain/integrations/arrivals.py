"""Stores the events that arrive, and counts them: those of an account in batches, each on one connection.

Events of one account, however many, so leave connections to the others. The events of an integration that is locked
wait, with those of its account only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.db.engine import UNREACHABLE, Database
from app.domain.kernel.account_queues import AccountQueues
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import NotFound
from app.domain.kernel.micro_batcher import serve_parts
from app.domain.kernel.unit_of_work import Notify

MAX_BATCH = 32
WAITING = 4

COUNT = """
WITH told AS (
  SELECT id, count(*) FILTER (WHERE is_signed) AS received, count(*) FILTER (WHERE NOT is_signed) AS refused
  FROM unnest($1::bigint[], $2::boolean[]) AS arrived(id, is_signed) GROUP BY id
), locked AS (
  SELECT i.id FROM integrations i WHERE i.id = ANY($1) AND i.status <> 'removed' ORDER BY i.id FOR NO KEY UPDATE
)
UPDATE integrations i SET received = i.received + told.received, refused = i.refused + told.refused,
  last_received_at = CASE WHEN told.received > 0 THEN $3 ELSE i.last_received_at END,
  last_refused_at = CASE WHEN told.refused > 0 THEN $3 ELSE i.last_refused_at END
FROM told JOIN locked ON locked.id = told.id WHERE i.id = told.id RETURNING i.id
"""
STORE = """
INSERT INTO integration_events (account_id, integration_id, key, event, body, due_at, received_at)
SELECT i.account_id, i.id, e.key, e.event, e.body, $5, $5
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS e(integration_id, key, event, body, n)
JOIN integrations i ON i.id = e.integration_id AND i.status <> 'removed' ORDER BY e.n
ON CONFLICT (integration_id, key) DO NOTHING RETURNING integration_id, key, id
"""


class SignedEvent(NamedTuple):
    """An event to store: the key of its repetitions, the tool's name of it, and its body."""

    key: str
    event: str
    body: str


class Arrival(NamedTuple):
    """An event that arrived for an integration; one that is not signed is counted only."""

    account_id: int
    integration_id: int
    signed: SignedEvent | None


Stored = int | Exception | None
"""The id of a stored event, the fault, or None for an event that was stored before or is not signed."""


@dataclass(slots=True)
class Arrivals:
    """Stores and counts events; at most `waiting` accounts at once, each on one connection."""

    database: Database
    clock: Clock
    notify: Notify
    waiting: int = WAITING
    _queues: AccountQueues[Arrival, Stored] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with empty queues."""
        self._queues = AccountQueues(self._serve, MAX_BATCH, self.waiting)

    async def add(self, arrival: Arrival) -> int | None:
        """Count an event, and store a signed one; return its id after the commit, None for one stored before.

        Raises `NotFound` for a signed event of an integration that was removed.
        """
        stored = await self._queues(arrival.account_id, arrival)
        if isinstance(stored, Exception):
            raise stored
        return stored

    async def close(self) -> None:
        """Wait until all events are stored."""
        await self._queues.close()

    async def _serve(self, arrivals: Sequence[Arrival]) -> Sequence[Stored]:
        """Store a batch; if it fails, store each event alone, so that only the faulty ones fail."""
        try:
            stored = await self._store(arrivals)
        except Exception as cause:
            if len(arrivals) == 1 or isinstance(cause, UNREACHABLE):
                return [cause] * len(arrivals)
            return await serve_parts(self._serve, arrivals, range(len(arrivals)))
        if any(isinstance(each, int) for each in stored):
            self.notify("integrations")
        return stored

    async def _store(self, arrivals: Sequence[Arrival]) -> Sequence[Stored]:
        now = self.clock.now()
        ids, are_signed = [each.integration_id for each in arrivals], [each.signed is not None for each in arrivals]
        events = [(each.integration_id, *each.signed) for each in arrivals if each.signed]
        async with self.database.pool.acquire() as connection, connection.transaction():
            present = {id for (id,) in await connection.fetch(COUNT, ids, are_signed, now)}
            columns = map(list, zip(*events, strict=True)) if events else ()
            rows = await connection.fetch(STORE, *columns, now) if events else []
        new = {(integration_id, key): id for integration_id, key, id in rows}
        return [_result(each, new) if each.integration_id in present else _missing(each) for each in arrivals]


def _result(arrival: Arrival, new: dict[tuple[int, str], int]) -> int | None:
    """Return the id of an event, which the first of several equal ones gets."""
    return new.pop((arrival.integration_id, arrival.signed.key), None) if arrival.signed else None


def _missing(arrival: Arrival) -> NotFound | None:
    return NotFound(kind="integration", id=arrival.integration_id) if arrival.signed else None
