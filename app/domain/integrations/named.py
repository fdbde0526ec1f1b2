"""The bookings that an event names: they are read and added together, as an event may move 1,000."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.domain.integrations import planning
from app.domain.integrations.models import Booking, Integration
from app.domain.integrations.scheduling import Booked, Canceled, Change, NoShow
from app.domain.kernel.unit_of_work import UnitOfWork


@dataclass(slots=True)
class Named:
    """The bookings of an integration that an event names, locked, by the ids of its tool.

    `moved` are the ids of those that others have replaced, whose texts are to be canceled.
    """

    unit: UnitOfWork
    integration: Integration
    moved: list[int] = field(default_factory=list)
    _rows: dict[str, Booking] = field(default_factory=dict)

    @classmethod
    async def read(cls, unit: UnitOfWork, integration: Integration, changes: Sequence[Change]) -> Self:
        """Lock the bookings that changes name, after their texts, and add those that must be known."""
        named, ids = cls(unit, integration), [id for change in changes for id in _ids(change) if id]
        await planning.lock(unit, integration, ids)
        which = Booking.integration_id == integration.id, planning.any_of(Booking.external_id, ids)
        found = await unit.all(select(Booking).where(*which).order_by(Booking.id).with_for_update())
        named._rows.update((each.external_id, each) for each in found)
        await named._add(_times(changes))
        return named

    def find(self, external_id: str) -> Booking | None:
        """Return a booking; None where nothing about it has arrived."""
        return self._rows.get(external_id)

    async def find_or_add(self, external_id: str, at: datetime) -> Booking:
        """Return a booking, or add an empty one; `at` is the tool's time of the event that names it."""
        await self._add({external_id: at})
        return self._rows[external_id]

    async def delete(self, booking: Booking) -> None:
        """Delete a booking."""
        del self._rows[booking.external_id]
        await self.unit.delete(booking)

    async def _add(self, times: Mapping[str, datetime]) -> None:
        now = self.unit.clock.now()
        rows = [
            {
                "account_id": self.integration.account_id,
                "integration_id": self.integration.id,
                "external_id": id,
                "made_at": at,
                "created_at": now,
                "updated_at": now,
            }
            for id, at in times.items()
            if id not in self._rows
        ]
        if rows:
            added = (await self.unit.execute(insert(Booking).values(rows).returning(Booking))).scalars()
            self._rows.update((each.external_id, each) for each in added)


def _times(changes: Sequence[Change]) -> dict[str, datetime]:
    """Return the bookings to add by their ids, each with the time of the first event that names it."""
    times = dict[str, datetime]()
    for change in changes:
        if not isinstance(change, NoShow):
            for id in filter(None, _ids_to_add(change)):
                times.setdefault(id, change.made_at)
    return times


def _ids(change: Change) -> list[str]:
    """Return the ids of the bookings that a change names; some may be empty."""
    match change:
        case Booked():
            return [change.external_id, change.replaces, change.person_id]
        case Canceled():
            return [change.external_id, change.replaces, change.replaced_by]
        case NoShow():
            return [change.external_id, change.person_id]


def _ids_to_add(change: Booked | Canceled) -> list[str]:
    """Return the ids of the bookings that a change makes known, or refers to; some may be empty."""
    replaced_by = change.replaced_by if isinstance(change, Canceled) else ""
    return [change.external_id, change.replaces, replaced_by]
