"""Alerts of connections: raised and withdrawn by the results of the last minutes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db import rows
from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode
from app.domain.carriers.models import AlertKind, ConnectionResult, ConnectionStatus

WINDOW = timedelta(minutes=10)
"""The time whose answers and callbacks decide; also the time without an acceptance after which texts wait too long."""

LONG_WINDOW = timedelta(hours=1)
"""The time after which a refusal of the credentials no longer counts, if nothing was accepted since."""

LEAST_CALLS, LEAST_CALLBACKS, SHARE = 10, 5, 0.5
"""Fewer answers, or callbacks, are no reason for an alert; nor is a smaller share of failures among them."""

OF_CONNECTION = (FailureCode.account_problem, FailureCode.carrier_error)
"""Refusals for a reason that lies with the connection, and not with a text or its recipient."""

TEXTS: Mapping[AlertKind, str] = {
    AlertKind.failing: "At least half of the hand-offs of the last 10 minutes failed for a reason of the connection.",
    AlertKind.credentials_refused: (
        "The carrier refuses the credentials or the account. Rotate the credentials; pause the connection meanwhile."
    ),
    AlertKind.callbacks_refused: (
        "At least half of the callbacks of the last 10 minutes had a wrong signature. Compare the signing secret, the "
        "address that the carrier calls, and the clock."
    ),
    AlertKind.silent: "Texts wait, and the carrier has accepted none for 10 minutes.",
}
"""The meaning of each alert, and the action to take."""

_NOT_ACCEPTED = (
    f"(result = '{ConnectionResult.unanswered}' OR result = '{ConnectionResult.rejected}' AND code = ANY($3::text[]))"
)
COUNT = f"""
WITH counted AS (
  SELECT connection_id,
    sum(count) FILTER (WHERE minute >= $2 AND result IN ('{ConnectionResult.accepted}', '{ConnectionResult.rejected}',
      '{ConnectionResult.unanswered}'))::bigint AS calls,
    sum(count) FILTER (WHERE minute >= $2 AND {_NOT_ACCEPTED})::bigint AS failures,
    sum(count) FILTER (WHERE minute >= $2 AND result IN ('{ConnectionResult.callback}',
      '{ConnectionResult.callback_refused}'))::bigint AS callbacks,
    sum(count) FILTER (WHERE minute >= $2 AND result = '{ConnectionResult.callback_refused}')::bigint
      AS refused_callbacks,
    max(last_at) FILTER (WHERE result = '{ConnectionResult.accepted}') AS accepted_at,
    max(last_at) FILTER (WHERE result = '{ConnectionResult.rejected}' AND code = '{FailureCode.account_problem}')
      AS credentials_refused_at
  FROM connection_minutes WHERE minute >= $1 GROUP BY connection_id
)
SELECT k.id, k.key, k.status = '{ConnectionStatus.active}' AS is_active, coalesce(calls, 0) AS calls,
  coalesce(failures, 0) AS failures, coalesce(callbacks, 0) AS callbacks,
  coalesce(refused_callbacks, 0) AS refused_callbacks, accepted_at, credentials_refused_at,
  (SELECT min(last_at) FROM connection_minutes m WHERE m.connection_id = k.id AND m.minute >= $1 AND {_NOT_ACCEPTED}
    AND last_at > coalesce(accepted_at, '-infinity')) AS failing_since
FROM carrier_connections k LEFT JOIN counted ON connection_id = k.id
WHERE connection_id IS NOT NULL OR k.key = ANY($4::text[])
"""
"""Count the results of each connection since `$1` and `$2`; those of the keys `$4` are listed in any case."""

CHANGE = """
WITH now AS (SELECT * FROM unnest($1::bigint[], $2::text[]) AS n(connection_id, kind)),
raised AS (
  INSERT INTO connection_alerts (connection_id, kind, since)
  SELECT connection_id, kind, $3 FROM now WHERE EXISTS (SELECT FROM carrier_connections WHERE id = connection_id)
  ORDER BY connection_id, kind
  ON CONFLICT DO NOTHING RETURNING connection_id, kind, since
), withdrawn AS (
  DELETE FROM connection_alerts a WHERE NOT EXISTS (
    SELECT FROM now n WHERE n.connection_id = a.connection_id AND n.kind = a.kind
  ) RETURNING connection_id, kind, since
)
SELECT k.key, r.kind, r.since, true AS is_raised FROM raised r JOIN carrier_connections k ON k.id = r.connection_id
UNION ALL
SELECT k.key, w.kind, w.since, false FROM withdrawn w JOIN carrier_connections k ON k.id = w.connection_id
ORDER BY key, kind
"""

COUNT_RAISED = "SELECT kind, count(*) FROM connection_alerts GROUP BY kind"


class _Counts(NamedTuple):
    id: int
    key: str
    is_active: bool
    calls: int
    failures: int
    callbacks: int
    refused_callbacks: int
    accepted_at: datetime | None
    credentials_refused_at: datetime | None
    failing_since: datetime | None


class AlertChange(NamedTuple):
    """An alert that was raised, or withdrawn, of the connection with a key; `since` is the time of its beginning."""

    key: str
    kind: str
    since: datetime
    is_raised: bool


async def update(pool: Pool, now: datetime, waiting: Mapping[str, datetime]) -> Sequence[AlertChange]:
    """Raise and withdraw alerts, and return the changes; each is returned in one process only.

    `waiting` has, by the keys of connections, the time since which texts wait to be accepted.
    """
    columns = now - LONG_WINDOW, now - WINDOW, OF_CONNECTION, list(waiting)
    counted = await rows.fetch(pool, _Counts, COUNT, *columns)
    found = [(each.id, kind) for each in counted for kind in _find(each, now, waiting.get(each.key))]
    return await rows.fetch(pool, AlertChange, CHANGE, [id for id, _ in found], [kind for _, kind in found], now)


async def count(pool: Pool) -> Mapping[str, float]:
    """Return the number of connections that have each alert."""
    raised = dict(await pool.fetch(COUNT_RAISED))
    return {kind: raised.get(kind, 0) for kind in AlertKind}


def _find(counts: _Counts, now: datetime, waiting_since: datetime | None) -> Iterator[AlertKind]:
    accepted_at, refused_at = counts.accepted_at, counts.credentials_refused_at
    if counts.calls >= LEAST_CALLS and counts.failures >= SHARE * counts.calls:
        yield AlertKind.failing
    if refused_at and (accepted_at is None or accepted_at < refused_at):
        yield AlertKind.credentials_refused
    if counts.callbacks >= LEAST_CALLBACKS and counts.refused_callbacks >= SHARE * counts.callbacks:
        yield AlertKind.callbacks_refused
    if waiting_since and counts.is_active and (accepted_at is None or accepted_at < now - WINDOW):
        since = min(waiting_since, counts.failing_since or waiting_since)
        if since <= now - WINDOW:
            yield AlertKind.silent
