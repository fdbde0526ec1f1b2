"""Table of sending numbers."""

import enum

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class NumberStatus(enum.StrEnum):
    """The status of a number: active, or released."""

    active = enum.auto()
    released = enum.auto()


class PhoneNumber(Base):
    """A number that an account sends from and receives on, of the connection with the key `carrier`.

    `parts_per_second` is how many SMS parts leave from it in a second at most; None for no limit. While it `is_paused`,
    no new text is accepted from it; accepted ones leave, and texts that come in are received. `refusals` counts the
    texts since the last delivery, or its last resumption, that its carrier refused because it is not registered.
    """

    __tablename__ = "phone_numbers"
    __table_args__ = (
        Index("uq_phone_numbers_active", "phone_number", unique=True, postgresql_where=text("status = 'active'")),
        Index("uq_phone_numbers_primary", "account_id", unique=True, postgresql_where=text("is_primary")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    phone_number: Mapped[str]
    label: Mapped[str]
    carrier: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=NumberStatus.active)
    is_primary: Mapped[bool] = mapped_column(server_default=text("false"))
    is_paused: Mapped[bool] = mapped_column(server_default=text("false"))
    refusals: Mapped[int] = mapped_column(server_default="0")
    parts_per_second: Mapped[float | None]
    created_at: Mapped[Created]
