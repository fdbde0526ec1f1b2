"""Bookings of people who are no contacts: what they tell of the person is emptied."""

from app.db.revisions import limit_locks, update_in_ranges

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

EMPTY = """
UPDATE bookings SET title = CASE WHEN name <> '' AND position(name IN title) > 0 THEN '' ELSE title END,
  name = '', email = '', location = '', cancel_url = '', reschedule_url = ''
WHERE id BETWEEN :first AND :last AND contact_id IS NULL AND (name <> '' OR email <> '')
"""


def upgrade() -> None:
    limit_locks()
    update_in_ranges("bookings", EMPTY)


def downgrade() -> None:
    limit_locks()
