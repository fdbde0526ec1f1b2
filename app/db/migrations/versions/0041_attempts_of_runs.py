"""Attempts of the next action of an automation's run."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("automation_runs", sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    limit_locks()
    op.drop_column("automation_runs", "attempts")
