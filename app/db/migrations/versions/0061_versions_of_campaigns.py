"""Versions of campaigns, by which an editor notices that another person has changed a draft."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("campaigns", sa.Column("version", sa.BigInteger(), server_default="1", nullable=False))


def downgrade() -> None:
    limit_locks()
    op.drop_column("campaigns", "version")
