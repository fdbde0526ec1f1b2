"""Table of watched keywords."""

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class WatchedKeyword(Base):
    """A word or phrase that an account watches for, normalized by `keywords.normalize`."""

    __tablename__ = "watched_keywords"
    __table_args__ = (UniqueConstraint("account_id", "keyword"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    keyword: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]
