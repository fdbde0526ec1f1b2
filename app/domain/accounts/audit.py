"""The audit log of changes to people, keys and applications."""

from typing import Any

from sqlalchemy import select

from app.domain.accounts.models import AuditEntry
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_USER_AGENT = 400


async def record(
    unit: UnitOfWork, action: str, subject: str = "", *, address: str = "", user_agent: str = "", **details: Any
) -> None:
    """Write down that the unit's actor did something, in the unit's transaction.

    `subject` says to whom or what, in words that stay true when it is gone: an e-mail address, a name. `details` are
    plain JSON values, and no secrets.
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


async def find_entries(unit: UnitOfWork, action: str | None, window: Window) -> Page[AuditEntry]:
    """Return a page of the account's entries, the newest first; of one action if named."""
    own = AuditEntry.account_id == unit.actor.account_id
    statement = select(AuditEntry).where(own, AuditEntry.action == action) if action else select(AuditEntry).where(own)

    return await fetch(unit, statement, Order((AuditEntry.id,)), window)
