"""Table of conversations."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class ConversationStatus(enum.StrEnum):
    """The status of a conversation."""

    open = enum.auto()
    closed = enum.auto()


class Conversation(Base):
    """All messages with one contact. An inbound message reopens it.

    `sending_number` is the number of the account that its latest message was sent from, or arrived at.
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
            "ix_conversations_assignee",
            "assignee_id",
            text("last_message_at DESC"),
            text("id DESC"),
            postgresql_where=text("assignee_id IS NOT NULL"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"), unique=True)
    status: Mapped[str] = mapped_column(server_default=ConversationStatus.open)
    assignee_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    possible_opt_out: Mapped[bool] = mapped_column(server_default=text("false"))
    wrong_number: Mapped[bool] = mapped_column(server_default=text("false"))
    read_up_to: Mapped[int | None]
    unread_count: Mapped[int] = mapped_column(server_default="0")
    sending_number: Mapped[str | None]
    last_message_at: Mapped[datetime]
    created_at: Mapped[Created]
