"""Table of segments."""

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class Segment(Base):
    """A saved filter of contacts, as `filters.store` writes it; its members are found anew at each use.

    `version` counts its changes, so that a concurrent one is noticed.
    """

    __tablename__ = "segments"
    __table_args__ = (Index("ix_segments_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    filter: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(server_default="1")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
