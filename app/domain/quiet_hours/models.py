"""Tables of an account's own quiet hours, and of the texts that count toward frequency caps."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class QuietHoursRule(Base):
    """A rule of an account beside those of law: a window of minutes after midnight, on some weekdays.

    `cap` is the most texts to a phone in 24 hours. With `overrides_law`, for a stated `reason`, the rule stands in the
    place of the law's.
    """

    __tablename__ = "quiet_hours_rules"
    __table_args__ = (
        CheckConstraint("cap > 0", "cap_positive"),
        Index("ix_quiet_hours_rules_account_id", "account_id", "id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    jurisdiction: Mapped[str]
    weekdays: Mapped[list[str]]
    start_minute: Mapped[int]
    end_minute: Mapped[int]
    cap: Mapped[int | None]
    overrides_law: Mapped[bool] = mapped_column(server_default=text("false"))
    reason: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str]
    created_at: Mapped[Created]


class CappedText(Base):
    """A text that counts toward the caps of its phone, for a week; `at` is when it left or is to leave.

    There is no foreign key to the message, which would cost more than the row.
    """

    __tablename__ = "capped_texts"
    __table_args__ = (
        Index("ix_capped_texts_phone", "account_id", "phone", "at", "message_id"),
        Index("ix_capped_texts_at", "at"),
    )

    message_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[int]
    phone: Mapped[str]
    at: Mapped[datetime]
    has_left: Mapped[bool] = mapped_column(server_default=text("false"))
