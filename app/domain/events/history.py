"""Recorded events of a contact, for as long as events are kept."""

from collections.abc import Sequence

from sqlalchemy import Select, select

from app.domain.events.models import EventRow
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.unit_of_work import UnitOfWork


def ids_of(account_id: int, contact_id: int) -> Select[int]:
    """Select the ids of the events of a contact."""
    return select(EventRow.id).where(EventRow.account_id == account_id, EventRow.contact_id == contact_id)


async def list_of_contact(
    unit: UnitOfWork, contact_id: int, names: Sequence[str], before: Place | None, limit: int
) -> Sequence[EventRow]:
    """Return the latest events of a contact with some names before a place."""
    own = EventRow.account_id == unit.actor.account_id, EventRow.contact_id == contact_id, EventRow.name.in_(names)
    return await unit.all(latest(select(EventRow).where(*own), EventRow.created_at, EventRow.id, before, limit))
