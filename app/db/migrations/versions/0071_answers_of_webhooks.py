"""The answers of deliveries of webhooks, and indexes of their filters."""

from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks, update_in_ranges

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_webhook_deliveries_event": "webhook_deliveries (account_id, event, id DESC)",
    "ix_webhook_deliveries_contact_id": "webhook_deliveries (contact_id, id DESC) WHERE contact_id IS NOT NULL",
    "ix_webhook_deliveries_answer": (
        "webhook_deliveries (account_id, (answer_status / 100), id DESC) WHERE status <> 'delivered' AND attempts > 0"
    ),
}

# Those that were delivered are too many, and keep none. A locked one changes just now: leave its answer unknown.
COPY_ANSWERS = """
WITH attempted AS (
  SELECT id FROM webhook_deliveries
  WHERE id BETWEEN :first AND :last AND status <> 'delivered' AND attempts > 0 AND answer_status IS NULL
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE webhook_deliveries d SET answer_status = a.status
FROM attempted, webhook_attempts a WHERE d.id = attempted.id AND a.status IS NOT NULL
  AND a.id = (SELECT max(id) FROM webhook_attempts WHERE delivery_id = d.id)
"""


def upgrade() -> None:
    limit_locks()
    op.execute("ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS answer_status bigint")
    update_in_ranges("webhook_deliveries", COPY_ANSWERS)
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
    limit_locks()
    op.drop_column("webhook_deliveries", "answer_status")
