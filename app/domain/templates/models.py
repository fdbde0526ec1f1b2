"""Tables of saved templates and of an account's fallbacks for placeholders."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class Template(Base):
    """A saved text with placeholders. `version` counts its changes, so that a concurrent one is noticed."""

    __tablename__ = "templates"
    __table_args__ = (Index("ix_templates_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    body: Mapped[str]
    version: Mapped[int] = mapped_column(server_default="1")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class PlaceholderFallback(Base):
    """The text that an account shows for a placeholder without a value, where the placeholder has none of its own."""

    __tablename__ = "placeholder_fallbacks"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    fallback: Mapped[str]
    updated_at: Mapped[datetime]
