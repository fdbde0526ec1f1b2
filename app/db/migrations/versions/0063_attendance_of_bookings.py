"""The time of what a scheduling tool told last about the attendance of a booking."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("bookings", sa.Column("attendance_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    limit_locks()
    op.drop_column("bookings", "attendance_at")
