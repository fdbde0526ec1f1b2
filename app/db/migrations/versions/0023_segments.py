"""Segments, and the times of the last messages from and to a contact.

Code before this migration leaves these times as they are until it is replaced.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

TIMES = {"last_inbound_at": "inbound", "last_outbound_at": "outbound"}
LAST = (
    "SELECT m.created_at FROM messages m WHERE m.conversation_id = conversations.id AND m.direction = '{direction}'"
    " ORDER BY m.id DESC LIMIT 1"
)


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "segments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("filter", postgresql.JSONB(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_segments"),
    )
    for name in TIMES:
        op.add_column("conversations", sa.Column(name, sa.DateTime(timezone=True)))
    values = ", ".join(f"{name} = ({LAST.format(direction=direction)})" for name, direction in TIMES.items())
    op.execute(f"UPDATE conversations SET {values}")
    build_indexes({"ix_segments_account_id": "segments (account_id, id)"})


def downgrade() -> None:
    limit_locks()
    for name in TIMES:
        op.drop_column("conversations", name)
    op.drop_table("segments")
