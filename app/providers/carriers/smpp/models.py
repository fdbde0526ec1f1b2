"""Tables of SMPP connections: the deliveries that are not settled yet, and the leases of binds."""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class SmppDelivery(Base):
    """An inbound text, or a part of one, until the SMSC certainly has our response and the text is complete.

    A delivery with the same `digest` in a later `session` is the same one, repeated by an SMSC that lacks the response.
    A part has its `reference`, `total` and `sequence`; it `is_complete` when its text was received, and `is_settled`
    when the SMSC has the response.
    """

    __tablename__ = "smpp_deliveries"
    __table_args__ = (
        Index("ix_smpp_deliveries_digest", "carrier", "digest"),
        Index("ix_smpp_deliveries_parts", "carrier", "source", "reference", postgresql_where=text("total IS NOT NULL")),
        Index("ix_smpp_deliveries_received_at", "received_at"),
    )

    id: Mapped[Key]
    carrier: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    session: Mapped[str]
    source: Mapped[str]
    destination: Mapped[str]
    data_coding: Mapped[int]
    octets: Mapped[bytes] = mapped_column(LargeBinary)
    reference: Mapped[int | None]
    total: Mapped[int | None]
    sequence: Mapped[int | None]
    is_complete: Mapped[bool] = mapped_column(server_default=text("false"))
    is_settled: Mapped[bool] = mapped_column(server_default=text("false"))
    received_at: Mapped[Created]


class SmppLease(Base):
    """The right of one process to bind a connection, until it ends or is renewed; `holder` is new in each process.

    `problem` is the reason why the connection is not bound; empty while it is.
    """

    __tablename__ = "smpp_leases"

    carrier: Mapped[str] = mapped_column(primary_key=True)
    holder: Mapped[str]
    held_until: Mapped[datetime]
    problem: Mapped[str] = mapped_column(server_default="")
