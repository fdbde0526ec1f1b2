"""Facts that subscribers may hear, named in the past tense, and the table that they wait in."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar

from sqlalchemy import JSON, Index, Sequence, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something happened. The fields are the payload, exactly as it is delivered.

    `name` is what single subscriptions ask for, `topic` its dotted name for dashboard webhooks.
    """

    name: ClassVar[str]
    topic: ClassVar[str | None] = None
    subscribable: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]]

    def payload(self) -> dict[str, Any]:
        """Return the flat JSON object that subscribers receive."""
        return asdict(self)


E = TypeVar("E", bound=type[Event])

EVENTS: dict[str, type[Event]] = {}

POSITIONS = Sequence("event_positions", metadata=Base.metadata)


def event(cls: E) -> E:
    """Enter an event in the register that subscribing, sampling and the documentation read.

    Raises `TypeError` for an example that does not fit the fields, `LookupError` for a name that is taken.
    """
    cls(**cls.example)
    if EVENTS.setdefault(cls.name, cls) is not cls:
        raise LookupError(f"{cls.__name__} and {EVENTS[cls.name].__name__} share the name {cls.name}")
    return cls


def timestamp(instant: datetime) -> str:
    """Return an instant as ISO 8601 in UTC, to the millisecond: `2026-11-21T09:30:00.000Z`."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class EventRow(Base):
    """A fact of the account's, written in the transaction that made it true; the outbox and the audit trail in one.

    The payload is `json`, not `jsonb`, so that its keys keep their order. `position` is given, when it is dispatched,
    to an event that is shown live; see `updates.feed`.
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
