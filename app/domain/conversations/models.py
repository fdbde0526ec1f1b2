"""Tables of conversations, and of the notes and events in them."""

import enum
from datetime import UTC, datetime

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key

UNLISTED = datetime.fromtimestamp(0, UTC)
"""The `last_message_at` of a conversation that has promotional texts only: it is in no view of the inbox."""


class ConversationStatus(enum.StrEnum):
    """The status of a conversation."""

    open = enum.auto()
    closed = enum.auto()
    snoozed = enum.auto()


class AiState(enum.StrEnum):
    """The state of AI agents in a conversation."""

    none = enum.auto()
    active = enum.auto()
    paused = enum.auto()
    handed_over = enum.auto()


class EntryKind(enum.StrEnum):
    """An entry of a thread between its texts: an internal note, or an event."""

    note = enum.auto()
    closed = enum.auto()
    reopened = enum.auto()
    snoozed = enum.auto()
    assigned = enum.auto()
    unassigned = enum.auto()
    ai_state = enum.auto()


class Conversation(Base):
    """All messages with one contact. An inbound message reopens it, also a snoozed one before `snoozed_until`.

    `sending_number` is the number of the account that its latest message was sent from, or arrived at. `version` grows
    with each outbound text, and with each change of the status or the assignee by a caller, so that two people do not
    answer at once. `waiting_since` is the time of the contact's first text that was not answered; null once a text
    other than a promotional one was sent, the conversation was closed, or the contact opted out. `last_message_at`,
    which orders lists, is the time of the latest text other than promotional ones, which would push the conversations
    with people away; `UNLISTED` until there is one, or a user changes the conversation.
    """

    __tablename__ = "conversations"
    __table_args__ = (
        Index("ix_conversations_recent", "account_id", text("last_message_at DESC"), text("id DESC")),
        Index("ix_conversations_status", "account_id", "status", text("last_message_at DESC"), text("id DESC")),
        Index(
            "ix_conversations_unread",
            "account_id",
            text("last_message_at DESC"),
            text("id DESC"),
            postgresql_where=text("unread_count > 0"),
        ),
        Index(
            "ix_conversations_assigned",
            "assignee_id",
            "status",
            text("last_message_at DESC"),
            text("id DESC"),
            postgresql_where=text("assignee_id IS NOT NULL"),
        ),
        Index(
            "ix_conversations_unassigned",
            "account_id",
            text("last_message_at DESC"),
            text("id DESC"),
            postgresql_where=text("assignee_id IS NULL AND status = 'open'"),
        ),
        Index("ix_conversations_number", "account_id", "sending_number", text("last_message_at DESC"), text("id DESC")),
        Index(
            "ix_conversations_waiting",
            "account_id",
            "waiting_since",
            "id",
            postgresql_where=text("waiting_since IS NOT NULL"),
        ),
        Index(
            "ix_conversations_possible_opt_out",
            "account_id",
            text("last_message_at DESC"),
            text("id DESC"),
            postgresql_where=text("possible_opt_out"),
        ),
        Index("ix_conversations_snoozed", "snoozed_until", postgresql_where=text("snoozed_until IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"), unique=True)
    status: Mapped[str] = mapped_column(server_default=ConversationStatus.open)
    snoozed_until: Mapped[datetime | None]
    assignee_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    version: Mapped[int] = mapped_column(server_default="0")
    ai_state: Mapped[str] = mapped_column(server_default=AiState.none)
    possible_opt_out: Mapped[bool] = mapped_column(server_default=text("false"))
    wrong_number: Mapped[bool] = mapped_column(server_default=text("false"))
    read_up_to: Mapped[int | None]
    unread_count: Mapped[int] = mapped_column(server_default="0")
    sending_number: Mapped[str | None]
    last_message_at: Mapped[datetime]
    waiting_since: Mapped[datetime | None]
    last_inbound_at: Mapped[datetime | None]
    last_outbound_at: Mapped[datetime | None]
    created_at: Mapped[Created]

    @property
    def shown_at(self) -> datetime:
        """Return the time of the last message to show: of a promotional one only if there is no other."""
        is_listed = self.last_message_at > UNLISTED
        return self.last_message_at if is_listed else self.last_outbound_at or self.created_at


class ConversationEntry(Base):
    """A note or an event in a thread. It has an id of the sequence of messages, so that ids are the thread's order.

    `actor` is the author of a note. `snoozed_until`, `assignee_id` and `ai_state` are the values that an event of that
    kind set.
    """

    __tablename__ = "conversation_entries"
    __table_args__ = (Index("ix_conversation_entries_conversation_id", "conversation_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True, server_default=text("nextval('messages_id_seq')"))
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    kind: Mapped[str]
    actor: Mapped[str]
    body: Mapped[str] = mapped_column(server_default="")
    snoozed_until: Mapped[datetime | None]
    assignee_id: Mapped[int | None]
    ai_state: Mapped[str | None]
    created_at: Mapped[Created]
    edited_at: Mapped[datetime | None]
