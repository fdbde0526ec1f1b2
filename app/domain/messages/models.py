"""Tables of messages, receipts and unmatched callbacks."""

import enum
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class Direction(enum.StrEnum):
    """The direction of a message."""

    outbound = enum.auto()
    inbound = enum.auto()


class MessageStatus(enum.StrEnum):
    """The status of a message. `delivered`, `failed` and `received` are final."""

    pending = enum.auto()
    sent = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    received = enum.auto()


class Purpose(enum.StrEnum):
    """The purpose of a message, on which its lane and gates depend; set by the code that requests it, never by a user.

    `compliance`: replies to STOP, START and HELP, and the question and confirmation of a double opt-in; free, and
    passes every gate. `conversational`: a person's reply, which passes a hold. `transactional`: sends through the API.
    `promotional`: steps of sequences, and campaigns.
    """

    conversational = enum.auto()
    transactional = enum.auto()
    promotional = enum.auto()
    compliance = enum.auto()


class Attestation(enum.StrEnum):
    """The method by which a sender certifies consent, as stored in the consent record."""

    api = "api_attestation"
    automation = "automation_attestation"
    enrollment = "enrollment"
    campaign = "campaign"
    booking = "booking_form"
    crm = "crm_attestation"


class Message(Base):
    """One message. `segments` counts its SMS parts, `credits` is the debit, `cost` that times the rate; 0 once failed.

    `carrier` is the key of the connection. A `pending` one has a row in `outgoing`. `unconfirmed` is true when the
    carrier is no longer queried; see `queries.is_unconfirmed`. `deferred_until` is the time to which quiet hours or a
    frequency cap put it off last, with the rule and the time zones of the recipient. `carrier_segments`,
    `carrier_charge` and `carrier_currency` are as the carrier reported them, `media` the links to the files of an
    inbound MMS, `answered_keyword` is the keyword in it that the carrier answered. `original_body` is the text as it
    was written, null where smart encoding changed nothing.
    """

    __tablename__ = "messages"
    __table_args__ = (
        CheckConstraint("status IN ('pending','sent','delivered','failed','received')", "status"),
        Index("ix_messages_log", "account_id", text("id DESC")),
        Index("ix_messages_status", "account_id", "status", text("id DESC")),
        Index("ix_messages_conversation_id", "conversation_id", "id"),
        Index("ix_messages_contact", "contact_id", "id"),
        {"postgresql_partition_by": "RANGE (id)"},
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
    carrier_segments: Mapped[int | None]
    carrier_charge: Mapped[Decimal | None]
    carrier_currency: Mapped[str | None]
    media: Mapped[list[dict[str, str]] | None] = mapped_column(JSONB)
    actor: Mapped[str]
    request_id: Mapped[str | None]
    created_at: Mapped[Created]
    sent_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    deferred_until: Mapped[datetime | None]
    deferral_rule: Mapped[str | None]
    deferral_zones: Mapped[list[str] | None]
    original_body: Mapped[str | None]
    answered_keyword: Mapped[str | None]


class CarrierId(Base):
    """The id that a carrier assigned to a message, or to one of its parts; `carrier` is the key of the connection.

    It is unique for each direction and connection. `parts` is the number of parts that have ids of their own, each with
    its receipts; 1 where the message has one id.
    """

    __tablename__ = "carrier_ids"
    __table_args__ = (Index("ix_carrier_ids_parts", "message_id", postgresql_where=text("parts > 1")),)

    carrier: Mapped[str] = mapped_column(primary_key=True)
    provider_message_id: Mapped[str] = mapped_column(primary_key=True)
    direction: Mapped[str] = mapped_column(primary_key=True)
    message_id: Mapped[int]
    part: Mapped[int] = mapped_column(server_default="1")
    parts: Mapped[int] = mapped_column(server_default="1")


class Outgoing(Base):
    """A message in the queue of hand-offs, until the carrier's answer is recorded; `number` is the sending number.

    Without a claim it is due at `due_at`. An expired `claimed_until` means that a worker died or the carrier did not
    answer: then the carrier is queried first. `unanswered_since` is the time of the first missing answer,
    `asked_since` the time from which it is certain that the last call has ended: its missing answer, or the first query
    after a worker died. `tried_since` is the time of the first attempt without success, after which it is tried again.
    The next claim deletes a row whose message is settled or erased. There is no foreign key, which would cost more than
    the row. `segments` is copied for the paces of numbers and carriers, `carrier` is the key of the connection. A text
    that obeys quiet hours and frequency caps has an `expires_at`: one that may leave only later fails then. So does the
    confirmation of an opt-out.
    """

    __tablename__ = "outgoing"
    __table_args__ = (
        Index(
            "ix_outgoing_numbers",
            "lane",
            "carrier",
            "number",
            "due_at",
            "message_id",
            postgresql_where=text("claimed_until IS NULL"),
        ),
        Index("ix_outgoing_due", "carrier", "due_at", postgresql_where=text("claimed_until IS NULL")),
        Index("ix_outgoing_claimed", "account_id", "claimed_until", postgresql_where=text("claimed_until IS NOT NULL")),
    )

    message_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[int]
    lane: Mapped[int]
    number: Mapped[str]
    carrier: Mapped[str]
    segments: Mapped[int] = mapped_column(server_default="1")
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]
    unanswered_since: Mapped[datetime | None]
    asked_since: Mapped[datetime | None]
    tried_since: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")


class ScheduledText(Base):
    """A text that is sent later: while its message is pending, it waits in the queue until `send_at`."""

    __tablename__ = "scheduled_texts"
    __table_args__ = (
        Index("ix_scheduled_texts_account_id", "account_id", "send_at", "message_id"),
        Index("ix_scheduled_texts_send_at", "send_at"),
    )

    message_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[int]
    conversation_id: Mapped[int]
    send_at: Mapped[datetime]


class BucketKind(enum.StrEnum):
    """The resource that a token bucket paces: a sending number, or the connection to a carrier."""

    number = enum.auto()
    carrier = enum.auto()


class TokenBucket(Base):
    """The time from which a number, or a connection, can send again. A row exists only after a pace was reached.

    `name` is the number, or the key of the connection.
    """

    __tablename__ = "token_buckets"

    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    free_at: Mapped[datetime]


class ErasedText(Base):
    """The carrier's id of an inbound message that was erased with its contact, so that it is not stored again."""

    __tablename__ = "erased_texts"

    carrier: Mapped[str] = mapped_column(primary_key=True)
    provider_message_id: Mapped[str] = mapped_column(primary_key=True)
    erased_at: Mapped[datetime]


class CarrierErasure(Base):
    """An erased message that its carrier must also delete. `due_at` is the time of the next request to the carrier."""

    __tablename__ = "carrier_erasures"
    __table_args__ = (Index("ix_carrier_erasures_due_at", "due_at"),)

    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    carrier: Mapped[str]
    provider_message_id: Mapped[str | None]
    due_at: Mapped[datetime]


class ErasedCall(Base):
    """A text that was erased during the call to its carrier.

    Its credits are refunded at `due_at`, unless the carrier has accepted it before.
    """

    __tablename__ = "erased_calls"
    __table_args__ = (
        Index("ix_erased_calls_account_id", "account_id", "message_id"),
        Index("ix_erased_calls_due_at", "due_at"),
    )

    message_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[int]
    credits: Mapped[int]
    due_at: Mapped[datetime]


class MessageMark(Base):
    """The last message that a walk through the messages, in the order of their ids, has read."""

    __tablename__ = "message_marks"

    name: Mapped[str] = mapped_column(primary_key=True)
    last_id: Mapped[int]


class StatusQuery(Base):
    """A text without a final report, whose carrier is asked for its status at `due_at`; see `late_reports`.

    A claim moves `due_at` to its end. `carrier` is the key of the connection.
    """

    __tablename__ = "status_queries"
    __table_args__ = (Index("ix_status_queries_due_at", "carrier", "due_at"),)

    message_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    carrier: Mapped[str] = mapped_column(ForeignKey("carrier_connections.key", ondelete="CASCADE"))
    due_at: Mapped[datetime]


class InboundListing(Base):
    """A number that has received texts through a connection, whose carrier is asked for further ones at `due_at`.

    The texts that were received by `listed_until` are known. A claim moves `due_at` to its end. `carrier` is the key of
    the connection.
    """

    __tablename__ = "inbound_listings"
    __table_args__ = (Index("ix_inbound_listings_due_at", "carrier", "due_at"),)

    carrier: Mapped[str] = mapped_column(ForeignKey("carrier_connections.key", ondelete="CASCADE"), primary_key=True)
    number: Mapped[str] = mapped_column(primary_key=True)
    listed_until: Mapped[datetime]
    due_at: Mapped[datetime]


class ReceiptRow(Base):
    """A receipt of a message, stored once even if it is repeated.

    `contradicts` is true for a final status that came after the other final status and was not applied.
    """

    __tablename__ = "receipts"
    __table_args__ = ({"postgresql_partition_by": "RANGE (message_id)"},)

    message_id: Mapped[int] = mapped_column(primary_key=True)
    provider_message_id: Mapped[str] = mapped_column(primary_key=True)
    raw_status: Mapped[str] = mapped_column(primary_key=True)
    carrier_error: Mapped[str] = mapped_column(primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    error_code: Mapped[str | None]
    contradicts: Mapped[bool] = mapped_column(server_default=text("false"))
    received_at: Mapped[Created]


class UnmatchedReceipt(Base):
    """A receipt that arrived before the hand-off recorded the carrier's id of its message.

    `message_id` is set when the id is recorded; then the receipt is applied, and the row deleted.
    """

    __tablename__ = "unmatched_receipts"
    __table_args__ = (
        UniqueConstraint("carrier", "provider_message_id", "raw_status", "carrier_error", "part"),
        Index("ix_unmatched_receipts_received_at", "received_at"),
        Index("ix_unmatched_receipts_matched", "message_id", postgresql_where=text("message_id IS NOT NULL")),
    )

    id: Mapped[Key]
    carrier: Mapped[str]
    provider_message_id: Mapped[str]
    status: Mapped[str]
    raw_status: Mapped[str]
    error_code: Mapped[str | None]
    carrier_error: Mapped[str]
    part: Mapped[int]
    carrier_segments: Mapped[int | None]
    carrier_charge: Mapped[Decimal | None]
    carrier_currency: Mapped[str | None]
    message_id: Mapped[int | None]
    received_at: Mapped[Created]


class UnmatchedCallback(Base):
    """A signed callback that could not be processed: a field was missing, or no account has the number."""

    __tablename__ = "unmatched_callbacks"

    id: Mapped[Key]
    carrier: Mapped[str]
    kind: Mapped[str]
    problem: Mapped[str]
    payload: Mapped[dict[str, Any]]
    received_at: Mapped[Created]
