"""Tables of suppressions, consent records and holds."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class SuppressionReason(enum.StrEnum):
    """The cause of a suppression."""

    keyword = enum.auto()
    typo = enum.auto()
    intent = enum.auto()
    carrier = enum.auto()
    recorded = enum.auto()
    api = enum.auto()
    review = enum.auto()
    review_expired = enum.auto()
    phone_changed = enum.auto()
    contact_deleted = enum.auto()


class Suppression(Base):
    """A phone that must not be texted. It outlives the contact: a contact created with that phone is opted out."""

    __tablename__ = "suppressions"
    __table_args__ = (UniqueConstraint("account_id", "phone", "scope_type", "scope_id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    phone: Mapped[str]
    scope_type: Mapped[str] = mapped_column(server_default="account")
    scope_id: Mapped[int] = mapped_column(server_default="0")
    reason: Mapped[str]
    keyword: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[Created]


class ConsentKind(enum.StrEnum):
    """The kind of a consent record."""

    opt_in = enum.auto()
    opt_out = enum.auto()
    re_opt_in = enum.auto()
    attested = enum.auto()
    revoked_other = enum.auto()
    opt_in_requested = enum.auto()


class Consent(Base):
    """One statement of consent or its withdrawal, with its evidence.

    Rows are only ever added: a trigger refuses every change of one, and its deletion unless its account is deleted.
    `occurred_at` is the time of the statement where that was before the record, `source` where its evidence is, such as
    the address of a form, and `note` a remark of the recorder. `ip_address` and `user_agent` are those of the person,
    where a form has recorded them.
    """

    __tablename__ = "consents"
    __table_args__ = (Index("ix_consents_account_id_phone", "account_id", "phone", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    phone: Mapped[str]
    kind: Mapped[str]
    method: Mapped[str]
    text: Mapped[str] = mapped_column(server_default="")
    message_id: Mapped[int | None]
    actor: Mapped[str]
    source: Mapped[str] = mapped_column(server_default="")
    note: Mapped[str] = mapped_column(server_default="")
    ip_address: Mapped[str] = mapped_column(server_default="")
    user_agent: Mapped[str] = mapped_column(server_default="")
    occurred_at: Mapped[datetime | None]
    recorded_at: Mapped[Created]


class Hold(Base):
    """A phone whose last reply may have been an opt-out: the reply, and when the hold becomes an opt-out."""

    __tablename__ = "holds"
    __table_args__ = (UniqueConstraint("account_id", "phone"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    phone: Mapped[str]
    message_id: Mapped[int | None]
    text: Mapped[str] = mapped_column(server_default="")
    held_until: Mapped[datetime]
    created_at: Mapped[Created]


class OptInOutcome(enum.StrEnum):
    """The end of a request for an opt-in."""

    confirmed = enum.auto()
    unconfirmed = enum.auto()
    opted_out = enum.auto()
    expired = enum.auto()


class OptInRequest(Base):
    """A person who asked for texts by a keyword, and whom the service asked to confirm it with YES by `expires_at`.

    A phone has one open request at most; `tag` is added to its contact with the confirmation.
    """

    __tablename__ = "opt_in_requests"
    __table_args__ = (
        Index("ix_opt_in_requests_open", "account_id", "phone", unique=True, postgresql_where=text("ended_at IS NULL")),
        Index("ix_opt_in_requests_phone", "account_id", "phone", "created_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    phone: Mapped[str]
    keyword: Mapped[str]
    tag: Mapped[str] = mapped_column(server_default="")
    text: Mapped[str]
    message_id: Mapped[int]
    question: Mapped[str]
    question_id: Mapped[int]
    expires_at: Mapped[datetime]
    outcome: Mapped[str | None]
    ended_at: Mapped[datetime | None]
    created_at: Mapped[Created]
