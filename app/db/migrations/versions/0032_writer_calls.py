"""Paid calls of writers, so that a call whose process died is refunded."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "writer_calls",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="running", nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failure", sa.Text()),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_writer_calls"),
        sa.CheckConstraint("status IN ('running','done','refunded')", name=op.f("ck_writer_calls_status")),
    )
    build_indexes(
        {
            "ix_writer_calls_account_id": "writer_calls (account_id, id)",
            "ix_writer_calls_created_at": "writer_calls (created_at)",
            "ix_writer_calls_running": "writer_calls (account_id, expires_at) WHERE status = 'running'",
        }
    )


def downgrade() -> None:
    limit_locks()
    op.drop_table("writer_calls")
