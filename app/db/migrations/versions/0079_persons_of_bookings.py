"""An index of the bookings without a contact that tell of a person, for the rule that empties them."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0079"
down_revision = "0078"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_bookings_of_no_contact": "bookings (updated_at) WHERE contact_id IS NULL AND (name <> '' OR email <> '')"
}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
