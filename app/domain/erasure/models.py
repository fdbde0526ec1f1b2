"""Table of the erasures that carriers still have to do."""

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class CarrierErasure(Base):
    """A message that was erased here, and that its carrier is yet to forget. `due_at` is when it is asked to."""

    __tablename__ = "carrier_erasures"
    __table_args__ = (Index("ix_carrier_erasures_due_at", "due_at"),)

    message_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    carrier: Mapped[str]
    provider_message_id: Mapped[str | None]
    due_at: Mapped[datetime]
