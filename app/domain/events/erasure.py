"""Empties the events of a contact, for its erasure."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, or_, select, update

from app.domain.events.dispatcher import LOCK
from app.domain.events.models import EventRow
from app.domain.kernel.unit_of_work import UnitOfWork

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements change."""


async def hold_dispatch(unit: UnitOfWork) -> None:
    """Dispatch no event until the unit ends. Call it before what locks the rows that the dispatcher inserts for.

    Call it late: events of all accounts wait meanwhile.
    """
    await unit.execute(select(func.pg_advisory_xact_lock(LOCK)))


def ids_of(unit: UnitOfWork, contact_id: int) -> Select[int]:
    """Select the ids of the events of a contact."""
    return select(EventRow.id).where(_is_of(unit, contact_id))


def dispatched_ids_of(unit: UnitOfWork, contact_id: int) -> Select[int]:
    """Select the ids of the events of a contact that were dispatched."""
    return ids_of(unit, contact_id).where(EventRow.dispatched_at.is_not(None))


async def empty_dispatched(unit: UnitOfWork, contact_id: int) -> None:
    """Empty the events of a contact that were dispatched before; `empty` then has less to do."""
    dispatched = update(EventRow).where(_is_of(unit, contact_id), EventRow.dispatched_at.is_not(None))
    await unit.execute(dispatched.values(payload={}).execution_options(**UNREAD))


async def empty(unit: UnitOfWork, contact_id: int) -> None:
    """Empty the events of a contact. An event that waits to be dispatched is not dispatched any more."""
    kept = or_(EventRow.dispatched_at.is_(None), cast(EventRow.payload, Text) != "{}")
    events = update(EventRow).where(_is_of(unit, contact_id), kept).execution_options(**UNREAD)
    dispatched = func.coalesce(EventRow.dispatched_at, unit.clock.now())
    await unit.execute(events.values(payload={}, dispatched_at=dispatched))


def _is_of(unit: UnitOfWork, contact_id: int) -> ColumnElement[bool]:
    return and_(EventRow.account_id == unit.actor.account_id, EventRow.contact_id == contact_id)
