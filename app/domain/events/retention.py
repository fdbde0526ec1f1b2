"""Rule of retention for recorded events."""

from collections.abc import Iterable
from datetime import timedelta

from app.db.partitions import History
from app.domain.kernel.retention import HistoryRule

HISTORY = History("events_id_seq", ("events",))

WAITING = """
SELECT event_id FROM outbox WHERE event_id >= $1 AND event_id < $2
UNION ALL SELECT event_id FROM failed_reactions WHERE event_id >= $1 AND event_id < $2
"""


def make_history_rules(kept: timedelta, needed: Iterable[str] = ()) -> tuple[HistoryRule, ...]:
    """Return the rule of events: kept while a reaction waits, and while the queries of other areas return their ids."""
    return (HistoryRule(HISTORY, "events", kept, needed=" UNION ALL ".join((WAITING, *needed))),)
