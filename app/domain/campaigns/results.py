"""Follows the texts of campaigns to their results, and notes the replies and opt-outs that they cause."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, null, select, union_all

from app.domain.campaigns import queries
from app.domain.campaigns.models import Recipient, RecipientCount, RecipientState
from app.domain.campaigns.reasons import BEFORE_CALL, DEFERRED
from app.domain.consent import quoted_replies
from app.domain.contacts.events import NewOptOut
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import sql as messages
from app.domain.messages.events import MessageAccepted, MessageDelivered, MessageFailed, MessageSent, NewMessage
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import Message, MessageStatus

ATTRIBUTED_FOR = timedelta(hours=72)
"""The time after a text in which a reply or an opt-out is one to it."""

TOPIC = "campaigns"

FIND_FAILED = f"""
SELECT r.message_id, m.error_code FROM campaign_recipients r {messages.join("r.message_id")}
WHERE r.message_id = ANY($1::bigint[]) AND r.state IN ('claimed', 'deferred', 'sent')
"""
APPLY = """
WITH applied AS (
  SELECT r.campaign_id, r.id, d.* FROM campaign_recipients r
  JOIN unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
    AS d(message_id, new_state, new_reason, left_at, ended_at) ON d.message_id = r.message_id
  WHERE r.state IN ('claimed', 'deferred', 'sent') ORDER BY r.id FOR NO KEY UPDATE OF r
)
UPDATE campaign_recipients r SET state = a.new_state, reason = a.new_reason, sent_at = coalesce(r.sent_at, a.left_at),
  settled_at = a.ended_at,
  credits = CASE WHEN a.new_state IN ('failed', 'suppressed', 'canceled') THEN 0 ELSE r.credits END
FROM applied a WHERE r.campaign_id = a.campaign_id AND r.id = a.id RETURNING r.id
"""
PUT_OFF = f"""
WITH waiting AS (
  SELECT r.campaign_id, r.id FROM campaign_recipients r {messages.join("r.message_id")}
  WHERE r.message_id = ANY($1::bigint[]) AND r.state = 'sent' AND m.status = 'pending'
  ORDER BY r.id FOR NO KEY UPDATE OF r
)
UPDATE campaign_recipients r SET state = 'claimed', reason = '{DEFERRED}'
FROM waiting w WHERE r.campaign_id = w.campaign_id AND r.id = w.id RETURNING r.id
"""
"""Let the recipients of texts that left, and that wait again, be claimed: a cancellation ends their texts too."""

NOTE_ANSWERS = """
WITH answered AS (
  SELECT DISTINCT ON (latest.id) latest.campaign_id, latest.id, a.replied_at, a.opted_out_at
  FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[])
    AS a(contact_id, since, replied_at, opted_out_at)
  CROSS JOIN LATERAL (
    SELECT campaign_id, id, sent_at FROM campaign_recipients WHERE contact_id = a.contact_id AND sent_at IS NOT NULL
    ORDER BY sent_at DESC LIMIT 1
  ) latest
  WHERE latest.sent_at >= a.since ORDER BY latest.id, a.opted_out_at NULLS LAST
)
UPDATE campaign_recipients r SET replied_at = coalesce(r.replied_at, a.replied_at),
  opted_out_at = coalesce(r.opted_out_at, a.opted_out_at)
FROM answered a WHERE r.campaign_id = a.campaign_id AND r.id = a.id
"""


class Change(NamedTuple):
    """The new state of the recipient of a message."""

    state: RecipientState
    reason: str = ""
    left_at: datetime | None = None
    ended_at: datetime | None = None


async def follow(batch: Batch) -> None:
    """Change the recipients of the messages that were sent, delivered or failed, or that wait again."""
    has_changed = await _follow_results(batch)
    if await _put_off(batch) or has_changed:
        batch.notify(TOPIC)


async def _put_off(batch: Batch) -> bool:
    ids = [event.payload["message_id"] for event in batch.events if event.name == MessageAccepted.name]
    return bool(ids) and bool(await batch.connection.fetch(PUT_OFF, ids))


async def _follow_results(batch: Batch) -> bool:
    events = [event for event in batch.events if event.name in STATES and "message_id" in event.payload]
    if not events:
        return False
    failed = [event.payload["message_id"] for event in events if event.name == MessageFailed.name]
    rows = await batch.connection.fetch(FIND_FAILED, failed) if failed else []
    changes = find_changes(events, {row["message_id"]: row["error_code"] for row in rows})
    applied = await batch.connection.fetch(
        APPLY,
        list(changes),
        [change.state for change in changes.values()],
        [change.reason for change in changes.values()],
        [change.left_at for change in changes.values()],
        [change.ended_at for change in changes.values()],
    )
    return bool(applied)


def find_changes(events: Sequence[OutboxEvent], codes: Mapping[int, str | None]) -> dict[int, Change]:
    """Return the new state of the recipient of each message, by its last event."""
    changes: dict[int, Change] = {}
    for event in events:
        id, at = event.payload["message_id"], event.created_at
        before = changes.get(id, Change(RecipientState.claimed))
        match event.name:
            case MessageSent.name:
                changes[id] = Change(RecipientState.sent, "", at)
            case MessageDelivered.name:
                changes[id] = Change(RecipientState.delivered, "", before.left_at or at, at)
            case _:
                changes[id] = _failed(codes.get(id) or "", before.left_at, at)
    return changes


def apply(recipient: Recipient, text: Message) -> None:
    """Give a recipient the result that its text has by now, before the events of that are dispatched."""
    change = _find_result(text)
    recipient.state, recipient.reason = change.state, change.reason
    recipient.sent_at, recipient.settled_at = recipient.sent_at or change.left_at, change.ended_at
    if change.state not in (RecipientState.sent, RecipientState.delivered):
        recipient.credits = 0


async def count_states(unit: UnitOfWork, campaign_id: int) -> Counter[RecipientState]:
    """Count the recipients of a campaign by the states that their texts give them by now, before events are dispatched.

    The recipient of a text that has no result is claimed. One statement reads all, because a recipient may get the
    state of its text between two.
    """
    state, texts = RecipientCount.state, queries.select_message_ids(unit, campaign_id, RecipientState.claimed)
    own = RecipientCount.account_id == unit.actor.account_id, RecipientCount.campaign_id == campaign_id
    counted = select(state, null(), func.sum(RecipientCount.recipients)).group_by(state)
    result = Message.status, Message.error_code
    claimed = select(*result, func.count()).where(Message.id.in_(texts)).group_by(*result)
    both = union_all(counted.where(*own, state != RecipientState.claimed), claimed).subquery()
    counts = Counter[RecipientState]()
    for status, code, number in await unit.rows(select(*both.c)):
        counts[_find_state(status, code)] += int(number)
    return counts


async def note_answers(batch: Batch) -> None:
    """Note replies and opt-outs at the latest text of a campaign to their contacts."""
    answers = [event for event in batch.events if event.name == NewOptOut.name or _is_reply(event)]
    if answers:
        is_opt_out = [event.name == NewOptOut.name for event in answers]
        await batch.connection.execute(
            NOTE_ANSWERS,
            [event.contact_id for event in answers],
            [event.created_at - ATTRIBUTED_FOR for event in answers],
            [None if out else event.created_at for event, out in zip(answers, is_opt_out, strict=True)],
            [event.created_at if out else None for event, out in zip(answers, is_opt_out, strict=True)],
        )


STATES = frozenset({MessageSent.name, MessageDelivered.name, MessageFailed.name})
REACTIONS = (Reaction("campaign_results", follow), Reaction("campaign_answers", note_answers))


def _find_result(text: Message) -> Change:
    if text.status == MessageStatus.failed:
        return _failed(text.error_code or "", text.sent_at, text.failed_at)
    state = RecipientState.delivered if text.status == MessageStatus.delivered else RecipientState.sent
    return Change(state, "", text.sent_at, text.delivered_at)


def _find_state(status: str, code: str | None) -> RecipientState:
    if status == MessageStatus.failed:
        return _failed(code or "", None, None).state
    return RecipientState.claimed if status == MessageStatus.pending else RecipientState(status)


def _failed(code: str, left_at: datetime | None, at: datetime | None) -> Change:
    """Return the state after a failure; a text that a gate stopped was not sent, and did not fail."""
    if code == OwnCode.canceled:
        return Change(RecipientState.canceled, "", None, at)
    if code in BEFORE_CALL:
        return Change(RecipientState.suppressed, str(BEFORE_CALL[code]), None, at)
    return Change(RecipientState.failed, code, left_at, at)


def _is_reply(event: OutboxEvent) -> bool:
    return event.name == NewMessage.name and quoted_replies.is_reply(event.payload.get("body", ""))
