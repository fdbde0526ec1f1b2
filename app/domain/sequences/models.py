"""Tables of drip sequences, steps and enrollments."""

import enum
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class SequenceStatus(enum.StrEnum):
    """The status of a sequence. `paused` delays its enrollments; `archived` has ended them."""

    active = enum.auto()
    paused = enum.auto()
    archived = enum.auto()


class EnrollmentStatus(enum.StrEnum):
    """The status of an enrollment: active, completed with its last step, or ended before it."""

    active = enum.auto()
    completed = enum.auto()
    exited = enum.auto()


class Sequence(Base):
    """A drip sequence: messages that are sent automatically one after the other."""

    __tablename__ = "sequences"
    __table_args__ = (Index("ix_sequences_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=SequenceStatus.active)
    created_at: Mapped[Created]


class Step(Base):
    """One message of a sequence, sent some time after the previous one, or after the enrollment.

    That is `delay_days` days of the recipient's calendar, at the same time of the day, and then `delay_minutes`. With
    `at_minute`, it waits for the next time that is so many minutes after midnight where the recipient is.
    """

    __tablename__ = "sequence_steps"
    __table_args__ = (
        UniqueConstraint("sequence_id", "position"),
        CheckConstraint("delay_minutes >= 0", "delay_not_negative"),
        CheckConstraint("delay_days >= 0", "delay_days_not_negative"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    sequence_id: Mapped[int] = mapped_column(ForeignKey("sequences.id", ondelete="CASCADE"))
    position: Mapped[int]
    delay_days: Mapped[int] = mapped_column(server_default="0")
    delay_minutes: Mapped[int]
    at_minute: Mapped[int | None]
    body: Mapped[str]


class Enrollment(Base):
    """A contact's way through a sequence. `position` is the next step, `next_send_at` its time.

    `is_paused` copies the paused status of the sequence, so that the index of due steps excludes paused enrollments.
    """

    __tablename__ = "sequence_enrollments"
    __table_args__ = (
        Index(
            "uq_sequence_enrollments_active",
            "sequence_id",
            "contact_id",
            unique=True,
            postgresql_where=text("status = 'active'"),
        ),
        Index(
            "ix_sequence_enrollments_due",
            "next_send_at",
            "id",
            postgresql_where=text("status = 'active' AND NOT is_paused"),
        ),
        Index("ix_sequence_enrollments_contact_id", "contact_id"),
        Index("ix_sequence_enrollments_sequence_id", "sequence_id", "id"),
        Index("ix_sequence_enrollments_status", "sequence_id", "status", "id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    sequence_id: Mapped[int] = mapped_column(ForeignKey("sequences.id", ondelete="CASCADE"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(server_default=EnrollmentStatus.active)
    exit_reason: Mapped[str] = mapped_column(server_default="")
    is_paused: Mapped[bool] = mapped_column(server_default=text("false"))
    position: Mapped[int] = mapped_column(server_default="1")
    next_send_at: Mapped[datetime | None]
    claimed_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    enrolled_by: Mapped[str]
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
