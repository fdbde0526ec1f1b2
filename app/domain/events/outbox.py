"""Records events for dispatch after the commit."""

from app.domain.events.models import EventRow
from app.domain.kernel.events import Event
from app.domain.kernel.unit_of_work import UnitOfWork


def record(unit: UnitOfWork, event: Event, contact_id: int | None = None) -> None:
    """Record an event in the unit's transaction, and notify the dispatcher after the commit."""
    row = EventRow(
        account_id=unit.actor.account_id,
        name=event.name,
        contact_id=contact_id,
        payload=event.payload(),
        request_id=unit.actor.request_id,
    )
    unit.add(row)
    unit.notify("events")
