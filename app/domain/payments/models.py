"""Tables of payments, plans and customers of payment providers."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class PaymentStatus(enum.StrEnum):
    """The status of a payment."""

    requested = enum.auto()
    pending = enum.auto()
    paid = enum.auto()
    refunded = enum.auto()
    disputed = enum.auto()
    expired = enum.auto()


class PlanStatus(enum.StrEnum):
    """The status of a plan of an account."""

    active = enum.auto()
    past_due = enum.auto()
    ended = enum.auto()


class Payment(Base):
    """A purchase of credits: a top-up, or a month of a plan.

    `amount`, `refunded` and `disputed` are in the smallest unit of the currency, as the provider last showed them to a
    reading that began at `seen_at`. `purchased`, `reversed` and `withheld` are the credits that the ledger has for the
    payment, its refunds and its disputes; they and the entries change in one transaction. `provider_id` is the
    provider's id of the checkout until it is paid, then that of the payment. At `look_at` the provider is asked about a
    payment whose event has not come.
    """

    __tablename__ = "payments"
    __table_args__ = (
        UniqueConstraint("provider", "key"),
        Index("ix_payments_account_id", "account_id", "id"),
        Index("ix_payments_look_at", "look_at", postgresql_where=text("look_at IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    provider: Mapped[str]
    key: Mapped[str]
    provider_id: Mapped[str] = mapped_column(server_default="")
    status: Mapped[str]
    description: Mapped[str]
    credits: Mapped[int]
    amount: Mapped[int]
    currency: Mapped[str]
    refunded: Mapped[int] = mapped_column(server_default="0")
    disputed: Mapped[int] = mapped_column(server_default="0")
    purchased: Mapped[int] = mapped_column(server_default="0")
    reversed: Mapped[int] = mapped_column(server_default="0")
    withheld: Mapped[int] = mapped_column(server_default="0")
    url: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[Created]
    seen_at: Mapped[datetime | None]
    look_at: Mapped[datetime | None]
    paid_at: Mapped[datetime | None]


class PlanSubscription(Base):
    """A plan that an account pays each month, as the provider showed it to a reading that began at `seen_at`."""

    __tablename__ = "plan_subscriptions"
    __table_args__ = (
        UniqueConstraint("provider", "provider_id"),
        Index("ix_plan_subscriptions_account_id", "account_id", "id"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    provider: Mapped[str]
    provider_id: Mapped[str]
    plan: Mapped[str]
    credits: Mapped[int]
    amount: Mapped[int]
    currency: Mapped[str]
    status: Mapped[str]
    is_ending: Mapped[bool] = mapped_column(server_default=text("false"))
    period_end: Mapped[datetime | None]
    created_at: Mapped[Created]
    seen_at: Mapped[datetime]


class PaymentInstallation(Base):
    """A random key that identifies this installation at payment providers; that of the highest id is the present one.

    The migration adds the first one, and an operator one after a restore, when the ids of accounts are given out again.
    """

    __tablename__ = "payment_installations"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(server_default=text("gen_random_uuid()::text"))
    created_at: Mapped[Created]


class PaymentCustomer(Base):
    """The customer that an account is at a payment provider."""

    __tablename__ = "payment_customers"
    __table_args__ = (UniqueConstraint("account_id", "provider"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    provider: Mapped[str]
    provider_id: Mapped[str]
