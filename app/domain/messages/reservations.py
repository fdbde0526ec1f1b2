"""Reserve tokens of sending numbers for texts that their callers hand off themselves."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from app.db import rows
from app.db.engine import Connection
from app.domain.messages import pacing
from app.domain.messages.eligibility.gates import LONGEST_WAIT
from app.domain.messages.pacing import number_bucket
from app.domain.numbers import sql as numbers

MOST_AHEAD = 1000
"""The number of texts of a lane that are counted before one; more where a pace lets more leave in `LONGEST_WAIT`."""

FIND = f"""
SELECT w.number, w.lane, n.parts_per_second, b.free_at, c.free_at AS carrier_free_at, ahead.parts AS parts_ahead
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w(number, carrier, lane) {numbers.join_rate("w.number")}
LEFT JOIN token_buckets b ON b.kind = 'number' AND b.name = w.number
LEFT JOIN token_buckets c ON c.kind = 'carrier' AND c.name = w.carrier
CROSS JOIN LATERAL (
  SELECT coalesce(sum(segments), 0)::bigint AS parts FROM generate_series(0, w.lane) AS l(lane) CROSS JOIN LATERAL (
    SELECT segments FROM outgoing o
    WHERE n.parts_per_second IS NOT NULL AND o.lane = l.lane AND o.carrier = w.carrier AND o.number = w.number
      AND o.claimed_until IS NULL AND o.due_at <= $4
    ORDER BY o.due_at, o.message_id LIMIT greatest({MOST_AHEAD}, {LONGEST_WAIT} * n.parts_per_second + 1)::bigint
  ) waiting
) ahead
"""
"""The paces of numbers; `parts_ahead` are the SMS parts that wait there in the same lane or in more urgent ones.

A long backlog is not read to its end, since the transaction holds up the sends of all accounts.
"""


class Wanted(NamedTuple):
    """A sending number, its carrier, and the lane of a text."""

    number: str
    carrier: str
    lane: int


class _State(NamedTuple):
    number: str
    lane: int
    parts_per_second: float | None
    free_at: datetime | None
    carrier_free_at: datetime | None
    parts_ahead: int


@dataclass(slots=True)
class Reservations:
    """The tokens that the sends of one batch reserve, in the transaction that accepts them."""

    now: datetime
    _states: dict[tuple[str, int], _State] = field(default_factory=dict)
    _seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))

    async def read(self, connection: Connection, wanted: Iterable[Wanted]) -> None:
        """Read the paces of numbers."""
        distinct = sorted(set(wanted))
        if distinct:
            columns = [list(column) for column in zip(*distinct, strict=True)]
            states = await rows.fetch(connection, _State, FIND, *columns, self.now)
            self._states = {(state.number, state.lane): state for state in states}

    def wait(self, number: str, lane: int) -> float:
        """Return the seconds until a text may leave from a number; 0 where nothing is paced or was read."""
        state = self._states.get((number, lane))
        if state is None:
            return 0
        holds = [free_at for free_at in (state.free_at, state.carrier_free_at) if free_at]
        held = max([0.0, *((free_at - self.now).total_seconds() for free_at in holds)])
        ahead = state.parts_ahead / state.parts_per_second if state.parts_per_second else 0
        return held + ahead + self._seconds[number]

    def reserve(self, number: str, lane: int, segments: int) -> None:
        """Reserve the tokens of a text that is accepted."""
        state = self._states.get((number, lane))
        if state and state.parts_per_second:
            self._seconds[number] += segments / state.parts_per_second

    async def write(self, connection: Connection) -> None:
        """Take the reserved tokens."""
        rates = {each.number: each.parts_per_second for each in self._states.values()}
        taken = {number_bucket(number): seconds for number, seconds in self._seconds.items() if seconds}
        if taken:
            await pacing.take(connection, taken, {bucket: rates[bucket.name] or 1 for bucket in taken}, self.now)
