"""Tables of the ledger."""

import enum
from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class EntryType(enum.StrEnum):
    """The reason for a change of a balance."""

    debit = enum.auto()
    refund = enum.auto()
    purchase = enum.auto()
    adjustment = enum.auto()
    forfeiture = enum.auto()
    reversal = enum.auto()
    dispute = enum.auto()


class LedgerEntry(Base):
    """One change of a balance, in credits: `amount` is negative for a debit, `balance_after` is the new balance.

    Entries are never changed or deleted, not even with their message; only the deletion of an account empties
    `description` and `actor`. A message has at most one debit and one refund.
    """

    __tablename__ = "ledger_entries"
    __table_args__ = (
        Index("ix_ledger_entries_account_id", "account_id", text("id DESC")),
        Index(
            "ix_ledger_entries_type", "account_id", "type", text("id DESC"), postgresql_where=text("type <> 'debit'")
        ),
        Index("ix_ledger_entries_created_at", "created_at", postgresql_using="brin"),
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


OTHER_THAN_DEBITS = LedgerEntry.type != "debit"
"""The condition of the index of entries that are not debits, of which there are few."""


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


class BalanceAlert(Base):
    """The balance below which the owners of an account are warned, in credits: once, at `warned_at`.

    It is null again from the time at which credits raise the balance to the threshold, or the threshold is changed.
    """

    __tablename__ = "balance_alerts"
    __table_args__ = (
        Index("ix_balance_alerts_watched", "account_id", postgresql_where=text("warned_at IS NULL")),
        CheckConstraint("threshold > 0", "threshold_positive"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), unique=True)
    threshold: Mapped[int]
    warned_at: Mapped[datetime | None]
