"""Table of connections to carriers."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Sequence, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key

SANDBOX = "sandbox"
"""The key of the connection that every installation has from the beginning, and the name of its kind."""

WORKER = "worker"
"""The role that hands over the texts of most connections."""

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
