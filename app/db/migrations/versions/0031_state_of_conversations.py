"""Snoozed and waiting conversations, their version and AI state; conversations and actors of live updates."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

NEWEST = "last_message_at DESC, id DESC"
INDEXES = {
    "ix_conversations_assigned": f"conversations (assignee_id, status, {NEWEST}) WHERE assignee_id IS NOT NULL",
    "ix_conversations_unassigned": (
        f"conversations (account_id, {NEWEST}) WHERE assignee_id IS NULL AND status = 'open'"
    ),
    "ix_conversations_number": f"conversations (account_id, sending_number, {NEWEST})",
    "ix_conversations_waiting": "conversations (account_id, waiting_since, id) WHERE waiting_since IS NOT NULL",
    "ix_conversations_possible_opt_out": f"conversations (account_id, {NEWEST}) WHERE possible_opt_out",
    "ix_conversations_snoozed": "conversations (snoozed_until) WHERE snoozed_until IS NOT NULL",
}
FORMER = {"ix_conversations_assignee": f"conversations (assignee_id, {NEWEST}) WHERE assignee_id IS NOT NULL"}
WAITING = """
UPDATE conversations SET waiting_since = last_inbound_at
WHERE status = 'open' AND last_inbound_at > coalesce(last_outbound_at, '-infinity')
"""


def upgrade() -> None:
    limit_locks()
    op.add_column("conversations", sa.Column("snoozed_until", sa.DateTime(timezone=True)))
    op.add_column("conversations", sa.Column("version", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("conversations", sa.Column("ai_state", sa.Text(), server_default="none", nullable=False))
    op.add_column("conversations", sa.Column("waiting_since", sa.DateTime(timezone=True)))
    op.add_column("live_updates", sa.Column("conversation_id", sa.BigInteger()))
    op.add_column("live_updates", sa.Column("actor", sa.Text()))
    op.execute(WAITING)
    build_indexes(INDEXES)
    drop_indexes(*FORMER)


def downgrade() -> None:
    limit_locks()
    op.execute("UPDATE conversations SET status = 'open' WHERE status = 'snoozed'")
    for name in ("snoozed_until", "version", "ai_state", "waiting_since"):
        op.drop_column("conversations", name)
    for name in ("conversation_id", "actor"):
        op.drop_column("live_updates", name)
    drop_indexes(*INDEXES)
    build_indexes(FORMER)
