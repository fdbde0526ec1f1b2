"""Tables of suppressions, consent records and holds."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


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


class Consent(Base):
    """One statement of consent or its withdrawal, with its evidence.

    Rows are only ever added: a trigger refuses every change of one, and its deletion unless its account is deleted.
    `occurred_at` is the time of the statement where that was before the record, `source` where its evidence is, such as
    the address of a form, and `note` what the recorder adds.
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
