"""Token buckets: bound how many SMS parts a second leave from a sending number, and through a carrier.

A full bucket lets the parts of one second leave at once. A text may leave while its buckets hold any token; a text
with more parts than tokens delays the texts after it. The state of a bucket is one instant, `free_at`: the time at
which the parts that have left are paid for (the virtual scheduling of the generic cell rate algorithm, ITU-T I.371).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select

from app.db import rows
from app.db.engine import Connection, Pool
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.division import Tokens
from app.domain.messages.models import BucketKind, TokenBucket
from app.domain.messages.outgoing import RELEASED, Claim, WaitingNumber
from app.domain.numbers import queries, service
from app.domain.numbers.models import PhoneNumber

SHORTEST_LAG = 0.1
"""Seconds by which a text may leave late without a later departure of all that follow."""

ADD = """
INSERT INTO token_buckets (kind, name, free_at) SELECT kind, name, $3
FROM unnest($1::text[], $2::text[]) AS b(kind, name) ORDER BY kind, name ON CONFLICT DO NOTHING
"""
# Each is locked as it is found, so in the order in which they are given.
LOCK = """
SELECT b.kind, b.name, b.free_at FROM unnest($1::text[], $2::text[]) AS wanted(kind, name) CROSS JOIN LATERAL (
  SELECT * FROM token_buckets WHERE kind = wanted.kind AND name = wanted.name FOR UPDATE SKIP LOCKED
) b
"""
TAKE = """
UPDATE token_buckets b
SET free_at = greatest(b.free_at, $5::timestamptz - t.lag * interval '1 second') + t.seconds * interval '1 second'
FROM unnest($1::text[], $2::text[], $3::float8[], $4::float8[]) AS t(kind, name, seconds, lag)
WHERE b.kind = t.kind AND b.name = t.name RETURNING b.kind, b.name, b.free_at
"""
HOLD = """
INSERT INTO token_buckets AS known (kind, name, free_at) VALUES ($1, $2, $3)
ON CONFLICT (kind, name) DO UPDATE SET free_at = greatest(known.free_at, excluded.free_at)
"""


class Bucket(NamedTuple):
    """The identity of a bucket."""

    kind: str
    name: str


class State(NamedTuple):
    """The time from which a bucket gives tokens."""

    kind: str
    name: str
    free_at: datetime


@dataclass(slots=True)
class Buckets:
    """The buckets of one claim. `rates` are SMS parts a second; None where only a hold of the carrier bounds a bucket.

    A bucket that another process has locked gives no tokens: that process claims its texts.
    """

    rates: Mapping[Bucket, float | None]
    unknown: Sequence[Bucket]
    now: datetime
    _free_at: dict[Bucket, datetime] = field(default_factory=dict)

    async def lock(self, connection: Connection) -> None:
        """Lock the buckets until the transaction ends; add those that do not exist yet."""
        if self.unknown:
            long_ago = self.now - timedelta(seconds=1)
            await connection.execute(ADD, *_columns(self.unknown), long_ago)
        if self.rates:
            self._keep(await rows.fetch(connection, State, LOCK, *_columns(sorted(self.rates))))

    def tokens(self, bucket: Bucket) -> float:
        """Return how many SMS parts may leave before the last text does; negative when no text may leave."""
        if bucket not in self.rates:
            return float("inf")
        free_at, rate = self._free_at.get(bucket), self.rates[bucket]
        if free_at is None or free_at > self.now:
            return -1
        if rate is None:
            return float("inf")
        return min((self.now - free_at).total_seconds(), _lag(rate)) * rate

    def tokens_of(self, numbers: Sequence[WaitingNumber]) -> Tokens:
        """Return the tokens of numbers and of their carriers."""
        return Tokens(
            {each.number: self.tokens(number_bucket(each.number)) for each in numbers},
            {each.carrier: self.tokens(carrier_bucket(each.carrier)) for each in numbers},
        )

    async def take(self, connection: Connection, texts: Iterable[Claim]) -> None:
        """Take the tokens of claimed texts."""
        seconds: defaultdict[Bucket, float] = defaultdict(float)
        for text in texts:
            for bucket in (number_bucket(text.number), carrier_bucket(text.carrier)):
                if rate := self.rates.get(bucket):
                    seconds[bucket] += text.segments / rate
        if seconds:
            rates = {bucket: self.rates[bucket] or 1 for bucket in seconds}
            self._keep(await take(connection, seconds, rates, self.now))

    @property
    def wait(self) -> float | None:
        """Return the seconds until the next bucket has tokens; None when no bucket waits for some."""
        waits = [free_at - self.now for free_at in self._free_at.values() if free_at > self.now]
        return min(waits).total_seconds() if waits else None

    def _keep(self, states: Iterable[State]) -> None:
        self._free_at.update({Bucket(state.kind, state.name): state.free_at for state in states})


def number_bucket(number: str) -> Bucket:
    """Return the bucket of a sending number."""
    return Bucket(BucketKind.number, number)


def carrier_bucket(carrier: str) -> Bucket:
    """Return the bucket of the connection to a carrier."""
    return Bucket(BucketKind.carrier, carrier)


def find_buckets(numbers: Sequence[WaitingNumber], carriers: Mapping[str, float | None], now: datetime) -> Buckets:
    """Return the buckets that bound the texts of waiting numbers; `carriers` are SMS parts a second of each carrier.

    Those of released numbers fail without a wait.
    """
    rates: dict[Bucket, float | None] = {}
    unknown: set[Bucket] = set()
    for each in (each for each in numbers if each.carrier != RELEASED):
        known = (
            (number_bucket(each.number), each.parts_per_second, each.number_free_at),
            (carrier_bucket(each.carrier), carriers.get(each.carrier), each.carrier_free_at),
        )
        for bucket, rate, free_at in known:
            if rate or (free_at and free_at > now):
                rates[bucket] = rate
                if free_at is None:
                    unknown.add(bucket)
    return Buckets(rates, sorted(unknown), now)


async def take(
    connection: Connection, seconds: Mapping[Bucket, float], rates: Mapping[Bucket, float], now: datetime
) -> Sequence[State]:
    """Take tokens: the seconds that SMS parts take at the rate of each bucket. Buckets are added where they lack."""
    ordered = sorted(seconds)
    await connection.execute(ADD, *_columns(ordered), now - timedelta(seconds=1))
    columns = *_columns(ordered), [seconds[each] for each in ordered], [_lag(rates[each]) for each in ordered]
    return await rows.fetch(connection, State, TAKE, *columns, now)


async def set_pace(unit: UnitOfWork, number_id: int, parts_per_second: float | None) -> PhoneNumber:
    """Set the pace of a number as `numbers.service.set_pace` does; a faster one shortens the present wait as much."""
    known = await queries.find(unit, number_id)
    before = known.parts_per_second if known else None
    number = await service.set_pace(unit, number_id, parts_per_second)
    after = number.parts_per_second
    if before and (after is None or before < after):
        await _shorten_wait(unit, number.phone_number, before / after if after else 0)
    return number


async def _shorten_wait(unit: UnitOfWork, number: str, share: float) -> None:
    """Keep a share of the wait of a number. The hold of a carrier is shorter too: it is kept in the same way."""
    of_number = TokenBucket.kind == BucketKind.number, TokenBucket.name == number
    bucket = await unit.one(select(TokenBucket).where(*of_number).with_for_update())
    now = unit.clock.now()
    if bucket and bucket.free_at > now:
        bucket.free_at = now + (bucket.free_at - now) * share
        await unit.save(bucket)


async def hold(pool: Pool, bucket: Bucket, until: datetime) -> None:
    """Let no text of a bucket leave before an instant: its carrier asked for that (HTTP 429)."""
    await pool.execute(HOLD, *bucket, until)


def _lag(rate: float) -> float:
    """Return the seconds of tokens that a full bucket holds beside the token of the next part."""
    return max(1 - 1 / rate, SHORTEST_LAG)


def _columns(buckets: Iterable[Bucket]) -> tuple[list[str], list[str]]:
    return [each.kind for each in buckets], [each.name for each in buckets]
