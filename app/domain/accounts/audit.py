"""The audit log of changes to people, keys and applications."""

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.accounts.models import AuditEntry
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_USER_AGENT = 400


class AuditAction(enum.StrEnum):
    """The actions that the audit log records, of all areas."""

    account_changed = enum.auto()
    account_deletion_requested = enum.auto()
    account_deletion_withdrawn = enum.auto()
    account_exported = enum.auto()
    account_resumed = enum.auto()
    account_suspended = enum.auto()
    application_connected = enum.auto()
    application_cut_off = enum.auto()
    application_disconnected = enum.auto()
    carrier_connection_added = enum.auto()
    carrier_connection_paused = enum.auto()
    carrier_connection_removed = enum.auto()
    carrier_connection_resumed = enum.auto()
    carrier_connection_rotated = enum.auto()
    consent_link_made = enum.auto()
    contacts_merged = enum.auto()
    export_link_made = enum.auto()
    integration_added = enum.auto()
    integration_paused = enum.auto()
    integration_removed = enum.auto()
    integration_resumed = enum.auto()
    integration_rotated = enum.auto()
    integration_taken_over = enum.auto()
    invitation_withdrawn = enum.auto()
    job_link_made = enum.auto()
    key_created = enum.auto()
    key_revoked = enum.auto()
    key_rotated = enum.auto()
    oauth_client_created = enum.auto()
    oauth_client_revoked = enum.auto()
    oauth_client_secret_rotated = enum.auto()
    oauth_client_taken_over = enum.auto()
    password_reset_asked = enum.auto()
    password_set = enum.auto()
    quiet_hours_added = enum.auto()
    quiet_hours_removed = enum.auto()
    role_changed = enum.auto()
    session_ended = enum.auto()
    sign_in_refused = enum.auto()
    signed_in = enum.auto()
    signed_out = enum.auto()
    user_changed = enum.auto()
    user_invited = enum.auto()
    user_removed = enum.auto()
    webhook_secret_revealed = enum.auto()
    webhook_secret_rotated = enum.auto()


async def record(
    unit: UnitOfWork, action: AuditAction, subject: str = "", *, address: str = "", user_agent: str = "", **details: Any
) -> None:
    """Add an audit entry for an action of the unit's actor, in the unit's transaction.

    `subject` names the object of the action by a text that is useful after its deletion: an e-mail address, a name.
    `details` are plain JSON values without secrets.
    """
    entry = AuditEntry(
        account_id=unit.actor.account_id,
        action=action,
        actor=unit.actor.label,
        subject=subject,
        address=address,
        user_agent=user_agent[:MAX_USER_AGENT],
        details=details,
        request_id=unit.actor.request_id,
        created_at=unit.clock.now(),
    )
    await unit.save(entry)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """A part of the log: of an action, of an actor by its label, from a time, and before one; None for all."""

    action: AuditAction | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def find_entries(unit: UnitOfWork, wanted: EntryFilter, window: Window) -> Page[AuditEntry]:
    """Return a page of the account's entries that fit a filter, the newest first."""
    statement = select(AuditEntry).where(AuditEntry.account_id == unit.actor.account_id)
    if wanted.action is not None:
        statement = statement.where(AuditEntry.action == wanted.action)
    if wanted.actor is not None:
        statement = statement.where(AuditEntry.actor == wanted.actor)
    if wanted.since is not None:
        statement = statement.where(AuditEntry.created_at >= wanted.since)
    if wanted.until is not None:
        statement = statement.where(AuditEntry.created_at < wanted.until)
    return await fetch(unit, statement, Order((AuditEntry.id,)), window)
