"""An index of the waiting texts about bookings of each account."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {"ix_booking_texts_waiting": "booking_texts (account_id, due_at, id) WHERE status = 'waiting'"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
