"""AI agents, their knowledge and their runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

TITLE_WORDS = "to_tsvector('english'::regconfig, title)"
WORDS = "to_tsvector('english'::regconfig, title || ' ' || body)"


INDEXES = {
    "ix_ai_agents_account_id": "ai_agents (account_id, id)",
    "ix_ai_agents_active": "ai_agents (account_id) WHERE status = 'active'",
    "ix_ai_agents_hand_over_to": "ai_agents (hand_over_to) WHERE hand_over_to IS NOT NULL",
    "ix_ai_knowledge_agent_id": "ai_knowledge (agent_id, id)",
    "ix_ai_knowledge_account_id": "ai_knowledge (account_id, id)",
    "ix_ai_passages_agent_id": "ai_passages (agent_id, id)",
    "ix_ai_passages_account_id": "ai_passages (account_id, id)",
    "ix_ai_passages_knowledge_id": "ai_passages (knowledge_id)",
    "ix_ai_agent_runs_account_id": "ai_agent_runs (account_id, id)",
    "ix_ai_agent_runs_agent_id": "ai_agent_runs (agent_id, id)",
    "ix_ai_agent_runs_conversation_id": "ai_agent_runs (conversation_id, id)",
    "ix_ai_agent_runs_contact_id": "ai_agent_runs (contact_id)",
    "ix_ai_agent_runs_created_at": "ai_agent_runs (created_at)",
    "ix_ai_agent_runs_due_at": "ai_agent_runs (due_at) WHERE status <> 'done'",
    "ix_ai_agent_runs_drafted": "ai_agent_runs (account_id, id) WHERE outcome = 'drafted'",
}


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "ai_agents",
        _id(),
        _reference("account_id", "accounts.id"),
        sa.Column("name", sa.Text(), nullable=False),
        *(_text(name, default) for name, default in (("status", "paused"), ("mode", "approve"))),
        *(_text(name, "") for name in ("persona", "goals", "instructions")),
        sa.Column("number_ids", postgresql.ARRAY(sa.BigInteger()), server_default="{}", nullable=False),
        sa.Column("segment_id", sa.BigInteger()),
        sa.Column("days", postgresql.ARRAY(sa.BigInteger()), server_default="{}", nullable=False),
        *(_number(name, default) for name, default in (("opens_at", 0), ("closes_at", 1440), ("debounce_seconds", 5))),
        *(_number(name, default) for name, default in (("max_messages", 8), ("max_unanswered", 3))),
        *(_number(name, default) for name, default in (("max_segments", 2), ("daily_limit", 200))),
        sa.Column("hand_over_to", sa.BigInteger(), sa.ForeignKey("users.id")),
        sa.Column("hand_over_message", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        _now("created_at"),
        _now("updated_at"),
        sa.PrimaryKeyConstraint("id", name="pk_ai_agents"),
        sa.CheckConstraint("status IN ('active','paused')", name=op.f("ck_ai_agents_status")),
        sa.CheckConstraint("mode IN ('auto','approve','shadow')", name=op.f("ck_ai_agents_mode")),
    )
    op.create_table(
        "ai_knowledge",
        _id(),
        _reference("account_id", "accounts.id"),
        _reference("agent_id", "ai_agents.id", ondelete="CASCADE"),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("kind", "title", "body", "created_by")),
        _now("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_ai_knowledge"),
        sa.CheckConstraint("kind IN ('document','faq')", name=op.f("ck_ai_knowledge_kind")),
    )
    op.create_table(
        "ai_passages",
        _id(),
        _reference("account_id", "accounts.id"),
        _reference("agent_id", "ai_agents.id", ondelete="CASCADE"),
        _reference("knowledge_id", "ai_knowledge.id", ondelete="CASCADE"),
        sa.Column("is_answer", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("title", "body")),
        sa.Column("title_words", postgresql.TSVECTOR(), sa.Computed(TITLE_WORDS, persisted=True), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), sa.Computed(WORDS, persisted=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ai_passages"),
    )
    _create_runs()
    build_indexes(INDEXES)


def _create_runs() -> None:
    op.create_table(
        "ai_agent_runs",
        _id(),
        _reference("account_id", "accounts.id"),
        sa.Column("agent_id", sa.BigInteger(), sa.ForeignKey("ai_agents.id", ondelete="CASCADE")),
        _reference("contact_id", "contacts.id", ondelete="CASCADE"),
        _reference("conversation_id", "conversations.id", ondelete="CASCADE"),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        _number("messages", 1),
        _text("status", "waiting"),
        sa.Column("outcome", sa.Text()),
        sa.Column("gate", sa.Text()),
        _text("reason", ""),
        sa.Column("gates", postgresql.JSONB(), server_default="[]", nullable=False),
        sa.Column("passages", postgresql.JSONB(), server_default="[]", nullable=False),
        *(sa.Column(name, sa.Text()) for name in ("draft", "summary", "provider", "model")),
        sa.Column("call_id", sa.BigInteger()),
        _number("credits", 0),
        sa.Column("sent_message_id", sa.BigInteger()),
        sa.Column("decided_by", sa.Text()),
        _number("attempts", 0),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
        _now("created_at"),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_ai_agent_runs"),
        sa.CheckConstraint(
            "status IN ('waiting','running','sending','done')", name=op.f("ck_ai_agent_runs_status")
        ),
    )
    op.execute("CREATE UNIQUE INDEX uq_ai_agent_runs_waiting ON ai_agent_runs (conversation_id) WHERE status = 'waiting'")


def downgrade() -> None:
    limit_locks()
    for table in ("ai_agent_runs", "ai_passages", "ai_knowledge", "ai_agents"):
        op.drop_table(table)


def _id() -> sa.Column:
    return sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False)


def _reference(name: str, target: str, ondelete: str | None = None) -> sa.Column:
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(target, ondelete=ondelete), nullable=False)


def _text(name: str, default: str) -> sa.Column:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _number(name: str, default: int) -> sa.Column:
    return sa.Column(name, sa.BigInteger(), server_default=str(default), nullable=False)


def _now(name: str) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False)
