"""Tables of subscriptions, deliveries, attempts, their counts, and notices."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class SubscriptionKind(enum.StrEnum):
    """`hook`: one event as a flat payload, for automation platforms; `endpoint`: several events in an envelope."""

    hook = enum.auto()
    endpoint = enum.auto()


class SubscriptionStatus(enum.StrEnum):
    """The state of a subscription. A `disabled` one stores events for replay, a `removed` one is deleted."""

    active = enum.auto()
    disabled = enum.auto()
    removed = enum.auto()


class Subscription(Base):
    """A URL that receives events.

    `wake_at` is the time of its next work, null without pending deliveries. One process at a time leases it, until
    `leased_until`. `lease` counts the leases; `revision` counts the changes that a lease holder must reload, and
    `version` those that callers made by `update_webhook`, so that a concurrent one is noticed.
    It ends with the credential of `creator_id` (`app.domain.accounts.credentials`); one of the service itself has none.
    `open_until` is set while its circuit breaker is open, `has_leftovers` while it is disabled or removed and has
    pending deliveries (`webhooks.leftovers`).
    """

    __tablename__ = "webhook_subscriptions"
    __table_args__ = (
        Index("ix_webhook_subscriptions_account_id", "account_id", "status"),
        Index("ix_webhook_subscriptions_wake_at", "wake_at", postgresql_where=text("status = 'active'")),
        Index("ix_webhook_subscriptions_leftovers", "id", postgresql_where=text("has_leftovers")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[str]
    target_url: Mapped[str]
    events: Mapped[list[str]]
    description: Mapped[str] = mapped_column(server_default="")
    status: Mapped[str] = mapped_column(server_default=SubscriptionStatus.active)
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("creators.id"), index=True)
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    old_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    old_secret_until: Mapped[datetime | None]
    wake_at: Mapped[datetime | None]
    leased_until: Mapped[datetime | None]
    lease: Mapped[int] = mapped_column(server_default="0")
    revision: Mapped[int] = mapped_column(server_default="0")
    version: Mapped[int] = mapped_column(server_default="1")
    failures: Mapped[int] = mapped_column(server_default="0")
    trips: Mapped[int] = mapped_column(server_default="0")
    open_until: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    noticed: Mapped[int] = mapped_column(server_default="0")
    has_leftovers: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[Created]


class DeliveryStatus(enum.StrEnum):
    """The state of a delivery. A `skipped` one was pending when its subscription was disabled, or created later.

    It can be replayed.
    """

    pending = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    skipped = enum.auto()
    canceled = enum.auto()


class Delivery(Base):
    """One event for one subscription. `body` is serialized once and sent unchanged, on every attempt and replay.

    `event` is the plain name for a hook and the dotted name for an endpoint. `answer_status` is the HTTP status of the
    answer to the last attempt, null where none came or it is not known. There are no foreign keys, which would check
    each row: the triggers `delete_webhook_deliveries` and `delete_webhook_attempts` delete the deliveries of a deleted
    subscription, and the attempts of a deleted delivery.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index(
            "uq_webhook_deliveries_event",
            "event_id",
            "subscription_id",
            unique=True,
            postgresql_where=text("event_id IS NOT NULL"),
        ),
        Index(
            "ix_webhook_deliveries_due",
            "subscription_id",
            "next_attempt_at",
            "id",
            postgresql_where=text("status = 'pending'"),
        ),
        Index("ix_webhook_deliveries_subscription_id", "subscription_id", text("id DESC")),
        Index("ix_webhook_deliveries_newest", "account_id", text("id DESC"), "event", "answer_status"),
        Index(
            "ix_webhook_deliveries_status",
            "account_id",
            "status",
            text("id DESC"),
            postgresql_where=text("status <> 'delivered'"),
        ),
        Index(
            "ix_webhook_deliveries_answer",
            "account_id",
            text("(answer_status / 100)"),
            text("id DESC"),
            postgresql_where=text("status <> 'delivered' AND attempts > 0"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int]
    subscription_id: Mapped[int]
    event_id: Mapped[int | None]
    event: Mapped[str]
    webhook_id: Mapped[str]
    contact_id: Mapped[int | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    is_test: Mapped[bool] = mapped_column(server_default=text("false"))
    status: Mapped[str] = mapped_column(server_default=DeliveryStatus.pending)
    attempts: Mapped[int] = mapped_column(server_default="0")
    answer_status: Mapped[int | None]
    next_attempt_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    created_at: Mapped[Created]


class Attempt(Base):
    """One POST of a delivery, its duration in `seconds` and the response: `body` is the first 2 KiB."""

    __tablename__ = "webhook_attempts"
    __table_args__ = (Index("ix_webhook_attempts_delivery_id", "delivery_id", "id"),)

    id: Mapped[Key]
    delivery_id: Mapped[int]
    number: Mapped[int]
    status: Mapped[int | None]
    error: Mapped[str]
    address: Mapped[str]
    seconds: Mapped[float]
    headers: Mapped[dict[str, Any]]
    body: Mapped[str]
    attempted_at: Mapped[Created]


class WebhookHour(Base):
    """The attempts of a webhook in an hour, tests excepted, by the bucket of their answer times (`webhooks.stats`).

    Bucket 0 is that of attempts without an answer.
    """

    __tablename__ = "webhook_hours"
    __table_args__ = (Index("ix_webhook_hours_hour", "hour"),)

    subscription_id: Mapped[int] = mapped_column(
        ForeignKey("webhook_subscriptions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    hour: Mapped[datetime] = mapped_column(primary_key=True)
    bucket: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempts: Mapped[int]
    successes: Mapped[int]


class NoticeKind(enum.StrEnum):
    """The state of a subscription that a notice reports."""

    failing = enum.auto()
    disabled = enum.auto()
    removed = enum.auto()


class Notice(Base):
    """A message to the users of an account about a failing, disabled or removed subscription."""

    __tablename__ = "webhook_notices"
    __table_args__ = (Index("ix_webhook_notices_account_id", "account_id", text("id DESC")),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    subscription_id: Mapped[int]
    kind: Mapped[str]
    text: Mapped[str]
    created_at: Mapped[Created]
