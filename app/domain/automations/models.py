"""Tables of watched keywords, automations and their runs."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key
from app.domain.automations.shapes import Action, Trigger


class KeywordMatch(enum.StrEnum):
    """The part of a text that must equal a keyword."""

    exact = enum.auto()
    starts_with = enum.auto()
    word = enum.auto()


class WatchedKeyword(Base):
    """A word or phrase that an account watches for, normalized by `keywords.normalize`.

    With `phone_number_id` only texts to that number count, with `opts_in` a text is recorded as consent, and `reply` is
    sent as an answer. With `double_opt_in` the person must confirm the text; only then is consent recorded, the tag
    `opt_in_tag` added and `reply` sent. `hits` is the number of texts so far.
    """

    __tablename__ = "watched_keywords"
    __table_args__ = (UniqueConstraint("account_id", "keyword"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    keyword: Mapped[str]
    match: Mapped[str] = mapped_column(server_default=KeywordMatch.exact)
    phone_number_id: Mapped[int | None]
    is_active: Mapped[bool] = mapped_column(server_default=text("true"))
    opts_in: Mapped[bool] = mapped_column(server_default=text("false"))
    double_opt_in: Mapped[bool] = mapped_column(server_default=text("false"))
    opt_in_tag: Mapped[str] = mapped_column(server_default="")
    reply: Mapped[str] = mapped_column(server_default="")
    hits: Mapped[int] = mapped_column(server_default="0")
    created_by: Mapped[str]
    created_at: Mapped[Created]


class AutomationStatus(enum.StrEnum):
    """The status of an automation."""

    active = enum.auto()
    paused = enum.auto()


class TriggerKind(enum.StrEnum):
    """The kind of fact that starts runs of an automation."""

    event = enum.auto()
    schedule = enum.auto()
    missed_reply = enum.auto()
    birthday = enum.auto()


class RunStatus(enum.StrEnum):
    """The status of a run."""

    running = enum.auto()
    waiting = enum.auto()
    done = enum.auto()
    skipped = enum.auto()
    canceled = enum.auto()
    failed = enum.auto()


PAUSED, NEW_PHONE = "paused", "phone_changed"
"""The reason of a run that was canceled because its automation was paused."""

LATE = "late"
"""The reason of a run that was skipped because its time had passed for too long."""


class RunOutcome(enum.StrEnum):
    """The result of an action of a run."""

    done = enum.auto()
    sent = enum.auto()
    waited = enum.auto()
    refused = enum.auto()


class Automation(Base):
    """A trigger, conditions and actions, as `triggers.store`, `filters.store` and `actions.store` write them.

    `event` is the name of the event that triggers it. `next_at` is the time at which a worker looks for contacts, null
    for a trigger that is an event. Events before `active_since` start no runs. `version` counts the changes of what it
    does, so that a concurrent one is noticed.
    """

    __tablename__ = "automations"
    __table_args__ = (
        Index("ix_automations_account_id", "account_id", "id"),
        Index("ix_automations_event", "account_id", "event", postgresql_where=text("status = 'active'")),
        Index("ix_automations_next_at", "next_at", postgresql_where=text("status = 'active' AND next_at IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=AutomationStatus.paused)
    event: Mapped[str | None]
    trigger: Mapped[Trigger] = mapped_column(JSONB)
    filter: Mapped[dict[str, Any] | None]
    actions: Mapped[list[Action]] = mapped_column(JSONB)
    next_at: Mapped[datetime | None]
    active_since: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(server_default="1")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class AutomationRun(Base):
    """One execution of the actions of an automation, or of the reply of a keyword, for a contact.

    `key` names its cause, at most once for each automation and contact. `chain` are the automations whose actions led
    to it, the first cause first. `position` is the next action, due at `due_at`, after `attempts` that did not succeed.
    `conditions` and `results` explain each condition and action.
    """

    __tablename__ = "automation_runs"
    __table_args__ = (
        UniqueConstraint("automation_id", "contact_id", "key"),
        Index("ix_automation_runs_account_id", "account_id", "id"),
        Index("ix_automation_runs_automation_id", "automation_id", "id"),
        Index("ix_automation_runs_status", "account_id", "status", "id"),
        Index("ix_automation_runs_contact_id", "contact_id", "created_at"),
        Index("ix_automation_runs_due", "due_at", "id", postgresql_where=text("due_at IS NOT NULL")),
        Index("ix_automation_runs_turns", "account_id", "due_at", "id", postgresql_where=text("due_at IS NOT NULL")),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    automation_id: Mapped[int | None] = mapped_column(ForeignKey("automations.id", ondelete="CASCADE"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    key: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=RunStatus.running)
    reason: Mapped[str] = mapped_column(server_default="")
    chain: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default="{}")
    payload: Mapped[dict[str, Any]]
    actions: Mapped[list[Action]] = mapped_column(JSONB)
    position: Mapped[int] = mapped_column(server_default="0")
    attempts: Mapped[int] = mapped_column(server_default="0")
    conditions: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    results: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    due_at: Mapped[datetime | None]
    claimed_until: Mapped[datetime | None]
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
