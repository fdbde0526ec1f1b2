"""Tables of the ledger."""

import enum
from datetime import date, datetime

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


class LedgerDay(Base):
    """The ledger entries of one type and one day in UTC, summed up: of an account, at most one row for each.

    A trigger on `ledger_entries` maintains it in the transaction of the entry, which holds the account's balance, so
    that reads need not sum up the ledger; the deletion of the account deletes it. `text_amount` is the part of `amount`
    for messages, `first_text_at` the instant of the earliest of them.
    """

    __tablename__ = "ledger_days"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(primary_key=True)
    entries: Mapped[int]
    amount: Mapped[int]
    text_amount: Mapped[int]
    first_text_at: Mapped[datetime | None]
