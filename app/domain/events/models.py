"""Tables of recorded events, of the outbox, and of failed reactions."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class EventRow(Base):
    """A recorded event, inserted in the transaction of its change; only an erasure changes it afterwards.

    The payload is `json`, not `jsonb`, so that its keys keep their order. A trigger inserts each event into the outbox.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_account_id", "account_id", "id"),
        Index("ix_events_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
        {"postgresql_partition_by": "RANGE (id)"},
    )

    id: Mapped[Key]
    account_id: Mapped[int]
    name: Mapped[str]
    contact_id: Mapped[int | None]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    request_id: Mapped[str | None]
    created_at: Mapped[Created]


class WaitingEvent(Base):
    """An event that waits to be dispatched.

    The trigger `queue_events` inserts it with each row of `events`, so that no statement can leave it out. The
    dispatcher deletes it.
    """

    __tablename__ = "outbox"

    account_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class FailedReaction(Base):
    """A reaction that failed for an event. A null `next_attempt_at` sets it aside until the operator retries it."""

    __tablename__ = "failed_reactions"
    __table_args__ = (
        Index("ix_failed_reactions_due", "next_attempt_at", postgresql_where=text("next_attempt_at IS NOT NULL")),
    )

    account_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    reaction: Mapped[str] = mapped_column(primary_key=True)
    attempts: Mapped[int] = mapped_column(server_default="1")
    error: Mapped[str]
    next_attempt_at: Mapped[datetime | None]
    failed_at: Mapped[datetime]
