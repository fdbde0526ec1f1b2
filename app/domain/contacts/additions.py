"""Add many contacts and their events, each by one statement."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import orjson
from anyio import to_thread
from sqlalchemy import CursorResult, select, text

from app.domain.contacts import sql
from app.domain.contacts.models import Contact, ContactStatus, PipelineStage
from app.domain.events import outbox
from app.domain.events.outbox import EventText
from app.domain.kernel import records
from app.domain.kernel.events import Event
from app.domain.kernel.unit_of_work import UnitOfWork

ADDED = {
    "id": "bigint",
    "phone": "text",
    "first_name": "text",
    "last_name": "text",
    "email": "text",
    "tags": "text",
    "pipeline_stage": "text",
    "source": "text",
    "status": "text",
    "dnd_sms": "boolean",
    "assignee_id": "bigint",
    "custom_fields": "text",
}
"""The columns of added contacts, with the types of their parameters."""

CASTS = {"tags": "::text[]", "custom_fields": "::jsonb"}
"""The casts to the types of columns whose values are written as texts, because an array has no place for them."""

NEW_IDS = "SELECT nextval('contacts_id_seq') FROM generate_series(1, :count)"

ESCAPED, ESCAPE = re.compile(r'["\\]'), r"\\\g<0>"
"""The characters of a tag that a backslash precedes in the text of an array."""

ADD = f"""
INSERT INTO contacts (account_id, created_at, updated_at, {", ".join(ADDED)})
SELECT :account_id, :now, :now,
  {", ".join(f"coalesce(n.{name}, :one_{name}){CASTS.get(name, '')}" for name in ADDED)}
FROM unnest({", ".join(f"CAST(:{name} AS {type}[])" for name, type in ADDED.items())}) AS n({", ".join(ADDED)})
ORDER BY n.phone ON CONFLICT (account_id, phone) DO NOTHING
"""
"""Adds contacts. A column that is the same in all of them is one value, and its array is empty."""


@dataclass(slots=True)
class AddedContact:
    """A contact to add: until then its `id` is 0, and it has no `created_at`.

    An object of the ORM takes ten times as long to make and to read.
    """

    phone: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    tags: list[str] = field(default_factory=list)
    pipeline_stage: str = PipelineStage.new_lead
    source: str = ""
    status: str = ContactStatus.active
    dnd_sms: bool = False
    assignee_id: int | None = None
    custom_fields: dict[str, Any] = field(default_factory=dict)
    id: int = field(default=0, init=False)
    created_at: datetime = field(init=False)


AnyContact = Contact | AddedContact


async def add_many(
    unit: UnitOfWork, contacts: Sequence[AddedContact], events_of: Callable[[AddedContact], Sequence[Event]]
) -> list[AddedContact]:
    """Add contacts with their events; return those added, without phones that the account already has.

    One whose phone opts out meanwhile is added as opted out.

    A thread calls `events_of` while PostgreSQL adds the contacts, which have their ids by then. It is none of those of
    asyncio, which may read files for seconds while a transaction waits here. Both are awaited before either fails, so
    that no statement runs after the end of the transaction.
    """
    if not contacts:
        return []
    ids, now = await unit.execute(text(NEW_IDS), {"count": len(contacts)}), unit.clock.now()
    for contact, id in zip(contacts, ids.scalars(), strict=True):
        contact.id, contact.created_at = id, now
    writing = to_thread.run_sync(_write_events, contacts, events_of)
    added, events = await asyncio.gather(_add(unit, contacts, now), writing, return_exceptions=True)
    if isinstance(added, BaseException):
        raise added
    if isinstance(events, BaseException):
        raise events
    for contact in contacts:
        contact.id = contact.id if contact.id in added else 0
    silent = await _opt_out_suppressed(unit, contacts)
    right = added - {contact.id for contact in silent}
    rewritten = _write_events(silent, events_of)
    await outbox.record_texts(unit, [event for event in events if event.contact_id in right] + rewritten)
    return [contact for contact in contacts if contact.id]


async def _opt_out_suppressed(unit: UnitOfWork, contacts: Sequence[AddedContact]) -> list[AddedContact]:
    """Opt out the added contacts whose phones have opted out meanwhile; return those."""
    ids = [contact.id for contact in contacts if contact.id]
    late = {*(await unit.execute(text(sql.opt_out_suppressed(":ids")), {"ids": ids})).scalars()}
    silent = [contact for contact in contacts if contact.id in late]
    for contact in silent:
        contact.status = ContactStatus.opted_out
    return silent


async def _add(unit: UnitOfWork, contacts: Sequence[AddedContact], now: datetime) -> Set[int]:
    """Add contacts that have ids; return the ids of those added."""
    values: dict[str, Any] = {"account_id": unit.actor.account_id, "now": now}
    for name in ADDED:
        values |= _parameters(name, [getattr(contact, name) for contact in contacts])
    ids = [contact.id for contact in contacts]
    result = cast("CursorResult[Any]", await unit.execute(text(ADD), values))
    if result.rowcount == len(ids):
        return {*ids}
    own = Contact.account_id == unit.actor.account_id, records.among(Contact.id, ids)
    return {*await unit.all(select(Contact.id).where(*own))}


def _write_events(
    contacts: Sequence[AddedContact], events_of: Callable[[AddedContact], Sequence[Event]]
) -> list[EventText]:
    return [EventText.of(event, contact.id) for contact in contacts for event in events_of(contact)]


def _parameters(name: str, column: Sequence[object]) -> dict[str, object]:
    """Return the array of a column and its one value, of which `ADD` uses either."""
    is_one = name not in ("id", "phone") and column.count(column[0]) == len(column)
    values = [column[0]] if is_one else column
    if name in TEXTS:
        values = [TEXTS[name](value) for value in values]
    return {name: [], f"one_{name}": values[0]} if is_one else {name: values, f"one_{name}": None}


def _array(tags: Sequence[str]) -> str:
    return "{" + ",".join(f'"{ESCAPED.sub(ESCAPE, tag)}"' for tag in tags) + "}"


def _json(fields: Mapping[str, object]) -> str:
    return orjson.dumps(fields).decode()


TEXTS: Mapping[str, Callable[..., str]] = {"tags": _array, "custom_fields": _json}
"""The functions that write a value as a text."""
