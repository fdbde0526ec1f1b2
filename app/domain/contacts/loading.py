"""Lock and change many contacts, each in one statement.

The contacts are objects of no session: callers change them, and pass on those to write.
"""

from collections.abc import Collection, Iterable, Sequence

import orjson
from sqlalchemy import ARRAY, ColumnElement, Text, any_, literal, select, text

from app.domain.contacts.models import Contact
from app.domain.kernel.unit_of_work import UnitOfWork

COLUMNS = (
    "id",
    "account_id",
    "phone",
    "first_name",
    "last_name",
    "email",
    "tags",
    "pipeline_stage",
    "source",
    "status",
    "dnd_sms",
    "assignee_id",
    "custom_fields",
    "time_zone",
    "created_at",
)

WRITTEN = {
    "first_name": "text",
    "last_name": "text",
    "email": "text",
    "tags": "text[]",
    "pipeline_stage": "text",
    "source": "text",
    "assignee_id": "bigint",
    "custom_fields": "jsonb",
}
"""The columns that a change of many contacts writes, with their types."""

ROWS = "jsonb_to_recordset(CAST(:rows AS jsonb)) AS n(id bigint, " + ", ".join(map(" ".join, WRITTEN.items())) + ")"

SAVE = f"""
UPDATE contacts SET {", ".join(f"{name} = n.{name}" for name in WRITTEN)}, updated_at = :now
FROM {ROWS} WHERE contacts.id = n.id AND contacts.account_id = :account_id
"""

SAVE_DND = """
UPDATE contacts SET dnd_sms = n.dnd_sms, updated_at = :now
FROM unnest(CAST(:ids AS bigint[]), CAST(:silent AS boolean[])) AS n(id, dnd_sms)
WHERE contacts.id = n.id AND contacts.account_id = :account_id
"""


async def lock_many(unit: UnitOfWork, which: ColumnElement[bool]) -> list[Contact]:
    """Return the account's contacts that satisfy a condition, locked for a change, in the order of their ids."""
    columns = [getattr(Contact, name) for name in COLUMNS]
    found = select(*columns).where(Contact.account_id == unit.actor.account_id, which)
    locked = found.order_by(Contact.id).with_for_update(key_share=True)
    return [Contact(**dict(zip(COLUMNS, row, strict=True))) for row in await unit.rows(locked)]


async def lock_phones(unit: UnitOfWork, phones: Collection[str]) -> list[Contact]:
    """Return the account's contacts with one of the phones, locked for a change, in the order of their ids."""
    return await lock_many(unit, Contact.phone == any_(literal(list(phones), ARRAY(Text)))) if phones else []


async def save_many(unit: UnitOfWork, contacts: Sequence[Contact]) -> None:
    """Write changed contacts that were locked, but for do-not-disturb.

    Phone and status are written by no statement of this module.
    """
    if contacts:
        rows = orjson.dumps([_row(contact, "id") for contact in contacts]).decode()
        values = {"rows": rows, "account_id": unit.actor.account_id, "now": unit.clock.now()}
        await unit.execute(text(SAVE), values)


async def save_dnd(unit: UnitOfWork, contacts: Sequence[Contact]) -> None:
    """Write the do-not-disturb of changed contacts that were locked."""
    if contacts:
        facts = {"ids": [each.id for each in contacts], "silent": [each.dnd_sms for each in contacts]}
        await unit.execute(text(SAVE_DND), facts | {"account_id": unit.actor.account_id, "now": unit.clock.now()})


def _row(contact: Contact, *keys: str) -> dict[str, object]:
    names: Iterable[str] = (*keys, *WRITTEN)
    return {name: getattr(contact, name) for name in names}
