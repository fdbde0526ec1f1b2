"""Add many contacts by one statement."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import text

from app.domain.contacts.models import Contact, ContactStatus, PipelineStage
from app.domain.kernel.unit_of_work import UnitOfWork

ADDED = {
    "phone": "text",
    "created_at": "timestamptz",
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

ESCAPED, ESCAPE = re.compile(r'["\\]'), r"\\\g<0>"
"""The characters of a tag that a backslash precedes in the text of an array."""

ADD = f"""
INSERT INTO contacts (account_id, updated_at, {", ".join(ADDED)})
SELECT :account_id, coalesce(n.created_at, :one_created_at),
  {", ".join(f"coalesce(n.{name}, :one_{name}){CASTS.get(name, '')}" for name in ADDED)}
FROM unnest({", ".join(f"CAST(:{name} AS {type}[])" for name, type in ADDED.items())}) AS n({", ".join(ADDED)})
ORDER BY n.phone ON CONFLICT (account_id, phone) DO NOTHING RETURNING id, phone
"""
"""Adds contacts. A column that is the same in all of them is one value, and its array is empty."""


@dataclass(slots=True)
class AddedContact:
    """A contact to add: its `id` is 0 until then. An object of the ORM takes ten times as long to make and to read."""

    phone: str
    created_at: datetime
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    tags: list[str] = field(default_factory=list[str])
    pipeline_stage: str = PipelineStage.new_lead
    source: str = ""
    status: str = ContactStatus.active
    dnd_sms: bool = False
    assignee_id: int | None = None
    custom_fields: dict[str, Any] = field(default_factory=dict[str, Any])
    id: int = 0


AnyContact = Contact | AddedContact


async def add_many(unit: UnitOfWork, contacts: Sequence[AddedContact]) -> list[AddedContact]:
    """Add contacts and give them their ids; return those added, without phones that the account already has."""
    if not contacts:
        return []
    values: dict[str, Any] = {"account_id": unit.actor.account_id}
    for name in ADDED:
        values |= _parameters(name, [getattr(contact, name) for contact in contacts])
    ids: dict[str, int] = {row.phone: row.id for row in (await unit.execute(text(ADD), values)).all()}
    for contact in contacts:
        contact.id = ids.get(contact.phone, 0)
    return [contact for contact in contacts if contact.id]


def _parameters(name: str, column: Sequence[object]) -> dict[str, object]:
    """Return the array of a column and its one value, of which `ADD` uses either."""
    is_one = name != "phone" and column.count(column[0]) == len(column)
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
