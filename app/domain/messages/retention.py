"""Rules of retention: unmatched receipts, unusable callbacks, the carriers' ids of erased messages, token buckets."""

from datetime import timedelta

from app.domain.kernel.retention import Rule
from app.domain.messages.erasure import REPEATED_FOR
from app.domain.messages.receipts import UNMATCHED_FOR

UNUSABLE_FOR = timedelta(days=30)
"""The time that an unmatched callback is stored."""

UNUSED_FOR = timedelta(days=1)
"""The time after which an unused token bucket is deleted; a full one is as good as none."""

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
)
