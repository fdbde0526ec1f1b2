"""The times at which contacts got another phone, and the requests that caused enrollments."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0089"
down_revision = "0088"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("contacts", sa.Column("phone_changed_at", sa.DateTime(timezone=True)))
    op.add_column("sequence_enrollments", sa.Column("request_id", sa.Text()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("sequence_enrollments", "request_id")
    op.drop_column("contacts", "phone_changed_at")
