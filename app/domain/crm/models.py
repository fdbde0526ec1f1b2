"""Tables of connections to CRMs, of linked contacts, and of waiting changes in both directions."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class CrmState(enum.StrEnum):
    """Whether the service may call a CRM; after `lost`, its authorization must be given again."""

    authorized = enum.auto()
    lost = enum.auto()


class CrmSync(enum.StrEnum):
    """The first synchronization: it fetches the contacts of the CRM, then offers it those of the account."""

    fetching = enum.auto()
    offering = enum.auto()
    done = enum.auto()


class CrmConnection(Base):
    """The authorization of an integration with a CRM, and the progress of its synchronization.

    `location` is the CRM's id of the connected account, `tokens` its sealed tokens. A worker holds the connection until
    `leased_until`: only its holder calls the CRM; each lease and each authorization counts `lease` up. After a
    failure it rests until `resting_until`. `cursor` is the place in the running synchronization, `fetched_until` the
    CRM's time of the newest contact that was fetched. A row without an integration was disconnected: its tokens are
    revoked, then it is deleted.
    """

    __tablename__ = "crm_connections"
    __table_args__ = (Index("ix_crm_connections_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int | None] = mapped_column(ForeignKey("integrations.id", ondelete="SET NULL"), unique=True)
    kind: Mapped[str]
    location: Mapped[str]
    tokens: Mapped[bytes]
    expires_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(server_default=CrmState.authorized)
    error: Mapped[str] = mapped_column(server_default="")
    error_at: Mapped[datetime | None]
    leased_until: Mapped[datetime | None]
    lease: Mapped[int] = mapped_column(server_default="0")
    resting_until: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(server_default="0")
    sync: Mapped[str] = mapped_column(server_default=CrmSync.fetching)
    cursor: Mapped[str] = mapped_column(server_default="")
    fetched: Mapped[int] = mapped_column(server_default="0")
    offered: Mapped[int] = mapped_column(server_default="0")
    total: Mapped[int | None]
    fetched_until: Mapped[datetime | None]
    fetch_at: Mapped[datetime]
    created_at: Mapped[Created]


class CrmLink(Base):
    """A contact with its id in a CRM. `fields` are the values on which both sides agreed last.

    `contact_id` is null once the contact was deleted here, `is_deleted` true once it was deleted there: then neither
    side creates it anew.
    """

    __tablename__ = "crm_links"
    __table_args__ = (
        UniqueConstraint("integration_id", "external_id"),
        UniqueConstraint("integration_id", "contact_id"),
        Index("ix_crm_links_account_id", "account_id", "id"),
        Index("ix_crm_links_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int] = mapped_column(ForeignKey("integrations.id", ondelete="CASCADE"))
    contact_id: Mapped[int | None] = mapped_column(ForeignKey("contacts.id", ondelete="SET NULL"))
    external_id: Mapped[str]
    fields: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    is_deleted: Mapped[bool] = mapped_column(server_default=text("false"))


class CrmPushKind(enum.StrEnum):
    """The kind of a push: a changed contact here or there, a text of either direction, or the status of a text."""

    contact = enum.auto()
    check = enum.auto()
    inbound = enum.auto()
    copy = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()


class CrmPushStatus(enum.StrEnum):
    """The status of a push: it waits, was done, or the CRM refused it."""

    waiting = enum.auto()
    done = enum.auto()
    failed = enum.auto()


class CrmPush(Base):
    """Work towards a CRM, in the order of its ids.

    A push of a contact is one row while it waits: `changes` has the time of the last change of each field here, and
    `version` counts the changes, so that none is lost that comes while the CRM is called. A check names the CRM's
    `external_id` of a contact that changed there; other kinds name a message. `reason` says why it failed.
    """

    __tablename__ = "crm_pushes"
    __table_args__ = (
        Index("ix_crm_pushes_log", "account_id", "id"),
        Index("ix_crm_pushes_integration_id", "integration_id", "id"),
        Index("ix_crm_pushes_status", "account_id", "status", "id"),
        Index("ix_crm_pushes_due", "integration_id", "due_at", "id", postgresql_where=text("status = 'waiting'")),
        Index("ix_crm_pushes_contact_id", "contact_id", postgresql_where=text("contact_id IS NOT NULL")),
        Index(
            "ix_crm_pushes_failed_checks",
            "integration_id",
            "external_id",
            postgresql_where=text("kind = 'check' AND status = 'failed'"),
        ),
        Index("ix_crm_pushes_created_at", "created_at"),
        Index(
            "uq_crm_pushes_contact",
            "integration_id",
            "contact_id",
            unique=True,
            postgresql_where=text("kind = 'contact' AND status = 'waiting'"),
        ),
        Index(
            "uq_crm_pushes_check",
            "integration_id",
            "external_id",
            unique=True,
            postgresql_where=text("kind = 'check' AND status = 'waiting'"),
        ),
        Index(
            "uq_crm_pushes_message",
            "integration_id",
            "kind",
            "message_id",
            unique=True,
            postgresql_where=text("message_id IS NOT NULL"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int] = mapped_column(ForeignKey("integrations.id", ondelete="CASCADE"))
    kind: Mapped[str]
    contact_id: Mapped[int | None] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    message_id: Mapped[int | None]
    external_id: Mapped[str] = mapped_column(server_default="")
    changes: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    version: Mapped[int] = mapped_column(server_default="1")
    status: Mapped[str] = mapped_column(server_default=CrmPushStatus.waiting)
    reason: Mapped[str] = mapped_column(server_default="")
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    done_at: Mapped[datetime | None]


class CrmSendStatus(enum.StrEnum):
    """The status of a text that a CRM sends: it waits, was accepted, or was refused."""

    waiting = enum.auto()
    sent = enum.auto()
    refused = enum.auto()


class CrmSend(Base):
    """A text that a CRM asked the service to send, once for each of the CRM's message ids."""

    __tablename__ = "crm_sends"
    __table_args__ = (
        UniqueConstraint("integration_id", "external_id"),
        Index("ix_crm_sends_account_id", "account_id", "id"),
        Index("ix_crm_sends_due", "due_at", "id", postgresql_where=text("status = 'waiting'")),
        Index("ix_crm_sends_waiting", "integration_id", "due_at", "id", postgresql_where=text("status = 'waiting'")),
        Index("ix_crm_sends_message_id", "message_id", postgresql_where=text("message_id IS NOT NULL")),
        Index("ix_crm_sends_phone", "phone", postgresql_using="hash", postgresql_where=text("phone <> ''")),
        Index("ix_crm_sends_body", "created_at", postgresql_where=text("body <> ''")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    integration_id: Mapped[int] = mapped_column(ForeignKey("integrations.id", ondelete="CASCADE"))
    external_id: Mapped[str]
    contact_external_id: Mapped[str]
    phone: Mapped[str]
    body: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=CrmSendStatus.waiting)
    reason: Mapped[str] = mapped_column(server_default="")
    message_id: Mapped[int | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
