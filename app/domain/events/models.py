"""Tables of recorded events, and of those that wait to be dispatched."""

from typing import Any

from sqlalchemy import JSON, BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class EventRow(Base):
    """A recorded event, written in the transaction of the change that it reports; no row is changed afterwards.

    The payload is `json`, not `jsonb`, so that its keys keep their order. A trigger puts each event into the outbox.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_account_id", "account_id", "id"),
        Index("ix_events_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
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

    The trigger `queue_events` adds it with each row of `events`, so that no statement can record an event and forget
    it here; the dispatcher deletes it.
    """

    __tablename__ = "outbox"

    account_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
