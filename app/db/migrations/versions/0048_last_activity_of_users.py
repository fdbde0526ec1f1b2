"""The time of the last activity of users."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("users", sa.Column("last_active_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("users", "last_active_at")
