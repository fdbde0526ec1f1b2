"""Tables of drip sequences, steps and enrollments."""

import enum
from datetime import datetime, timedelta

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class SequenceStatus(enum.StrEnum):
    """The status of a sequence. `paused` delays its enrollments; `archived` has ended them."""

    active = enum.auto()
    paused = enum.auto()
    archived = enum.auto()


class EnrollmentStatus(enum.StrEnum):
    """The status of an enrollment: `finishing` waits for the carrier to take the last step; the last two are final."""

    active = enum.auto()
    finishing = enum.auto()
    completed = enum.auto()
    exited = enum.auto()


class Sequence(Base):
    """A drip sequence: messages that are sent automatically one after the other.

    `version` grows with each change, `steps_version` with each change of the steps. An enrollment ends with a reply if
    `exits_on_reply`, and once its contact is in one of `exit_stages` or has one of `exit_tags`. Steps leave between the
    minutes `window_start` and `window_end` of the recipient's day, on `window_days`, if there is such a window. A
    contact whose enrollment ended can be enrolled again after `re_enroll_after_days`, never if that is null. With
    `skips_refused`, a step that is refused for a day is skipped, and does not end the enrollment. `has_set_aside` is
    true if an enrollment may be set aside. Enrollments with ids below `follows_below` are still to move to the version
    `moves_to`, or to end if that is null; `follows_below` is null once all have followed.
    """

    __tablename__ = "sequences"
    __table_args__ = (
        Index("ix_sequences_account_id", "account_id", "id"),
        Index("ix_sequences_set_aside", "id", postgresql_where=text("has_set_aside AND status = 'active'")),
        Index("ix_sequences_follows_below", "id", postgresql_where=text("follows_below IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=SequenceStatus.active)
    version: Mapped[int] = mapped_column(server_default="1")
    steps_version: Mapped[int] = mapped_column(server_default="1")
    exits_on_reply: Mapped[bool] = mapped_column(server_default=text("true"))
    exit_stages: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    exit_tags: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    window_start: Mapped[int | None]
    window_end: Mapped[int | None]
    window_days: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    re_enroll_after_days: Mapped[int | None] = mapped_column(server_default="0")
    skips_refused: Mapped[bool] = mapped_column(server_default=text("false"))
    has_set_aside: Mapped[bool] = mapped_column(server_default=text("false"))
    follows_below: Mapped[int | None]
    moves_to: Mapped[int | None]
    created_by: Mapped[str | None]
    created_at: Mapped[Created]


class Step(Base):
    """One message of a version of a sequence, sent some time after the previous one, or after the enrollment.

    That is `delay_days` days of the recipient's calendar, at the same time of the day, and then `delay_minutes`. With
    `at_minute`, it waits for the next time that is so many minutes after midnight where the recipient is. `key`
    identifies the step in all versions of its sequence. `sent` counts the contacts it was sent to in this version.
    """

    __tablename__ = "sequence_steps"
    __table_args__ = (
        UniqueConstraint("sequence_id", "version", "position"),
        UniqueConstraint("sequence_id", "version", "key"),
        CheckConstraint("delay_minutes >= 0", "delay_not_negative"),
        CheckConstraint("delay_days >= 0", "delay_days_not_negative"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    sequence_id: Mapped[int] = mapped_column(ForeignKey("sequences.id", ondelete="CASCADE"))
    version: Mapped[int] = mapped_column(server_default="1")
    position: Mapped[int]
    key: Mapped[int]
    delay_days: Mapped[int] = mapped_column(server_default="0")
    delay_minutes: Mapped[int]
    at_minute: Mapped[int | None]
    body: Mapped[str]
    sent: Mapped[int] = mapped_column(server_default="0")


class Enrollment(Base):
    """A contact's way through a version of a sequence. `position` is the next step, `next_send_at` its time.

    A paused enrollment has `remaining`, the part of its delay that was left, and `paused_until` if its pause has an
    end, or no `next_send_at`. `is_set_aside` is true for one that became due while its sequence was paused, so that the
    index of due steps excludes it. `last_message_id` is the message of the step before,
    which was sent after `last_attempts` refusals and failures.
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
            postgresql_where=text("status = 'active' AND NOT is_set_aside"),
        ),
        Index(
            "ix_sequence_enrollments_turns",
            "account_id",
            "next_send_at",
            "id",
            postgresql_where=text("status = 'active' AND NOT is_set_aside"),
        ),
        Index(
            "ix_sequence_enrollments_set_aside",
            "sequence_id",
            "id",
            postgresql_where=text("status = 'active' AND is_set_aside"),
        ),
        Index(
            "ix_sequence_enrollments_last_message_id",
            "last_message_id",
            postgresql_where=text("status IN ('active', 'finishing')"),
        ),
        Index("ix_sequence_enrollments_contact_id", "contact_id"),
        Index("ix_sequence_enrollments_sequence_id", "sequence_id", "id"),
        Index("ix_sequence_enrollments_status", "sequence_id", "status", "id"),
        Index(
            "ix_sequence_enrollments_counts",
            "sequence_id",
            "status",
            "steps_version",
            "position",
            postgresql_include=["exit_reason", "remaining", "paused_until"],
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    sequence_id: Mapped[int] = mapped_column(ForeignKey("sequences.id", ondelete="CASCADE"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(server_default=EnrollmentStatus.active)
    exit_reason: Mapped[str] = mapped_column(server_default="")
    is_set_aside: Mapped[bool] = mapped_column(server_default=text("false"))
    steps_version: Mapped[int] = mapped_column(server_default="1")
    position: Mapped[int] = mapped_column(server_default="1")
    next_send_at: Mapped[datetime | None]
    remaining: Mapped[timedelta | None]
    paused_until: Mapped[datetime | None]
    claimed_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    last_message_id: Mapped[int | None]
    last_attempts: Mapped[int] = mapped_column(server_default="0")
    enrolled_by: Mapped[str]
    request_id: Mapped[str | None]
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]

    def is_paused_at(self, now: datetime) -> bool:
        """Return whether the enrollment is paused."""
        is_over = self.paused_until is not None and self.paused_until <= now
        return self.status == EnrollmentStatus.active and self.remaining is not None and not is_over
