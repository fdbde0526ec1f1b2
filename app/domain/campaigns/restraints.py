"""Conditions of contacts that are part of an audience and get no text, in SQL: contacts `c`, the time `$8`."""

from app.domain.campaigns.audience import Audience
from app.domain.campaigns.reasons import Reason
from app.domain.consent import sql as consent
from app.domain.conversations import sql as conversations

UNREACHED, SINCE, FORGOTTEN = 3, "14 days", "90 days"
"""A phone is left alone after so many texts of campaigns in a row that did not reach it, the first so long ago.

A text longer ago than the last of these times does not count: such a phone is tried again.
"""

LIVE = "24 hours"
"""The time for which a conversation is live after a text of the contact."""

_UNREACHED = f"""
campaign_recipients f WHERE f.account_id = $1 AND f.contact_id = c.id AND f.reason = 'unreachable'
    AND f.settled_at > $8::timestamptz - interval '{FORGOTTEN}'"""
# `OFFSET 0` has each contact looked up in the index: else PostgreSQL may read all such texts of the account, for each
# chunk of contacts.
IS_UNREACHABLE = f"""
CASE WHEN EXISTS (SELECT FROM {_UNREACHED} OFFSET 0) THEN (
  SELECT count(*) >= {UNREACHED} AND min(f.settled_at) <= $8::timestamptz - interval '{SINCE}'
  FROM {_UNREACHED}
    AND NOT EXISTS (SELECT FROM campaign_recipients reached WHERE reached.contact_id = c.id AND reached.id > f.id
      AND reached.state IN ('sent', 'delivered'))
    AND NOT {conversations.has(f"{conversations.LAST_INBOUND} > f.settled_at")}
) ELSE false END
"""
IS_LIVE = conversations.has(f"{conversations.LAST_INBOUND} > $8::timestamptz - interval '{LIVE}'")
HAS_AGREED = consent.has_agreed("$1::bigint", "c.phone")


def exclusion(excluded: str) -> str:
    """Return the reason for which the sender excludes a contact, null for none; `excluded` is a condition."""
    return (
        f"CASE WHEN c.tags && $7::text[] THEN '{Reason.excluded}'"
        f" WHEN ({excluded}) IS TRUE THEN '{Reason.excluded_segment}' END AS exclusion"
    )


def restraint(audience: Audience) -> str:
    """Return the reason for which a contact that may be texted is left alone, null for none."""
    cases = [(Reason.no_consent, f"NOT {HAS_AGREED}")] if audience.requires_consent else []
    cases.append((Reason.unreachable_history, IS_UNREACHABLE))
    if audience.skips_live_conversations:
        cases.append((Reason.in_live_conversation, IS_LIVE))
    whens = " ".join(f"WHEN {condition} THEN '{reason}'" for reason, condition in cases)
    return f"CASE {whens} END AS restraint"
