"""The times at which messages failed, and the creators of drip sequences."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    # The busier table is locked last, and held for no wait.
    op.add_column("sequences", sa.Column("created_by", sa.Text()))
    op.add_column("messages", sa.Column("failed_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    limit_locks()
    op.drop_column("sequences", "created_by")
    op.drop_column("messages", "failed_at")
