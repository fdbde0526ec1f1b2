"""Connections to carriers that a test makes."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from app.domain.carriers.carrier import Carrier
from app.domain.carriers.connections import OpenConnections
from app.domain.carriers.kinds import Configuration
from app.domain.carriers.unusable import UnusableCarrier
from app.domain.messages.handoff import Handoff
from app.services import Services
from tests.factories.tables import Rows, Source

CONNECTIONS = Rows("carrier_connections")
CARRIER_LOOKUPS = Rows("carrier_lookups")
MINUTES = Rows("connection_minutes")
ALERTS = Rows("connection_alerts")

REVISIONS = count(1_000_000)
"""Revisions of rows that tests change: later ones than those of the sequence."""


async def add_connection(source: Source, key: str, **values: Any) -> int:
    """Add a connection to the sandbox with a key; return its id."""
    return await CONNECTIONS.insert(source, **{"key": key, "kind": "sandbox", "name": key, "settings": {}} | values)


async def add_smpp_connection(services: Services, key: str) -> int:
    """Add a connection to phones, which processes other than workers would bind; return its id."""
    login = services.connections.seal.close('{"system_id": "us", "password": "secret"}')
    values = {"kind": "smpp", "role": "smpp", "settings": {"host": "smsc.example.com"}, "credentials": login}
    id = await add_connection(services, key, **values)
    services.connections.expire()
    return id


async def change_connection(source: Source, key: str, **values: Any) -> None:
    """Change the row of a connection, as another process does."""
    await CONNECTIONS.where(key=key).change(source, revision=next(REVISIONS), **values)


def opened(handoff: Handoff, **carriers: Carrier) -> OpenConnections:
    """Return the connections of the table, each opened as the carrier of its key; one without is unusable."""

    def open(configuration: Configuration) -> Carrier:
        return carriers.get(configuration.key) or UnusableCarrier(configuration.key)

    known = handoff.connections
    return OpenConnections(known.pool, known.clock, known.seal, open)


async def add_minute(
    source: Source, connection_id: int, result: str, code: str = "", *, minutes_ago: float = 1.0, **values: Any
) -> None:
    """Add a count of what happened on a connection: once, unless `values` say otherwise."""
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    columns = {"minute": at.replace(second=0, microsecond=0), "last_at": at, "count": 1} | values
    await MINUTES.insert(source, connection_id=connection_id, result=result, code=code, **columns)
