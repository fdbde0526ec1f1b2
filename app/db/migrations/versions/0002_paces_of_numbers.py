"""Paces of sending numbers, and the token buckets that hold to them."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("phone_numbers", sa.Column("parts_per_second", sa.Float()))
    op.add_column("outgoing", sa.Column("segments", sa.BigInteger(), server_default="1", nullable=False))
    op.execute("UPDATE outgoing o SET segments = m.segments FROM messages m WHERE m.id = o.message_id AND m.segments > 1")
    op.create_table(
        "token_buckets",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("free_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_token_buckets")),
    )


def downgrade() -> None:
    limit_locks()
    op.drop_table("token_buckets")
    op.drop_column("outgoing", "segments")
    op.drop_column("phone_numbers", "parts_per_second")
