"""Tables of contacts and their totals."""

import enum
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import CheckConstraint, Computed, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class PipelineStage(enum.StrEnum):
    """The stage of a contact in the sales pipeline."""

    new_lead = enum.auto()
    contacted = enum.auto()
    qualified = enum.auto()
    proposal = enum.auto()
    won = enum.auto()
    lost = enum.auto()


class TimeZoneSource(enum.StrEnum):
    """The source of a contact's time zone: a user of the account, a connected CRM, or a booking of the contact."""

    user = enum.auto()
    crm = enum.auto()
    booking = enum.auto()


class Reach(enum.StrEnum):
    """A fact about a phone beyond its numbering plan: a carrier's verdict that no text reaches it, or the opposite.

    `proven` phones have texted us, although their plan has them as landlines or not at all.
    """

    invalid_number = enum.auto()
    landline = enum.auto()
    proven = enum.auto()


class ContactStatus(enum.StrEnum):
    """The consent status of a contact."""

    active = enum.auto()
    opted_out = enum.auto()


SCORE = """
CASE WHEN status = 'opted_out' THEN 0 ELSE
CASE pipeline_stage WHEN 'new_lead' THEN 10 WHEN 'contacted' THEN 20 WHEN 'qualified' THEN 40
  WHEN 'proposal' THEN 60 WHEN 'won' THEN 70 ELSE 0 END
+ CASE WHEN first_name <> '' OR last_name <> '' THEN 5 ELSE 0 END
+ CASE WHEN email <> '' THEN 5 ELSE 0 END
+ LEAST(replies, 5) * 4
END
"""
"""The score of a contact, 0 to 100; `score.explain` returns its parts."""

SEARCHED = "lower(first_name || ' ' || last_name || ' ' || phone || ' ' || email)"


class Contact(Base):
    """A person whom an account texts, one per phone and account. Absent names are empty strings.

    `assignee_id` is a user without a foreign key, because users are deleted after the contacts of an account only.
    `reach` is the verdict of a carrier on the phone, until a text reaches it after all, or comes from it; or the proof
    that texts come from it, for one that its plan would have refused.
    `time_zone` (IANA) is where the person is known to be; without it the phone tells the possible zones.
    """

    __tablename__ = "contacts"
    __table_args__ = (
        UniqueConstraint("account_id", "phone"),
        CheckConstraint("pipeline_stage IN ('new_lead','contacted','qualified','proposal','won','lost')", "stage"),
        CheckConstraint("status IN ('active','opted_out')", "status"),
        Index("ix_contacts_date_added", "account_id", text("created_at DESC"), text("id DESC")),
        Index("ix_contacts_name", "account_id", text("lower(first_name)"), text("lower(last_name)"), "id"),
        Index("ix_contacts_score", "account_id", text("score DESC"), text("id DESC")),
        Index("ix_contacts_updated", "account_id", text("updated_at DESC"), text("id DESC")),
        Index("ix_contacts_stage_added", "account_id", "pipeline_stage", text("created_at DESC"), text("id DESC")),
        Index(
            "ix_contacts_stage_name",
            "account_id",
            "pipeline_stage",
            text("lower(first_name)"),
            text("lower(last_name)"),
            "id",
        ),
        Index("ix_contacts_stage_score", "account_id", "pipeline_stage", text("score DESC"), text("id DESC")),
        Index(
            "ix_contacts_opted_out",
            "account_id",
            text("created_at DESC"),
            text("id DESC"),
            postgresql_where=text("status = 'opted_out'"),
        ),
        Index(
            "ix_contacts_emails",
            "account_id",
            text("lower(email)"),
            "id",
            postgresql_include=["email"],
            postgresql_where=text("email <> ''"),
        ),
        Index(
            "ix_contacts_searched",
            "account_id",
            "searched",
            postgresql_using="gin",
            postgresql_ops={"searched": "gin_trgm_ops"},
        ),
        Index("ix_contacts_held", "held_until", postgresql_where=text("held_until IS NOT NULL")),
        Index(
            "ix_contacts_custom",
            "account_id",
            "custom_fields",
            postgresql_using="gin",
            postgresql_ops={"custom_fields": "jsonb_path_ops"},
            postgresql_where=text("custom_fields <> '{}'"),
        ),
        Index(
            "ix_contacts_assignee",
            "assignee_id",
            text("created_at DESC"),
            text("id DESC"),
            postgresql_where=text("assignee_id IS NOT NULL"),
        ),
    )
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012 - the score is computed anew with every change

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    phone: Mapped[str]
    first_name: Mapped[str] = mapped_column(server_default="")
    last_name: Mapped[str] = mapped_column(server_default="")
    email: Mapped[str] = mapped_column(server_default="")
    tags: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    pipeline_stage: Mapped[str] = mapped_column(server_default=PipelineStage.new_lead)
    source: Mapped[str] = mapped_column(server_default="")
    time_zone: Mapped[str | None]
    time_zone_source: Mapped[str | None]
    status: Mapped[str] = mapped_column(server_default=ContactStatus.active)
    dnd_sms: Mapped[bool] = mapped_column(server_default=text("false"))
    held_until: Mapped[datetime | None]
    replies: Mapped[int] = mapped_column(server_default="0")
    assignee_id: Mapped[int | None]
    custom_fields: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    score: Mapped[int] = mapped_column(Computed(SCORE, persisted=True))
    searched: Mapped[str] = mapped_column(Computed(SEARCHED, persisted=True), deferred=True)
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
    phone_changed_at: Mapped[datetime | None]
    reach: Mapped[str | None]


class ContactTag(Base):
    """One tag of one contact, for lists: triggers on `contacts` keep it equal to the tags there.

    `created_at` is that of the contact, so that an index has the newest contacts with a tag.
    """

    __tablename__ = "contact_tags"
    __table_args__ = (Index("ix_contact_tags_added", "account_id", "tag", "created_at", "contact_id"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(primary_key=True)
    contact_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[datetime]


class ContactTotal(Base):
    """The number of contacts of an account, maintained by a trigger on `contacts` so that lists need no count."""

    __tablename__ = "contact_totals"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    total: Mapped[int]


class CustomFieldType(enum.StrEnum):
    """The type of the values of a custom field."""

    text = enum.auto()
    number = enum.auto()
    date = enum.auto()
    boolean = enum.auto()
    choice = enum.auto()


class CustomField(Base):
    """A field that an account declared for its contacts, whose values are members of `Contact.custom_fields`.

    One with `deleted_at` is not shown; its key stays taken until a job has removed the last value.
    """

    __tablename__ = "custom_fields"
    __table_args__ = (UniqueConstraint("account_id", "key"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    key: Mapped[str]
    label: Mapped[str]
    type: Mapped[str]
    choices: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    deleted_at: Mapped[datetime | None]
    created_at: Mapped[Created]


class ContactFields(TypedDict, total=False):
    """The fields that a caller may set; omitted fields keep their values, and null empties a field.

    Phone and status cannot be emptied. The status `opted_out` records an opt-out; `active` cannot lift one. Of the
    custom fields only those named change; an empty value removes one.
    `time_zone_source` is that of the `time_zone` beside it, `user` unless it is given.
    """

    phone: str | None
    first_name: str | None
    last_name: str | None
    email: str | None
    tags: list[str] | None
    pipeline_stage: PipelineStage | None
    source: str | None
    time_zone: str | None
    time_zone_source: TimeZoneSource
    dnd_sms: bool | None
    status: ContactStatus | None
    custom_fields: dict[str, str | None] | None
