"""Tables of AI agents, their knowledge and their runs."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Computed, ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from app.db.base import Base, Created, Key

TITLE_WORDS = "to_tsvector('english'::regconfig, title)"
WORDS = "to_tsvector('english'::regconfig, title || ' ' || body)"


class AgentStatus(enum.StrEnum):
    """The status of an agent."""

    active = enum.auto()
    paused = enum.auto()


class AgentMode(enum.StrEnum):
    """The handling of an agent's drafts: they are sent, wait for approval, or are only recorded."""

    auto = enum.auto()
    approve = enum.auto()
    shadow = enum.auto()


class KnowledgeKind(enum.StrEnum):
    """A document, or a question of the FAQ with its answer."""

    document = enum.auto()
    faq = enum.auto()


class RunStatus(enum.StrEnum):
    """The progress of a run. A `sending` one has a draft that is about to be sent."""

    waiting = enum.auto()
    running = enum.auto()
    sending = enum.auto()
    done = enum.auto()


class Outcome(enum.StrEnum):
    """The result of a run."""

    sent = enum.auto()
    drafted = enum.auto()
    discarded = enum.auto()
    recorded = enum.auto()
    handed_over = enum.auto()
    stopped = enum.auto()
    superseded = enum.auto()
    failed = enum.auto()


class Agent(Base):
    """An agent. Empty `number_ids` and a null `segment_id` mean all; without `days`, all hours.

    `days` are ISO weekdays, `opens_at` and `closes_at` minutes of the day in the account's time zone.
    `hand_over_to` is the user to whom conversations are assigned when they are handed over. `version` counts the
    changes of its settings, so that a concurrent one is noticed.
    """

    __tablename__ = "ai_agents"
    __table_args__ = (
        CheckConstraint("status IN ('active','paused')", "status"),
        CheckConstraint("mode IN ('auto','approve','shadow')", "mode"),
        Index("ix_ai_agents_account_id", "account_id", "id"),
        Index("ix_ai_agents_active", "account_id", postgresql_where=text("status = 'active'")),
        Index("ix_ai_agents_hand_over_to", "hand_over_to", postgresql_where=text("hand_over_to IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=AgentStatus.paused)
    mode: Mapped[str] = mapped_column(server_default=AgentMode.approve)
    persona: Mapped[str] = mapped_column(server_default="")
    goals: Mapped[str] = mapped_column(server_default="")
    instructions: Mapped[str] = mapped_column(server_default="")
    number_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default="{}")
    segment_id: Mapped[int | None]
    days: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default="{}")
    opens_at: Mapped[int] = mapped_column(server_default="0")
    closes_at: Mapped[int] = mapped_column(server_default="1440")
    debounce_seconds: Mapped[int] = mapped_column(server_default="5")
    max_messages: Mapped[int] = mapped_column(server_default="8")
    max_unanswered: Mapped[int] = mapped_column(server_default="3")
    max_segments: Mapped[int] = mapped_column(server_default="2")
    daily_limit: Mapped[int] = mapped_column(server_default="200")
    hand_over_to: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    hand_over_message: Mapped[str]
    version: Mapped[int] = mapped_column(server_default="1")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class Knowledge(Base):
    """A document, or a question (`title`) with its answer (`body`)."""

    __tablename__ = "ai_knowledge"
    __table_args__ = (
        CheckConstraint("kind IN ('document','faq')", "kind"),
        Index("ix_ai_knowledge_agent_id", "agent_id", "id"),
        Index("ix_ai_knowledge_account_id", "account_id", "id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("ai_agents.id", ondelete="CASCADE"))
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]


class KnowledgePassage(Base):
    """A part of a document, or a whole answer, as retrieval finds it."""

    __tablename__ = "ai_passages"
    __table_args__ = (
        Index("ix_ai_passages_agent_id", "agent_id", "id"),
        Index("ix_ai_passages_account_id", "account_id", "id"),
        Index("ix_ai_passages_knowledge_id", "knowledge_id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("ai_agents.id", ondelete="CASCADE"))
    knowledge_id: Mapped[int] = mapped_column(ForeignKey("ai_knowledge.id", ondelete="CASCADE"))
    is_answer: Mapped[bool]
    title: Mapped[str]
    body: Mapped[str]
    title_words: Mapped[Any] = mapped_column(TSVECTOR, Computed(TITLE_WORDS, persisted=True), deferred=True)
    words: Mapped[Any] = mapped_column(TSVECTOR, Computed(WORDS, persisted=True), deferred=True)


class AgentRun(Base):
    """One decision about the latest inbound message of a conversation, with everything that explains it.

    A `waiting` run is due at `due_at`; there is one for a conversation, so that a burst of messages is one run of
    `messages`. The claim of a worker ends at `claimed_until`. `gates` are the verdicts in order, `gate` the one that
    decided, `passages` the retrieved passages with their scores. `call_id` is the paid call of the writer.
    """

    __tablename__ = "ai_agent_runs"
    __table_args__ = (
        CheckConstraint("status IN ('waiting','running','sending','done')", "status"),
        Index("uq_ai_agent_runs_waiting", "conversation_id", unique=True, postgresql_where=text("status = 'waiting'")),
        Index("ix_ai_agent_runs_account_id", "account_id", "id"),
        Index("ix_ai_agent_runs_agent_id", "agent_id", "id"),
        Index("ix_ai_agent_runs_conversation_id", "conversation_id", "id"),
        Index("ix_ai_agent_runs_contact_id", "contact_id"),
        Index("ix_ai_agent_runs_due_at", "due_at", postgresql_where=text("status <> 'done'")),
        Index("ix_ai_agent_runs_turns", "account_id", "due_at", "id", postgresql_where=text("status <> 'done'")),
        Index("ix_ai_agent_runs_outcome", "account_id", "outcome", "id"),
        Index("ix_ai_agent_runs_created_at", "created_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    agent_id: Mapped[int | None] = mapped_column(ForeignKey("ai_agents.id", ondelete="CASCADE"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    message_id: Mapped[int]
    messages: Mapped[int] = mapped_column(server_default="1")
    status: Mapped[str] = mapped_column(server_default=RunStatus.waiting)
    outcome: Mapped[str | None]
    gate: Mapped[str | None]
    reason: Mapped[str] = mapped_column(server_default="")
    gates: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    passages: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    draft: Mapped[str | None]
    summary: Mapped[str | None]
    provider: Mapped[str | None]
    model: Mapped[str | None]
    call_id: Mapped[int | None]
    credits: Mapped[int] = mapped_column(server_default="0")
    sent_message_id: Mapped[int | None]
    decided_by: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
