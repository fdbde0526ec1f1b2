"""Weights of accounts among those whose texts wait, and an index of the claimed texts of each account."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

oldest_code = "0009"
"""The revision of the oldest code that runs on the schema after this migration."""

OLD = {"ix_outgoing_claimed_until": "outgoing (claimed_until) WHERE claimed_until IS NOT NULL"}
NEW = {"ix_outgoing_claimed": "outgoing (account_id, claimed_until) WHERE claimed_until IS NOT NULL"}


def upgrade() -> None:
    limit_locks()
    op.add_column("accounts", sa.Column("weight", sa.BigInteger(), server_default="1", nullable=False))
    build_indexes(NEW)
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    op.drop_column("accounts", "weight")
    build_indexes(OLD)
    drop_indexes(*NEW)
