"""Tables of integrations, the events that arrive for them, bookings, and the texts about bookings."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key

WEBHOOK = "webhook"
"""The kind of inbound webhooks from any sender; other kinds are names of scheduling tools."""


class IntegrationStatus(enum.StrEnum):
    """The status of an integration. While it is `paused`, its events and its texts wait.

    A `removed` one is as good as deleted: `integrations.leftovers` deletes its rows, then its own.
    """

    active = enum.auto()
    paused = enum.auto()
    removed = enum.auto()


class Integration(Base):
    """A connection of an account to a tool, which posts to `/integrations/{kind}/{address}`.

    `secret` is sealed, as is `previous_secret`, which is accepted as well until `previous_until`. `texts` are the
    texts about bookings by their kinds, `actions` those of an inbound webhook. It stops with the credential of
    `creator_id` (`integrations.endings`); one without goes on with no credential. The counts are of events since the
    beginning: `received` signed ones, `refused` others, `failed` signed ones that could not be applied.
    """

    __tablename__ = "integrations"
    __table_args__ = (
        Index("ix_integrations_account_id", "account_id", "id"),
        Index("ix_integrations_removed", "id", postgresql_where=text("status = 'removed'")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[str]
    name: Mapped[str]
    address: Mapped[str] = mapped_column(unique=True)
    creator_id: Mapped[int | None]
    secret: Mapped[bytes]
    previous_secret: Mapped[bytes | None]
    previous_until: Mapped[datetime | None]
    status: Mapped[str] = mapped_column(server_default=IntegrationStatus.active)
    phone_number_id: Mapped[int | None]
    consent_question: Mapped[str] = mapped_column(server_default="")
    texts: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    actions: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    received: Mapped[int] = mapped_column(server_default="0")
    refused: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    last_received_at: Mapped[datetime | None]
    last_refused_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(server_default="")
    last_error_at: Mapped[datetime | None]
    created_at: Mapped[Created]


class EventStatus(enum.StrEnum):
    """The status of an event: it waits, it was applied, it changes nothing, or it cannot be applied."""

    waiting = enum.auto()
    applied = enum.auto()
    ignored = enum.auto()
    failed = enum.auto()


class IntegrationEvent(Base):
    """A signed event, stored as it came before it is answered; a job applies it.

    `key` identifies the event, so that a repetition is not stored. `result` is its effect, or the reason for none. The
    body is emptied after some days, and with the contact.
    """

    __tablename__ = "integration_events"
    __table_args__ = (
        UniqueConstraint("integration_id", "key"),
        Index("ix_integration_events_log", "account_id", "id"),
        Index("ix_integration_events_integration_id", "integration_id", "id"),
        Index("ix_integration_events_status", "account_id", "status", "id"),
        Index(
            "ix_integration_events_waiting",
            "integration_id",
            "due_at",
            "id",
            postgresql_where=text("status = 'waiting'"),
        ),
        Index("ix_integration_events_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
        Index("ix_integration_events_booking_id", "booking_id", postgresql_where=text("booking_id IS NOT NULL")),
        Index("ix_integration_events_received_at", "received_at"),
        Index("ix_integration_events_body", "received_at", postgresql_where=text("body <> ''")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int] = mapped_column(ForeignKey("integrations.id", ondelete="CASCADE"))
    key: Mapped[str]
    event: Mapped[str]
    body: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=EventStatus.waiting)
    result: Mapped[str] = mapped_column(server_default="")
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime]
    contact_id: Mapped[int | None]
    booking_id: Mapped[int | None]
    received_at: Mapped[datetime]
    applied_at: Mapped[datetime | None]


class BookingStatus(enum.StrEnum):
    """The status of a booking; `moved` is one that another booking has replaced."""

    booked = enum.auto()
    moved = enum.auto()
    canceled = enum.auto()
    no_show = enum.auto()


class Booking(Base):
    """A booking in neutral form, under the id that its tool gave it.

    A moved booking is a new one that `replaces` the id of the old one. `is_known` is false while only a cancellation
    of it, or a reference to it, has arrived; then it may have no time. `made_at` is the tool's time of the newest event
    about it, `attendance_at` that of the newest one about the attendance. `phone` is in E.164. `consent` is the
    evidence of consent to texts about it, null without.
    """

    __tablename__ = "bookings"
    __table_args__ = (
        UniqueConstraint("integration_id", "external_id"),
        Index("ix_bookings_account_id", "account_id", "id"),
        Index("ix_bookings_status", "account_id", "status", "id"),
        Index("ix_bookings_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
        Index("ix_bookings_updated_at", "updated_at"),
        Index("ix_bookings_unknown", "integration_id", "created_at", postgresql_where=text("NOT is_known")),
        Index("ix_bookings_without_time", "updated_at", postgresql_where=text("starts_at IS NULL")),
        Index(
            "ix_bookings_of_no_contact",
            "updated_at",
            postgresql_where=text("contact_id IS NULL AND (name <> '' OR email <> '')"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int] = mapped_column(ForeignKey("integrations.id", ondelete="CASCADE"))
    external_id: Mapped[str]
    replaces: Mapped[str] = mapped_column(server_default="")
    status: Mapped[str] = mapped_column(server_default=BookingStatus.booked)
    is_known: Mapped[bool] = mapped_column(server_default=text("false"))
    is_moved: Mapped[bool] = mapped_column(server_default=text("false"))
    made_at: Mapped[datetime]
    attendance_at: Mapped[datetime | None]
    starts_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    time_zone: Mapped[str] = mapped_column(server_default="")
    name: Mapped[str] = mapped_column(server_default="")
    email: Mapped[str] = mapped_column(server_default="")
    phone: Mapped[str] = mapped_column(server_default="")
    title: Mapped[str] = mapped_column(server_default="")
    location: Mapped[str] = mapped_column(server_default="")
    cancel_url: Mapped[str] = mapped_column(server_default="")
    reschedule_url: Mapped[str] = mapped_column(server_default="")
    consent: Mapped[str | None]
    contact_id: Mapped[int | None] = mapped_column(ForeignKey("contacts.id", ondelete="SET NULL"))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class BookingTextKind(enum.StrEnum):
    """The kind of a text about a booking."""

    confirmation = enum.auto()
    reminder_day = enum.auto()
    reminder_hour = enum.auto()
    rescheduled = enum.auto()
    canceled = enum.auto()
    no_show = enum.auto()


class BookingTextStatus(enum.StrEnum):
    """The status of a text about a booking: it waits, was sent, was not needed, is no longer due, or was refused."""

    waiting = enum.auto()
    sent = enum.auto()
    skipped = enum.auto()
    canceled = enum.auto()
    refused = enum.auto()


class BookingText(Base):
    """A text about a booking at a time: one of each kind. It leaves between `due_at` and `expires_at`, or not at all.

    `reason` says why it was not sent: a code of an error, or `past`, `no_phone`, `no_consent`, `moved`, `canceled`,
    `no_show`, `attended`.
    """

    __tablename__ = "booking_texts"
    __table_args__ = (
        UniqueConstraint("booking_id", "kind", "starts_at"),
        Index("ix_booking_texts_due", "due_at", "id", postgresql_where=text("status = 'waiting'")),
        Index("ix_booking_texts_waiting", "account_id", "due_at", "id", postgresql_where=text("status = 'waiting'")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    booking_id: Mapped[int] = mapped_column(ForeignKey("bookings.id", ondelete="CASCADE"))
    kind: Mapped[str]
    starts_at: Mapped[datetime]
    due_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    status: Mapped[str] = mapped_column(server_default=BookingTextStatus.waiting)
    reason: Mapped[str] = mapped_column(server_default="")
    claimed_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    message_id: Mapped[int | None]
    sent_at: Mapped[datetime | None]
