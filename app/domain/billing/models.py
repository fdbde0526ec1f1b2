"""Tables of the ledger."""

import enum

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class EntryType(enum.StrEnum):
    """The reason for a change of a balance."""

    debit = enum.auto()
    refund = enum.auto()
    purchase = enum.auto()
    adjustment = enum.auto()
    forfeiture = enum.auto()


class LedgerEntry(Base):
    """One change of a balance, in credits: `amount` is negative for a debit, `balance_after` is the new balance.

    Entries are never changed or deleted, not even with their message; only the deletion of an account empties
    `description` and `actor`. A message has at most one debit and one refund.
    """

    __tablename__ = "ledger_entries"
    __table_args__ = (
        Index("ix_ledger_entries_account_id", "account_id", text("id DESC")),
        Index(
            "ix_ledger_entries_texts",
            "account_id",
            "created_at",
            postgresql_include=["amount"],
            postgresql_where=text("message_id IS NOT NULL"),
        ),
        Index(
            "uq_ledger_entries_message_id",
            "message_id",
            "type",
            unique=True,
            postgresql_where=text("message_id IS NOT NULL"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    type: Mapped[str]
    amount: Mapped[int]
    balance_after: Mapped[int]
    message_id: Mapped[int | None]
    description: Mapped[str]
    actor: Mapped[str]
    created_at: Mapped[Created]
