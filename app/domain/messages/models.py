"""Messages, receipts and what could not be matched, as they are stored."""

import enum
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class Direction(enum.StrEnum):
    """Which way a message went."""

    outbound = enum.auto()
    inbound = enum.auto()


class MessageStatus(enum.StrEnum):
    """How far a message has come. `delivered`, `failed` and `received` are final."""

    pending = enum.auto()
    sent = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    received = enum.auto()


class Purpose(enum.StrEnum):
    """Why a message is sent; quiet hours and caps depend on it, and `compliance` is free and passes every gate."""

    conversational = enum.auto()
    transactional = enum.auto()
    promotional = enum.auto()
    compliance = enum.auto()


class Attestation(enum.StrEnum):
    """How a sender certifies consent; the value is the method that the consent record names."""

    api = "api_attestation"
    automation = "automation_attestation"
    enrollment = "enrollment"


class Message(Base):
    """One text. `segments` are its SMS parts, `credits` what was debited, `cost` that times the rate; 0 once failed.

    What a worker must still do stands in the row: a `pending` message with `due_at` and no claim is to be handed
    over; one whose `claimed_until` has passed was in the hands of a worker that died, or got no answer, and the
    carrier is asked before anything else. `unanswered_since` is when its carrier first did not answer; `unconfirmed`
    is true once it was given up to find out what became of it.
    """

    __tablename__ = "messages"
    __table_args__ = (
        CheckConstraint("status IN ('pending','sent','delivered','failed','received')", "status"),
        Index("ix_messages_due", "due_at", "id", postgresql_where=text("status = 'pending' AND claimed_until IS NULL")),
        Index(
            "ix_messages_claimed",
            "claimed_until",
            postgresql_where=text("status = 'pending' AND claimed_until IS NOT NULL"),
        ),
        Index("ix_messages_log", "account_id", text("id DESC")),
        Index("ix_messages_conversation_id", "conversation_id", "id"),
        Index("ix_messages_contact_id", "contact_id"),
        Index(
            "uq_messages_provider_message_id",
            "carrier",
            "provider_message_id",
            "direction",
            unique=True,
            postgresql_where=text("provider_message_id IS NOT NULL"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    direction: Mapped[str]
    from_number: Mapped[str]
    to_number: Mapped[str]
    body: Mapped[str]
    status: Mapped[str]
    purpose: Mapped[str] = mapped_column(server_default=Purpose.transactional)
    segments: Mapped[int]
    encoding: Mapped[str]
    credits: Mapped[int] = mapped_column(server_default="0")
    cost: Mapped[Decimal] = mapped_column(Numeric(14, 4), server_default="0")
    carrier: Mapped[str]
    provider_message_id: Mapped[str | None]
    carrier_status: Mapped[str | None]
    error_code: Mapped[str | None]
    carrier_error: Mapped[str | None]
    unconfirmed: Mapped[bool] = mapped_column(server_default=text("false"))
    due_at: Mapped[datetime | None]
    claimed_until: Mapped[datetime | None]
    unanswered_since: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    actor: Mapped[str]
    request_id: Mapped[str | None]
    created_at: Mapped[Created]
    sent_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]


class ErasedText(Base):
    """What a carrier called a text to us that was erased with its contact: brought again, it is not kept again."""

    __tablename__ = "erased_texts"

    carrier: Mapped[str] = mapped_column(primary_key=True)
    provider_message_id: Mapped[str] = mapped_column(primary_key=True)
    erased_at: Mapped[datetime]


class CarrierErasure(Base):
    """A message that was erased here, and that its carrier is yet to delete. `due_at` is when the carrier is asked."""

    __tablename__ = "carrier_erasures"
    __table_args__ = (Index("ix_carrier_erasures_due_at", "due_at"),)

    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    carrier: Mapped[str]
    provider_message_id: Mapped[str | None]
    due_at: Mapped[datetime]


class ReceiptRow(Base):
    """A carrier's report, journaled before it is applied. `message_id` is null until the message is known."""

    __tablename__ = "receipts"
    __table_args__ = (
        UniqueConstraint("carrier", "provider_message_id", "raw_status", "carrier_error", "part"),
        Index("ix_receipts_message_id", "message_id"),
        Index("ix_receipts_parked", "received_at", postgresql_where=text("message_id IS NULL")),
    )

    id: Mapped[Key]
    carrier: Mapped[str]
    provider_message_id: Mapped[str]
    message_id: Mapped[int | None]
    status: Mapped[str]
    raw_status: Mapped[str]
    error_code: Mapped[str | None]
    carrier_error: Mapped[str]
    part: Mapped[int]
    contradicts: Mapped[bool] = mapped_column(server_default=text("false"))
    received_at: Mapped[Created]


class UnmatchedCallback(Base):
    """A signed callback that could not be used: it lacked something, or was for a number that nobody holds."""

    __tablename__ = "unmatched_callbacks"

    id: Mapped[Key]
    carrier: Mapped[str]
    kind: Mapped[str]
    problem: Mapped[str]
    payload: Mapped[dict[str, Any]]
    received_at: Mapped[Created]
