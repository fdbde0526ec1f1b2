"""An index of deliveries by the exact status of the last answer."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0080"
down_revision = "0079"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_webhook_deliveries_answer_status": "webhook_deliveries (account_id, answer_status, id DESC)"
    " WHERE answer_status IS NOT NULL"
}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
