"""Tables of accounts, users and API keys."""

import enum
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, Numeric, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class AccountStatus(enum.StrEnum):
    """Whether an account may be used. A `deleted` one is emptied, but for its ledger and its opt-outs."""

    active = enum.auto()
    suspended = enum.auto()
    deleted = enum.auto()


class AccountType(enum.StrEnum):
    """The way in which an account pays."""

    prepaid = enum.auto()


class Account(Base):
    """A tenant. `balance` is in credits; `rate` is the price of one credit, in the account's currency.

    `deletion_at` is when it is to be deleted; of a deleted one, when its rows are next looked for, null once they are
    gone. `deletion_notice_at` is when its owners are reminded of that, null once they were.
    """

    __tablename__ = "accounts"
    __table_args__ = (
        CheckConstraint("balance >= 0", "balance_not_negative"),
        Index("ix_accounts_deletion_at", "deletion_at", postgresql_where=text("deletion_at IS NOT NULL")),
        Index(
            "ix_accounts_deletion_notice_at",
            "deletion_notice_at",
            postgresql_where=text("deletion_notice_at IS NOT NULL"),
        ),
    )

    id: Mapped[Key]
    company_name: Mapped[str]
    account_type: Mapped[str] = mapped_column(server_default=AccountType.prepaid)
    status: Mapped[str] = mapped_column(server_default=AccountStatus.active)
    balance: Mapped[int] = mapped_column(server_default="0")
    rate: Mapped[Decimal] = mapped_column(Numeric(10, 4))
    region: Mapped[str] = mapped_column(server_default="US")
    support_contact: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[Created]
    deletion_at: Mapped[datetime | None]
    deletion_notice_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]


class Role(enum.StrEnum):
    """The role of a user. A `service` user signs in only to connect applications."""

    owner = enum.auto()
    member = enum.auto()
    service = enum.auto()


class User(Base):
    """A person who works in an account; one who left is `removed_at`. Who has no `password_hash` cannot sign in."""

    __tablename__ = "users"
    __table_args__ = (
        Index("uq_users_email", text("lower(email)"), unique=True, postgresql_where=text("removed_at IS NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    email: Mapped[str]
    first_name: Mapped[str] = mapped_column(server_default="")
    last_name: Mapped[str] = mapped_column(server_default="")
    role: Mapped[str] = mapped_column(server_default=Role.owner)
    password_hash: Mapped[str | None]
    created_at: Mapped[Created]
    removed_at: Mapped[datetime | None]


class Session(Base):
    """A browser that a user signed in with. Only the HMAC of its cookie is kept."""

    __tablename__ = "sessions"

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    address: Mapped[str]
    user_agent: Mapped[str]
    created_at: Mapped[Created]
    last_used_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class PasswordLink(Base):
    """A mailed link that sets a forgotten password, once. Only the HMAC of its token is kept."""

    __tablename__ = "password_links"

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """A person invited to an account, by a mailed link. Only the HMAC of its token is kept.

    It is mailed at `mail_at`, and can be accepted until `expires_at`, once, unless it is withdrawn or the credential of
    `maker_id` ends. The person becomes a user by accepting it.
    """

    __tablename__ = "invitations"
    __table_args__ = (
        Index("ix_invitations_account_id", "account_id", "created_at"),
        Index("ix_invitations_email", "email", "mail_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    email: Mapped[str]
    role: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    maker_id: Mapped[int | None] = mapped_column(ForeignKey("makers.id"), index=True)
    created_at: Mapped[Created]
    mail_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    accepted_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]


class WaitingMail(Base):
    """A mail that waits to be sent; it is deleted once it is sent, or given up after `attempts`.

    It is for a user or for an invited person. One that brings a link has the `seed` that makes its token, and goes with
    the link or the invitation; `words` are what else it says.
    """

    __tablename__ = "waiting_mails"

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    invitation_id: Mapped[int | None] = mapped_column(ForeignKey("invitations.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    words: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    link_id: Mapped[int | None] = mapped_column(ForeignKey("password_links.id", ondelete="CASCADE"), index=True)
    seed: Mapped[bytes | None] = mapped_column(LargeBinary)
    due_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
    attempts: Mapped[int] = mapped_column(server_default="0")
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuditEntry(Base):
    """Something done about who may do what: a sign-in, a consent, a change of a key or a client. Never changed."""

    __tablename__ = "audit_entries"
    __table_args__ = (Index("ix_audit_entries_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    action: Mapped[str]
    actor: Mapped[str]
    subject: Mapped[str] = mapped_column(server_default="")
    address: Mapped[str] = mapped_column(server_default="")
    user_agent: Mapped[str] = mapped_column(server_default="")
    details: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    request_id: Mapped[str | None]
    created_at: Mapped[Created]


class ApiKey(Base):
    """A key of an account's. Only its HMAC is kept; `prefix` and `last_four` are for display.

    It ends with its makers (`credentials`). `successor_id` is the key that it was rotated to.
    """

    __tablename__ = "api_keys"

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str]
    prefix: Mapped[str]
    last_four: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    scopes: Mapped[list[str]]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    successor_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id"), index=True)
    revoked_at: Mapped[datetime | None]


class Maker(Base):
    """A credential that a key, or a record that names this row, was made with: one of the last three.

    `key_id` is the key that was made. A grant that is not there any more has ended.
    """

    __tablename__ = "makers"
    __table_args__ = (
        CheckConstraint("num_nonnulls(maker_key_id, maker_grant_id, maker_user_id) = 1", "one"),
        Index("ix_makers_account_id", "account_id", postgresql_where=text("key_id IS NOT NULL")),
        Index("ix_makers_of_records", "account_id", postgresql_where=text("key_id IS NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    key_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id", ondelete="CASCADE"), index=True)
    maker_key_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id"), index=True)
    maker_grant_id: Mapped[int | None] = mapped_column(index=True)
    maker_user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
