"""Tables of connections to carriers, of their results, and of their alerts."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Sequence, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key

SANDBOX = "sandbox"
"""The key of the connection that every installation has from the beginning, and the name of its kind."""

WORKER = "worker"
"""The role that hands off the texts of most connections."""

REVISIONS = Sequence("carrier_connection_revisions", data_type=BigInteger)


class ConnectionStatus(enum.StrEnum):
    """The status of a connection: its texts leave, or wait."""

    active = enum.auto()
    paused = enum.auto()


class CarrierConnection(Base):
    """A connection to a carrier: of the whole installation, or of one account with `account_id`.

    The columns `carrier` of other tables hold its `key`, which never changes. `credentials` are sealed JSON; null where
    the kind has none. `previous_credentials` verify callbacks as well until `previous_until`. `role` is the role of the
    processes that hand its texts over. Each change takes a new `revision`.
    """

    __tablename__ = "carrier_connections"
    __table_args__ = (CheckConstraint("status IN ('active','paused')", "status"),)

    id: Mapped[Key]
    key: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    credentials: Mapped[bytes | None]
    previous_credentials: Mapped[bytes | None]
    previous_until: Mapped[datetime | None]
    parts_per_second: Mapped[float | None]
    status: Mapped[str] = mapped_column(server_default=ConnectionStatus.active)
    role: Mapped[str] = mapped_column(server_default=WORKER)
    revision: Mapped[int] = mapped_column(server_default=REVISIONS.next_value())
    created_at: Mapped[Created]


class CarrierLookup(Base):
    """The last statements of a carrier about a phone, which an account has paid for.

    `carrier` is the key of the connection that was asked, and `current_carrier` the network of the phone.
    """

    __tablename__ = "carrier_lookups"
    __table_args__ = (
        UniqueConstraint("account_id", "phone", "carrier"),
        Index("ix_carrier_lookups_account_id", "account_id", "id"),
        Index("ix_carrier_lookups_looked_up_at", "looked_up_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    carrier: Mapped[str]
    phone: Mapped[str]
    is_valid: Mapped[bool]
    line_type: Mapped[str]
    current_carrier: Mapped[str | None]
    country: Mapped[str | None]
    looked_up_at: Mapped[datetime]


class ConnectionResult(enum.StrEnum):
    """A result of a connection: the answer to a hand-off, a final report, or a callback and its signature."""

    accepted = enum.auto()
    rejected = enum.auto()
    unanswered = enum.auto()
    delivered = enum.auto()
    undelivered = enum.auto()
    callback = enum.auto()
    callback_refused = enum.auto()


class AlertKind(enum.StrEnum):
    """A condition of a connection that needs a person."""

    failing = enum.auto()
    credentials_refused = enum.auto()
    callbacks_refused = enum.auto()
    silent = enum.auto()


class ConnectionMinute(Base):
    """The count of a result of a connection in a minute, by the code of the failure, or "" without one.

    `parts` are the SMS parts of accepted texts; `carrier_error` is the carrier's own code of the last time, `last_at`.
    `skew_seconds` is the time by which the clock that signed the last callback was ahead of ours.
    """

    __tablename__ = "connection_minutes"
    __table_args__ = (Index("ix_connection_minutes_minute", "minute"),)

    connection_id: Mapped[int] = mapped_column(
        ForeignKey("carrier_connections.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    minute: Mapped[datetime] = mapped_column(primary_key=True)
    result: Mapped[str] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    parts: Mapped[int] = mapped_column(server_default="0")
    last_at: Mapped[datetime]
    carrier_error: Mapped[str] = mapped_column(server_default="")
    skew_seconds: Mapped[float | None]


class ConnectionAlert(Base):
    """A condition that a connection has had since a time."""

    __tablename__ = "connection_alerts"

    connection_id: Mapped[int] = mapped_column(
        ForeignKey("carrier_connections.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    kind: Mapped[str] = mapped_column(primary_key=True)
    since: Mapped[datetime]
