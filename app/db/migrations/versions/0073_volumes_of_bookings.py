"""Indexes of bookings, of the events about them, and of the texts of CRMs, for reads that took each row."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_bookings_unknown": "bookings (integration_id, created_at) WHERE NOT is_known",
    "ix_bookings_without_time": "bookings (updated_at) WHERE starts_at IS NULL",
    "ix_integration_events_booking_id": "integration_events (booking_id) WHERE booking_id IS NOT NULL",
    "ix_integration_events_body": "integration_events (received_at) WHERE body <> ''",
    "ix_crm_sends_phone": "crm_sends USING hash (phone) WHERE phone <> ''",
    "ix_crm_sends_body": "crm_sends (created_at) WHERE body <> ''",
}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
