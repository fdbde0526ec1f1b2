"""Fewer indexes of deliveries, and a small one of live updates by time: each is written twice for every delivery."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0082"
down_revision = "0081"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

NEW = {
    "ix_webhook_deliveries_newest": "webhook_deliveries (account_id, id DESC, event, answer_status)",
    "ix_live_updates_age": "live_updates USING brin (created_at)",
}
OLD = {
    "ix_webhook_deliveries_account_id": "webhook_deliveries (account_id, id DESC)",
    "ix_webhook_deliveries_event": "webhook_deliveries (account_id, event, id DESC)",
    "ix_webhook_deliveries_contact_id": "webhook_deliveries (contact_id, id DESC) WHERE contact_id IS NOT NULL",
    "ix_webhook_deliveries_answer_status": "webhook_deliveries (account_id, answer_status, id DESC)"
    " WHERE answer_status IS NOT NULL",
    "ix_live_updates_created_at": "live_updates (created_at)",
}


def upgrade() -> None:
    limit_locks()
    build_indexes(NEW)
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    build_indexes(OLD)
    drop_indexes(*NEW)
