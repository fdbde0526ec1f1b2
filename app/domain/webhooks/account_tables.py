"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

END_SUBSCRIPTIONS = """
UPDATE webhook_subscriptions SET status = 'removed', wake_at = NULL, leased_until = NULL, lease = lease + 1
WHERE id = ANY($1::bigint[])
"""

ENDED = (DeletedTable("webhook_subscriptions", which="status <> 'removed'", statements=(END_SUBSCRIPTIONS,)),)
"""Webhooks end before anything else is deleted, so that little is added meanwhile."""

DELETED = (
    DeletedTable("webhook_deliveries", BY_ID, parent="webhook_subscriptions", key="subscription_id"),
    DeletedTable("webhook_notices", BY_ID),
    DeletedTable("webhook_subscriptions"),
)

EXPORTED = (
    ExportedTable("webhook_subscriptions", frozenset({"secret", "old_secret", "old_secret_until"})),
    ExportedTable("webhook_deliveries", parent="webhook_subscriptions", key="subscription_id"),
    ExportedTable("webhook_attempts", parent="webhook_deliveries", key="delivery_id"),
    ExportedTable("webhook_notices", order=BY_ID),
)
