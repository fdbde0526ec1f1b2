"""Table of the results of sending numbers."""

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class NumberHour(Base):
    """The results of the texts that left a number in one hour, by connection, destination and number of SMS parts.

    `region` is the calling code of the destination. `failed` counts the failures that the network caused: of these,
    `filtered` as unwanted and `unreachable` for phones that were off. `refused` counts texts that the carrier refused
    for the sender or the account. Replies and opt-outs stand in rows without connection, region and parts, in the hour
    of their arrival; `prompt_opt_outs` are those within 24 hours after a text to the contact.
    """

    __tablename__ = "number_hours"
    __table_args__ = (Index("ix_number_hours_hour", "hour"),)

    account_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    number: Mapped[str] = mapped_column(primary_key=True)
    hour: Mapped[datetime] = mapped_column(primary_key=True)
    carrier: Mapped[str] = mapped_column(primary_key=True)
    region: Mapped[str] = mapped_column(primary_key=True)
    segments: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    sent: Mapped[int] = mapped_column(server_default="0")
    delivered: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    filtered: Mapped[int] = mapped_column(server_default="0")
    unreachable: Mapped[int] = mapped_column(server_default="0")
    refused: Mapped[int] = mapped_column(server_default="0")
    replies: Mapped[int] = mapped_column(server_default="0")
    opt_outs: Mapped[int] = mapped_column(server_default="0")
    prompt_opt_outs: Mapped[int] = mapped_column(server_default="0")
