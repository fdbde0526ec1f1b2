"""The port of kinds whose events another area applies, such as those of CRMs."""

from collections.abc import Collection
from typing import Protocol

from app.domain.integrations.bookings import Applied
from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.unit_of_work import UnitOfWork


class Receiver(Protocol):
    """Reads and applies the events of one kind of integration, which its tool posts to `/integrations/{kind}`."""

    @property
    def title(self) -> str:
        """Return the name that people know."""
        ...

    @property
    def scopes(self) -> Collection[str]:
        """Return the scopes that an actor needs to be the creator of such an integration."""
        ...

    def find_address(self, delivery: Delivery) -> str:
        """Return the address of the integration that an event names; raise `Unreadable`."""
        ...

    def verify(self, delivery: Delivery) -> None:
        """Raise `BadSignature` for an event that the tool has not signed."""
        ...

    def identify(self, delivery: Delivery) -> tuple[str, str]:
        """Return the name of an event and the key of its repetitions, see `Notice`; raise `Unreadable`."""
        ...

    def asks_for_text(self, delivery: Delivery) -> bool:
        """Return whether a signed event asks for a text to be sent, which other events are not to hold up."""
        ...

    async def apply(self, unit: UnitOfWork, integration: Integration, body: str) -> Applied | None:
        """Apply an event in the transaction of the unit; None for one that changes nothing."""
        ...

    async def disconnect(self, unit: UnitOfWork, integration: Integration) -> None:
        """End the connection of an integration that is removed, in the transaction of the unit."""
        ...
