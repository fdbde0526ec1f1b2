"""Counts the results of connections by the minute: each process adds its counts every few seconds."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import UNREACHABLE, Pool
from app.domain.carriers.carrier import Accepted, Ambiguous, Answer, FailureCode, Receipt, ReceiptStatus
from app.domain.carriers.models import ConnectionResult
from app.domain.kernel.clock import Clock
from app.domain.kernel.delayed_flush import DelayedFlush

FLUSH_SECONDS = 5.0
"""The time for which counts are kept in memory; a process that is killed loses them."""

MOST_ERROR = 100
_phone = re.compile(r"\+?[0-9]{7,}")

REPORTED = {ReceiptStatus.delivered: ConnectionResult.delivered, ReceiptStatus.failed: ConnectionResult.undelivered}

ADD = """
WITH k AS (SELECT id, key FROM carrier_connections WHERE key = ANY($1::text[]) ORDER BY id FOR KEY SHARE)
INSERT INTO connection_minutes AS m
  (connection_id, minute, result, code, count, parts, last_at, carrier_error, skew_seconds)
SELECT k.id, n.minute, n.result, n.code, n.count, n.parts, n.last_at, n.carrier_error, n.skew_seconds
FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[],
  $8::text[], $9::float8[])
  AS n(key, minute, result, code, count, parts, last_at, carrier_error, skew_seconds)
JOIN k ON k.key = n.key
ORDER BY k.id, n.minute, n.result, n.code
ON CONFLICT (connection_id, minute, result, code) DO UPDATE SET
  count = m.count + excluded.count, parts = m.parts + excluded.parts, last_at = greatest(m.last_at, excluded.last_at),
  carrier_error = excluded.carrier_error, skew_seconds = coalesce(excluded.skew_seconds, m.skew_seconds)
"""
"""Add counts to those of other processes; those of a connection that is removed, even just now, are dropped."""

Tally = Callable[[str, str, str], None]
"""Counts a result of a connection for the metrics of the process: key, result, code."""


class Counted(NamedTuple):
    """The key of a connection, a minute, and a result in it."""

    key: str
    minute: datetime
    result: str
    code: str


@dataclass(slots=True)
class Count:
    """A count; `skew_seconds` is the time by which the carrier's clock was ahead of ours at the last callback."""

    times: int = 0
    parts: int = 0
    last_at: datetime | None = None
    carrier_error: str = ""
    skew_seconds: float | None = None


@dataclass(slots=True)
class Health:
    """Counts the answers, reports and callbacks of connections.

    Noting never waits and never fails. `close` adds the remaining counts.
    """

    pool: Pool
    clock: Clock
    tally: Tally = lambda key, result, code: None
    _counts: dict[Counted, Count] = field(default_factory=dict)
    _later: DelayedFlush = field(init=False)

    def __post_init__(self) -> None:
        """Plan flushes of these counts."""
        self._later = DelayedFlush(self.flush, FLUSH_SECONDS)

    def note_answer(self, key: str, answer: Answer, parts: int) -> None:
        """Count the answer to a hand-off of a text with some SMS parts."""
        match answer:
            case Accepted():
                self._note(key, ConnectionResult.accepted, parts=parts)
            case Ambiguous():
                self._note(key, ConnectionResult.unanswered, carrier_error=answer.reason)
            case _:
                self._note(key, ConnectionResult.rejected, answer.code, carrier_error=answer.carrier_error)

    def note_refused_credentials(self, key: str, problem: str) -> None:
        """Count a refused attempt to connect."""
        self._note(key, ConnectionResult.rejected, FailureCode.account_problem, carrier_error=problem)

    def note_receipt(self, key: str, receipt: Receipt) -> None:
        """Count a final report."""
        if result := REPORTED.get(receipt.status):
            code = (receipt.code or FailureCode.carrier_error) if result is ConnectionResult.undelivered else ""
            self._note(key, result, code, carrier_error=receipt.carrier_error)

    def note_callback(self, key: str, signed_at: datetime | None, *, is_signed: bool) -> None:
        """Count a callback, with the time of the carrier's clock if its signature states one."""
        skew = (signed_at - self.clock.now()) / timedelta(seconds=1) if signed_at else None
        self._note(
            key, ConnectionResult.callback if is_signed else ConnectionResult.callback_refused, skew_seconds=skew
        )

    async def flush(self) -> None:
        """Add the counts to those of other processes; while the database is unreachable, they are lost."""
        counts = self._counts
        self._counts = {}
        if counts:
            with suppress(*UNREACHABLE):
                await self.pool.execute(ADD, *_columns(counts))

    async def close(self) -> None:
        """Add the remaining counts, and start no further work."""
        await self._later.close()

    def _note(
        self,
        key: str,
        result: ConnectionResult,
        code: str = "",
        *,
        parts: int = 0,
        carrier_error: str = "",
        skew_seconds: float | None = None,
    ) -> None:
        now = self.clock.now()
        place = Counted(key, now.replace(second=0, microsecond=0), result, code)
        count = self._counts.get(place) or self._counts.setdefault(place, Count())
        count.times += 1
        count.parts += parts
        count.last_at, count.carrier_error = now, carrier_error and _printable(carrier_error)
        count.skew_seconds = count.skew_seconds if skew_seconds is None else skew_seconds
        self.tally(key, result, code)
        self._later.plan()


def _columns(counts: Mapping[Counted, Count]) -> Sequence[Sequence[object]]:
    rows = [
        (*place, count.times, count.parts, count.last_at, count.carrier_error, count.skew_seconds)
        for place, count in counts.items()
    ]
    return list(zip(*rows, strict=True))


def _printable(text: str) -> str:
    """Return the beginning of an error, without phones: it outlives the contacts that they belong to."""
    return _phone.sub("…", "".join(filter(str.isprintable, text)))[:MOST_ERROR]
