"""Tables of campaigns, their recipients and the counts of these."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class CampaignStatus(enum.StrEnum):
    """The status of a campaign; `completed`, `canceled` and `failed` are final."""

    draft = enum.auto()
    scheduled = enum.auto()
    sending = enum.auto()
    paused = enum.auto()
    completed = enum.auto()
    canceled = enum.auto()
    failed = enum.auto()


class RecipientState(enum.StrEnum):
    """The state of a recipient. The recipients of all states together are the audience.

    `deferred`: the text waits for its time on the recipient's clock. `claimed`: the text was debited and waits for its
    carrier. `suppressed`: it must not be sent.
    """

    queued = enum.auto()
    suppressed = enum.auto()
    deferred = enum.auto()
    claimed = enum.auto()
    sent = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    canceled = enum.auto()


class Answer(enum.StrEnum):
    """The answer of a recipient within 72 hours of the text."""

    replied = enum.auto()
    opted_out = enum.auto()


class PauseReason(enum.StrEnum):
    """The cause of a pause, or of a failed campaign."""

    requested = enum.auto()
    insufficient_credits = enum.auto()
    over_max_credits = enum.auto()
    account = enum.auto()
    credential_ended = enum.auto()
    no_sending_number = enum.auto()
    filtered = enum.auto()
    opt_outs = enum.auto()
    sender_refused = enum.auto()
    no_recipients = enum.auto()


class Campaign(Base):
    """One text to an audience, which is frozen when it is sent: contacts up to `read_until`, in the order of phones.

    `audience` is that of `audience.Audience`. `is_read` once all recipients are written; `read_after` is the phone of
    the last of them. `due_at` is the time at which a worker looks at the campaign again, null while there is nothing to
    do. `actor` attested the consent of the recipients, at `attested_at`. The breaker counts results after `resumed_at`.
    `local_at` is the time on the clock of each recipient at which the text is due, without a zone; null where all are
    due at once. `account_settings` are those that its texts and their price depend on, as they were when it was sent;
    null for a draft. `version` counts the changes of a draft, so that a concurrent one is noticed. One with
    `deleted_at` is shown nowhere, while its recipients are being deleted.
    """

    __tablename__ = "campaigns"
    __table_args__ = (
        CheckConstraint("status IN ('draft','scheduled','sending','paused','completed','canceled','failed')", "status"),
        Index("ix_campaigns_account_id", "account_id", "id"),
        Index("ix_campaigns_status", "account_id", "status", "id"),
        Index("ix_campaigns_due_at", "due_at", "id", postgresql_where=text("due_at IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    version: Mapped[int] = mapped_column(server_default="1")
    status: Mapped[str] = mapped_column(server_default=CampaignStatus.draft)
    reason: Mapped[str] = mapped_column(server_default="")
    body: Mapped[str]
    audience: Mapped[dict[str, Any]]
    phone_number_id: Mapped[int | None]
    is_smart_encoded: Mapped[bool] = mapped_column(server_default=text("true"))
    is_strict: Mapped[bool] = mapped_column(server_default=text("false"))
    scheduled_at: Mapped[datetime | None]
    local_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=False))
    max_credits: Mapped[int | None]
    account_settings: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    read_until: Mapped[int] = mapped_column(server_default="0")
    read_after: Mapped[str] = mapped_column(server_default="")
    is_read: Mapped[bool] = mapped_column(server_default=text("false"))
    due_at: Mapped[datetime | None]
    created_by: Mapped[str]
    actor: Mapped[str] = mapped_column(server_default="")
    attested_at: Mapped[datetime | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
    sent_at: Mapped[datetime | None]
    resumed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]


class Recipient(Base):
    """A phone that a campaign reaches at most once. Triggers add each change of states to `campaign_counts`.

    `body` is the rendered text until it becomes a message, `original_body` the same before smart encoding where that
    changed it. `due_at` is the time from which a deferred text may be accepted. There are no foreign keys, which would
    cost more than the row. The erasure of the contact empties `contact_id`, `phone`, the texts and `message_id`; the
    state is kept.
    """

    __tablename__ = "campaign_recipients"
    __table_args__ = (
        Index("uq_campaign_recipients_phone", "campaign_id", "phone", unique=True),
        Index("ix_campaign_recipients_state", "campaign_id", "state", "id"),
        Index(
            "ix_campaign_recipients_settled_at",
            "campaign_id",
            "settled_at",
            postgresql_where=text("settled_at IS NOT NULL"),
        ),
        Index(
            "ix_campaign_recipients_answered",
            "campaign_id",
            postgresql_where=text("replied_at IS NOT NULL OR opted_out_at IS NOT NULL"),
        ),
        Index(
            "ix_campaign_recipients_replied",
            "account_id",
            "campaign_id",
            "contact_id",
            postgresql_where=text("replied_at IS NOT NULL"),
        ),
        Index(
            "ix_campaign_recipients_unreachable",
            "account_id",
            "contact_id",
            postgresql_where=text("reason = 'unreachable'"),
        ),
        Index(
            "ix_campaign_recipients_due_at", "campaign_id", "due_at", "id", postgresql_where=text("due_at IS NOT NULL")
        ),
        Index("ix_campaign_recipients_contact_id", "contact_id", "id", postgresql_where=text("contact_id IS NOT NULL")),
        Index(
            "uq_campaign_recipients_message_id",
            "message_id",
            unique=True,
            postgresql_where=text("message_id IS NOT NULL"),
        ),
    )

    campaign_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[Key]
    account_id: Mapped[int]
    contact_id: Mapped[int | None]
    phone: Mapped[str | None]
    state: Mapped[str]
    reason: Mapped[str] = mapped_column(server_default="")
    body: Mapped[str] = mapped_column(server_default="")
    original_body: Mapped[str | None]
    segments: Mapped[int] = mapped_column(server_default="0")
    credits: Mapped[int] = mapped_column(server_default="0")
    number: Mapped[str] = mapped_column(server_default="")
    message_id: Mapped[int | None]
    due_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    replied_at: Mapped[datetime | None]
    opted_out_at: Mapped[datetime | None]


class RecipientCount(Base):
    """A change of the number of recipients in a state, with their segments and credits.

    The sum of the rows of a campaign is always exact. Triggers add rows and lock none, so that the workers of
    a campaign do not wait for one another; `progress` folds the rows of a state into one.
    """

    __tablename__ = "campaign_counts"
    __table_args__ = (Index("ix_campaign_counts_unfolded", "campaign_id", postgresql_where=text("NOT is_folded")),)

    campaign_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[Key]
    account_id: Mapped[int]
    state: Mapped[str]
    reason: Mapped[str]
    recipients: Mapped[int]
    segments: Mapped[int]
    credits: Mapped[int]
    is_folded: Mapped[bool] = mapped_column(server_default=text("false"))
