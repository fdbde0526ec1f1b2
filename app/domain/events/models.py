"""Table of recorded events."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, Sequence, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key

POSITIONS = Sequence("event_positions", metadata=Base.metadata)


class EventRow(Base):
    """A recorded event, written in the transaction of the change that it reports; outbox and audit trail in one.

    The payload is `json`, not `jsonb`, so that its keys keep their order. The dispatcher gives a `position` to an event
    that is shown live; see `live.feed`.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_undispatched", "id", postgresql_where=text("dispatched_at IS NULL")),
        Index("ix_events_account_id_name", "account_id", "name", "id"),
        Index("ix_events_contact_id", "contact_id"),
        Index("ix_events_account_id_position", "account_id", "position", postgresql_where=text("position IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int]
    name: Mapped[str]
    contact_id: Mapped[int | None]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    request_id: Mapped[str | None]
    created_at: Mapped[Created]
    dispatched_at: Mapped[datetime | None]
    position: Mapped[int | None]
