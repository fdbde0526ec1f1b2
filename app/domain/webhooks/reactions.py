"""Adds a delivery for each event and each active subscription that is older than the event."""

from collections import defaultdict

from app.db.rows import fetch, integers, texts, unless_all
from app.domain.events.reactions import AccountsBusy, Batch, OutboxEvent, Reaction
from app.domain.webhooks import ownership, payloads, signing
from app.domain.webhooks.models import DeliveryStatus, SubscriptionStatus
from app.domain.webhooks.rows import Subscribed

# Locks the rows, so that no subscription is disabled or ended before its deliveries are visible. It does not wait for a
# row that another transaction has locked.
FIND_SUBSCRIPTIONS = """
WITH free AS MATERIALIZED (
  SELECT id, account_id, kind, target_url, events, status, creator_id, created_at FROM webhook_subscriptions
  WHERE account_id = ANY($1::bigint[]) AND status <> 'removed' FOR KEY SHARE SKIP LOCKED
)
SELECT *, false AS is_locked FROM free
UNION ALL
SELECT id, account_id, kind, target_url, events, status, creator_id, created_at, true FROM webhook_subscriptions s
WHERE account_id = ANY($1::bigint[]) AND status <> 'removed' AND NOT EXISTS (SELECT FROM free WHERE free.id = s.id)
ORDER BY id
"""

ADD_DELIVERIES = """
INSERT INTO webhook_deliveries (account_id, subscription_id, event_id, event, webhook_id, contact_id, body, status,
  next_attempt_at, created_at)
SELECT account_id, subscription_id, event_id, event, webhook_id, contact_id, body, coalesce(status, 'pending'),
  CASE WHEN status IS NULL OR status = 'pending' THEN $9::timestamptz END, $9
FROM unnest($1::text::bigint[], $2::text::bigint[], $3::text::bigint[], $4::text::text[], $5::text::text[],
  $6::text::bigint[], $7::bytea[], $8::text[])
  AS d(account_id, subscription_id, event_id, event, webhook_id, contact_id, body, status)
ON CONFLICT DO NOTHING
"""

WAKE = """
UPDATE webhook_subscriptions SET wake_at = greatest($2, open_until)
WHERE id = ANY($1::bigint[]) AND (wake_at IS NULL OR wake_at > greatest($2, open_until))
"""


async def fan_out(batch: Batch) -> None:
    """Add the deliveries of a batch of events, and notify the delivery workers.

    Raises `AccountsBusy` for accounts with a subscription that another transaction has locked.
    """
    pairs = await _pair(batch)
    if not pairs:
        return
    await batch.connection.execute(
        ADD_DELIVERIES,
        integers([event.account_id for event, _ in pairs]),
        integers([subscription.id for _, subscription in pairs]),
        integers([event.id for event, _ in pairs]),
        texts(payloads.name_for(subscription.kind, event.name) for event, subscription in pairs),
        texts(signing.webhook_id(event.created_at, event.id) for event, _ in pairs),
        integers([event.contact_id for event, _ in pairs]),
        [_body(event, subscription) for event, subscription in pairs],
        unless_all([_first_status(subscription) for _, subscription in pairs], DeliveryStatus.pending),
        batch.now,
    )
    await batch.connection.execute(WAKE, sorted({subscription.id for _, subscription in pairs}), batch.now)
    batch.notify("webhooks")


REACTIONS = (Reaction("webhooks", fan_out),)


async def _pair(batch: Batch) -> list[tuple[OutboxEvent, Subscribed]]:
    subscriptions: dict[tuple[int, str], list[Subscribed]] = defaultdict(list)
    for row in await ownership.end_orphans(batch.connection, await _lock_subscriptions(batch), batch.now):
        for name in row.events:
            subscriptions[row.account_id, name].append(row)
    return [
        (event, subscription)
        for event in batch.events
        for subscription in subscriptions[event.account_id, event.name]
        if subscription.created_at <= event.created_at
    ]


async def _lock_subscriptions(batch: Batch) -> list[Subscribed]:
    found = await fetch(batch.connection, Subscribed, FIND_SUBSCRIPTIONS, list(batch.find_accounts()))
    if locked := [each for each in found if each.is_locked]:
        dispatched = {(event.account_id, event.name) for event in batch.events}
        busy = [each.account_id for each in locked for name in each.events if (each.account_id, name) in dispatched]
        if busy:
            raise AccountsBusy(busy)
    return [each for each in found if not each.is_locked]


def _body(event: OutboxEvent, subscription: Subscribed) -> bytes:
    return payloads.serialize(subscription.kind, event.name, event.payload, event.created_at)


def _first_status(subscription: Subscribed) -> str:
    disabled = subscription.status == SubscriptionStatus.disabled
    return DeliveryStatus.skipped if disabled else DeliveryStatus.pending
