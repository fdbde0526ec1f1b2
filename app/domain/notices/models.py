"""Tables of notices, and of the choices of users."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class NoticeKind(enum.StrEnum):
    """The kind of a notice."""

    new_message = enum.auto()
    assigned = enum.auto()
    handed_over = enum.auto()
    low_balance = enum.auto()
    campaign = enum.auto()
    automation = enum.auto()
    webhook = enum.auto()
    integration = enum.auto()
    number = enum.auto()


OF_OWNERS = frozenset(
    {
        NoticeKind.low_balance,
        NoticeKind.campaign,
        NoticeKind.automation,
        NoticeKind.webhook,
        NoticeKind.integration,
        NoticeKind.number,
    }
)
"""The kinds of which the owners of an account get notices; all its users get those of others."""


class Notice(Base):
    """A notice to a user. Several texts of a contact share one notice until it is read: `count` is their number.

    `subject_id` is the id of the campaign, webhook, integration or number that an owner's notice is about, and of the
    latest text of one about texts; null for others.
    `is_shown` is False for a notice that the user wants by mail only. `mail_at` is the time at which it is mailed
    unless it was read before; null for none, and once it was mailed.
    """

    __tablename__ = "notices"
    __table_args__ = (
        Index("ix_notices_account_id", "account_id", "id"),
        Index("ix_notices_user_id", "user_id", text("id DESC")),
        Index("ix_notices_unread", "user_id", postgresql_where=text("read_at IS NULL")),
        Index(
            "uq_notices_unread_message",
            "user_id",
            "contact_id",
            unique=True,
            postgresql_where=text("kind = 'new_message' AND read_at IS NULL"),
        ),
        Index("ix_notices_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
        Index("ix_notices_mail_at", "mail_at", postgresql_where=text("mail_at IS NOT NULL")),
        Index("ix_notices_created_at", "created_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[str]
    contact_id: Mapped[int | None] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    subject_id: Mapped[int | None]
    title: Mapped[str]
    body: Mapped[str] = mapped_column(server_default="")
    count: Mapped[int] = mapped_column(server_default="1")
    is_shown: Mapped[bool] = mapped_column(server_default=text("true"))
    mail_at: Mapped[datetime | None]
    read_at: Mapped[datetime | None]
    created_at: Mapped[Created]


class NoticePreference(Base):
    """The choice of a user for a kind of notices; without a row the defaults hold."""

    __tablename__ = "notice_preferences"
    __table_args__ = (
        UniqueConstraint("user_id", "kind"),
        Index("ix_notice_preferences_account_id", "account_id", "id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[str]
    in_browser: Mapped[bool]
    by_mail: Mapped[bool]
