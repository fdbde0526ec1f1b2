"""Rules of retention: messages, receipts, unusable callbacks, the carriers' ids of erased messages, token buckets."""

from datetime import timedelta

from app.db.partitions import History
from app.domain.kernel.retention import HistoryRule, Rule
from app.domain.messages.account_tables import (
    DELETE_CARRIER_IDS,
    DELETE_PART_IDS,
    DELETE_RECEIPTS,
    DELETE_UNMATCHED,
)
from app.domain.messages.erasure import REPEATED_FOR
from app.domain.messages.queries import FINAL_REPORT_WITHIN
from app.domain.messages.receipts.journal import UNMATCHED_FOR

UNUSABLE_FOR = timedelta(days=30)
"""The time that an unmatched callback is stored."""

UNUSED_FOR = timedelta(days=1)
"""The time after which an unused token bucket is deleted; a full one is as good as none."""

SCHEDULED_FOR = timedelta(days=14)
"""The time after which a text that was sent later has left, or has failed because it could not."""

HISTORY = History("messages_id_seq", ("messages", "receipts"), ("contacts", "conversations", "accounts"))
"""Messages and their receipts, which are divided by the ids of the messages."""

UNSETTLED = """
SELECT message_id FROM outgoing WHERE message_id >= $1 AND message_id < $2
UNION ALL SELECT id FROM messages WHERE id >= $1 AND id < $2 AND status = 'pending'
"""

FORGET_TEXTS = """
WITH old AS (DELETE FROM erased_texts WHERE erased_at < $1 RETURNING carrier, provider_message_id)
DELETE FROM carrier_ids n USING old
WHERE n.carrier = old.carrier AND n.provider_message_id = old.provider_message_id AND n.direction = 'inbound'
"""

RULES = (
    Rule("DELETE FROM unmatched_receipts WHERE message_id IS NULL AND received_at < $1", UNMATCHED_FOR),
    Rule(FORGET_TEXTS, REPEATED_FOR),
    Rule("DELETE FROM unmatched_callbacks WHERE received_at < $1", UNUSABLE_FOR),
    Rule("DELETE FROM token_buckets WHERE free_at < $1", UNUSED_FOR),
    Rule("DELETE FROM status_queries WHERE due_at < $1", FINAL_REPORT_WITHIN),
    Rule("DELETE FROM scheduled_texts WHERE send_at < $1", SCHEDULED_FOR),
)


def make_history_rules(messages: timedelta, receipts: timedelta) -> tuple[HistoryRule, ...]:
    """Return the rules of messages, except pending ones, and of receipts, which end before or with their messages."""
    ending = DELETE_RECEIPTS, DELETE_UNMATCHED, DELETE_PART_IDS, DELETE_CARRIER_IDS
    return (
        HistoryRule(HISTORY, "messages", messages, needed=UNSETTLED, statements=ending),
        HistoryRule(HISTORY, "receipts", receipts, key="message_id", time="received_at"),
    )
