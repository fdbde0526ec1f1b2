"""Empties the events of a contact, for its erasure."""

from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, delete, text, update

from app.domain.events import sql
from app.domain.events.history import ids_of
from app.domain.events.models import EventRow, FailedReaction, WaitingEvent
from app.domain.kernel.unit_of_work import UnitOfWork

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements change."""


async def hold_dispatch(unit: UnitOfWork) -> None:
    """Prevent the dispatch of the account's events until the unit ends.

    Call it before locking rows that reactions use.
    """
    await unit.execute(text(sql.HOLD_ACCOUNT), {"account_id": unit.actor.account_id})
    unit.notify("events")


async def empty(unit: UnitOfWork, contact_id: int) -> None:
    """Empty the events of a contact, and remove them from the outbox and from the failed reactions."""
    for queue in (WaitingEvent, FailedReaction):
        waits = queue.account_id == unit.actor.account_id, queue.event_id.in_(ids_of(unit.actor.account_id, contact_id))
        await unit.execute(delete(queue).where(*waits).execution_options(**UNREAD))
    kept = update(EventRow).where(_is_of(unit, contact_id), cast(EventRow.payload, Text) != "{}")
    await unit.execute(kept.values(payload={}).execution_options(**UNREAD))


def _is_of(unit: UnitOfWork, contact_id: int) -> ColumnElement[bool]:
    return and_(EventRow.account_id == unit.actor.account_id, EventRow.contact_id == contact_id)
