"""Notes and events in threads, and texts that are sent later."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

TABLES = ("conversation_entries", "scheduled_texts")


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "conversation_entries",
        sa.Column("id", sa.BigInteger(), server_default=sa.text("nextval('messages_id_seq')"), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column(
            "conversation_id", sa.BigInteger(), sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("snoozed_until", sa.DateTime(timezone=True)),
        sa.Column("assignee_id", sa.BigInteger()),
        sa.Column("ai_state", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_conversation_entries"),
    )
    op.execute("CREATE INDEX ix_conversation_entries_conversation_id ON conversation_entries (conversation_id, id)")
    op.create_table(
        "scheduled_texts",
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("conversation_id", sa.BigInteger(), nullable=False),
        sa.Column("send_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_scheduled_texts"),
    )
    op.execute("CREATE INDEX ix_scheduled_texts_account_id ON scheduled_texts (account_id, send_at, message_id)")
    op.execute("CREATE INDEX ix_scheduled_texts_send_at ON scheduled_texts (send_at)")
    op.add_column("live_updates", sa.Column("note_id", sa.BigInteger()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("live_updates", "note_id")
    for table in TABLES:
        op.drop_table(table)
