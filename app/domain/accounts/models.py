"""Tables of accounts, users and API keys."""

import enum
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, Numeric, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class AccountStatus(enum.StrEnum):
    """The status of an account. A `deleted` one keeps only its ledger and its opt-outs."""

    active = enum.auto()
    suspended = enum.auto()
    deleted = enum.auto()


class AccountType(enum.StrEnum):
    """The way in which an account pays."""

    prepaid = enum.auto()


class Account(Base):
    """A tenant. `balance` is in credits; `rate` is the price of one credit, in the account's `currency` (ISO 4217).

    `overdraft` is how far below zero refunded and disputed payments have taken the balance; debits never take it there.
    `deletion_at` is the time of the scheduled deletion; for a deleted account, the time of the next batch, null once
    all rows are deleted. `deletion_notice_at` is the time of the reminder to its owners, null once it was mailed.
    `weight` is the account's share of the calls to carriers, relative to the other accounts whose texts wait.
    `time_zone` (IANA) stands for those of phones that belong to no place. Quiet hours and frequency caps hold for
    promotional texts, and for transactional ones where `limits_transactional`; `weekly_cap` is the most of them to a
    phone in seven days. With `smart_encoding`, sends replace characters that cost SMS parts, and letters with accents
    too where the account sets `fold_accents`.
    """

    __tablename__ = "accounts"
    __table_args__ = (
        CheckConstraint("balance >= -overdraft", "balance_not_negative"),
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
    overdraft: Mapped[int] = mapped_column(server_default="0")
    rate: Mapped[Decimal] = mapped_column(Numeric(10, 4))
    currency: Mapped[str] = mapped_column(server_default="USD")
    region: Mapped[str] = mapped_column(server_default="US")
    support_contact: Mapped[str] = mapped_column(server_default="")
    weight: Mapped[int] = mapped_column(server_default="1")
    time_zone: Mapped[str | None]
    limits_transactional: Mapped[bool] = mapped_column(server_default=text("false"))
    weekly_cap: Mapped[int] = mapped_column(server_default="6")
    smart_encoding: Mapped[bool] = mapped_column(server_default=text("false"))
    fold_accents: Mapped[bool] = mapped_column(server_default=text("false"))
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
    """A person of an account; `removed_at` is set on removal. A user without `password_hash` cannot sign in.

    `time_zone` (IANA) and `locale` (BCP 47) are those in which pages show times and numbers; null for the browser's.
    """

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
    time_zone: Mapped[str | None]
    locale: Mapped[str | None]
    created_at: Mapped[Created]
    last_active_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]


class Session(Base):
    """A user's sign-in in one browser. Only the HMAC of its cookie is stored."""

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
    """A mailed link that sets a password once. Only the HMAC of its token is stored."""

    __tablename__ = "password_links"

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """An invitation of a person to an account, by a mailed link. Only the HMAC of its token is stored.

    It is mailed at `mail_at`, and can be accepted until `expires_at`, once, unless it is withdrawn or the credential of
    `creator_id` ends. The person becomes a user by accepting it.
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
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("creators.id"), index=True)
    created_at: Mapped[Created]
    mail_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    accepted_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]


class WaitingMail(Base):
    """A queued mail, deleted once it is sent or dropped after too many `attempts`.

    It is for a user or an invited person. A mail with a link has the `seed` that yields its token, and is deleted with
    the link or the invitation; `words` are the other arguments of its template.
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
    """An action on access: a sign-in, a consent, a change of a user, key or client. Rows never change."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_account_id", "account_id", "id"),
        Index("ix_audit_entries_action", "account_id", "action", "id"),
        Index("ix_audit_entries_actor", "account_id", "actor", "id"),
        Index("ix_audit_entries_created_at", "account_id", "created_at"),
    )

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
    """An API key of an account. Only its HMAC is stored; `prefix` and `last_four` are for display.

    It ends with its creators (`credentials`). `successor_id` is the key that replaced it by rotation.
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


class Creator(Base):
    """A creator: the credential that created a key, or a record that refers to this row. One of the last three is set.

    `key_id` is the created key. A grant whose row was deleted has ended. `is_handed_on` where the record has belonged
    to another grant of the same user and client.
    """

    __tablename__ = "creators"
    __table_args__ = (
        CheckConstraint("num_nonnulls(creator_key_id, creator_grant_id, creator_user_id) = 1", "one"),
        Index("ix_creators_account_id", "account_id", postgresql_where=text("key_id IS NOT NULL")),
        Index("ix_creators_of_records", "account_id", postgresql_where=text("key_id IS NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    key_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id", ondelete="CASCADE"), index=True)
    creator_key_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id"), index=True)
    creator_grant_id: Mapped[int | None] = mapped_column(index=True)
    creator_user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    is_handed_on: Mapped[bool] = mapped_column(server_default=text("false"))
