"""Connections to carriers that a test makes."""

from itertools import count
from typing import Any

from app.domain.carriers.carrier import Carrier
from app.domain.carriers.connections import OpenConnections
from app.domain.carriers.kinds import Configuration
from app.domain.carriers.unusable import UnusableCarrier
from app.domain.messages.handoff import Handoff
from tests.factories.tables import Rows, Source

CONNECTIONS = Rows("carrier_connections")

REVISIONS = count(1_000_000)
"""Revisions of rows that tests change: later ones than those of the sequence."""


async def add_connection(source: Source, key: str, **values: Any) -> int:
    """Add a connection to the sandbox with a key; return its id."""
    return await CONNECTIONS.insert(source, **{"key": key, "kind": "sandbox", "name": key, "settings": {}} | values)


async def change_connection(source: Source, key: str, **values: Any) -> None:
    """Change the row of a connection, as another process does."""
    await CONNECTIONS.where(key=key).change(source, revision=next(REVISIONS), **values)


def opened(handoff: Handoff, **carriers: Carrier) -> OpenConnections:
    """Return the connections of the table, each opened as the carrier of its key; one without is unusable."""

    def open(configuration: Configuration) -> Carrier:
        return carriers.get(configuration.key) or UnusableCarrier(configuration.key)

    known = handoff.connections
    return OpenConnections(known.pool, known.clock, known.seal, open)
