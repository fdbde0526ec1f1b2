"""Turns of connections to CRMs, by which a worker whose lease is over has no effect."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("crm_connections", sa.Column("turn", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    limit_locks()
    op.drop_column("crm_connections", "turn")
