"""Records events for dispatch after the commit."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import text

from app.db import rows
from app.db.engine import Connection
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


RECORD_MANY = """
INSERT INTO events (account_id, name, contact_id, payload, request_id)
SELECT :account_id, e.name, e.contact_id, CAST(e.payload AS json), :request_id
FROM unnest(CAST(:names AS text[]), CAST(:contact_ids AS bigint[]), CAST(:payloads AS text[]))
  WITH ORDINALITY AS e(name, contact_id, payload, place) ORDER BY e.place
"""


INSERT = """
INSERT INTO events (account_id, name, contact_id, payload, request_id)
SELECT * FROM unnest($1::text::bigint[], $2::text::text[], $3::text::bigint[], $4::text::json[], $5::text::text[])
"""


class Recorded(NamedTuple):
    """An event of an account, with the contact that it is about and the request that caused it."""

    account_id: int
    event: Event
    contact_id: int | None = None
    request_id: str | None = None


async def record_all(connection: Connection, recorded: Sequence[Recorded]) -> None:
    """Record events of any accounts in the transaction of a connection, whose caller notifies the dispatcher."""
    if recorded:
        await connection.execute(
            INSERT,
            rows.integers(each.account_id for each in recorded),
            rows.texts(each.event.name for each in recorded),
            rows.integers(each.contact_id for each in recorded),
            rows.texts(orjson.dumps(each.event).decode() for each in recorded),
            rows.texts(each.request_id for each in recorded),
        )


class EventText(NamedTuple):
    """An event about a contact whose payload is written as JSON."""

    name: str
    contact_id: int
    payload: str

    @classmethod
    def of(cls, event: Event, contact_id: int) -> "EventText":
        """Write an event."""
        return cls(event.name, contact_id, orjson.dumps(event).decode())


async def record_many(unit: UnitOfWork, recorded: Sequence[tuple[Event, int]]) -> None:
    """Record events, each with the id of its contact, by one statement, and in their order."""
    await record_texts(unit, [EventText.of(event, contact_id) for event, contact_id in recorded])


async def record_texts(unit: UnitOfWork, recorded: Sequence[EventText]) -> None:
    """Record written events by one statement, and in their order."""
    if not recorded:
        return
    names, contact_ids, payloads = map(list, zip(*recorded, strict=True))
    values = {
        "account_id": unit.actor.account_id,
        "names": names,
        "contact_ids": contact_ids,
        "payloads": payloads,
        "request_id": unit.actor.request_id,
    }
    await unit.execute(text(RECORD_MANY), values)
    unit.notify("events")
