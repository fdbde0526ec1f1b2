"""The enrollments that are still to follow a change of their drip sequence."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("sequences", sa.Column("follows_below", sa.BigInteger(), nullable=True))
    op.add_column("sequences", sa.Column("moves_to", sa.BigInteger(), nullable=True))
    build_indexes({"ix_sequences_follows_below": "sequences (id) WHERE follows_below IS NOT NULL"})


def downgrade() -> None:
    limit_locks()
    op.drop_index("ix_sequences_follows_below")
    op.drop_column("sequences", "moves_to")
    op.drop_column("sequences", "follows_below")
