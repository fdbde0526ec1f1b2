"""Who made a subscription: what they may hear of, and that it ends with their key or grant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from app.db.engine import Connection
from app.domain.accounts.queries import MAKERS, REVOKED_AT
from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import InsufficientScope
from app.domain.kernel.unit import Unit
from app.domain.webhooks.leases import end
from app.domain.webhooks.models import SubscriptionStatus

OF_CONTACTS = frozenset(
    {
        "contact_dnd_changed",
        "contact_tag_added",
        "contact_tag_removed",
        "drip_completed",
        "new_contact",
        "new_opt_out",
        "pipeline_stage_changed",
    }
)
"""The events that say nothing of what was texted."""

# A key that was rotated is followed to its latest successor.
FIND_ENDED = f"""
WITH RECURSIVE line AS (
  SELECT s.id, s.made_by_key_id AS key_id FROM webhook_subscriptions s
  WHERE s.id = ANY($1::bigint[]) AND s.made_by_key_id IS NOT NULL
  UNION ALL
  SELECT line.id, api_keys.successor_id FROM line JOIN api_keys ON api_keys.id = line.key_id
  WHERE api_keys.successor_id IS NOT NULL
), revoked AS (
  SELECT k.id {MAKERS} WHERE k.id IN (SELECT key_id FROM line) AND k.successor_id IS NULL AND {REVOKED_AT} IS NOT NULL
)
SELECT line.id FROM line JOIN revoked ON revoked.id = line.key_id
UNION ALL
SELECT s.id FROM webhook_subscriptions s
WHERE s.id = ANY($1::bigint[]) AND s.made_by_grant_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id JOIN users u ON u.id = g.user_id
  WHERE g.id = s.made_by_grant_id AND g.revoked_at IS NULL AND c.revoked_at IS NULL AND u.removed_at IS NULL
    AND g.expires_at > $2
)
"""


def check_reach(unit: Unit, events: Sequence[str]) -> None:
    """Raise `InsufficientScope` for events that tell the actor what it may not read."""
    needed = {Scope.contacts_read if event in OF_CONTACTS else Scope.messages_read for event in events}
    if missing := sorted(needed - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])


async def end_orphans(connection: Connection, subscriptions: Sequence[Any], now: datetime) -> Sequence[Any]:
    """End the subscriptions whose maker's key was revoked, or whose connection is over; return the others."""
    made = [each["id"] for each in subscriptions if each["made_by_key_id"] or each["made_by_grant_id"]]
    ended = {row["id"] for row in await connection.fetch(FIND_ENDED, made, now)} if made else frozenset[int]()
    for each in subscriptions:
        if each["id"] in ended:
            why = "was removed, since the key that made it was revoked, or the connection of its application ended"
            await end(connection, each, SubscriptionStatus.removed, why)
    return [each for each in subscriptions if each["id"] not in ended]
