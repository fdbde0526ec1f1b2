"""Lock, add and change many contacts, each in one statement.

The contacts are objects of no session: callers change them, and pass on those to write.
"""

from collections.abc import Iterable, Sequence

import orjson
from sqlalchemy import ColumnElement, select, text

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

_ROWS = "jsonb_to_recordset(CAST(:rows AS jsonb)) AS n({key}, " + ", ".join(map(" ".join, WRITTEN.items())) + ")"

SAVE = f"""
UPDATE contacts SET {", ".join(f"{name} = n.{name}" for name in WRITTEN)}, updated_at = :now
FROM {_ROWS.format(key="id bigint")} WHERE contacts.id = n.id AND contacts.account_id = :account_id
"""

SAVE_DND = """
UPDATE contacts SET dnd_sms = n.dnd_sms, updated_at = :now
FROM unnest(CAST(:ids AS bigint[]), CAST(:silent AS boolean[])) AS n(id, dnd_sms)
WHERE contacts.id = n.id AND contacts.account_id = :account_id
"""

ADD = f"""
INSERT INTO contacts (account_id, phone, status, dnd_sms, created_at, updated_at, {", ".join(WRITTEN)})
SELECT :account_id, n.phone, n.status, coalesce(n.dnd_sms, false), :now, :now,
  {", ".join(f"n.{name}" for name in WRITTEN)}
FROM {_ROWS.format(key="phone text, status text, dnd_sms boolean")} ORDER BY n.phone
ON CONFLICT (account_id, phone) DO NOTHING RETURNING id, phone
"""


async def lock_many(unit: UnitOfWork, which: ColumnElement[bool]) -> list[Contact]:
    """Return the account's contacts that satisfy a condition, locked for a change, in the order of their ids."""
    columns = [getattr(Contact, name) for name in COLUMNS]
    found = select(*columns).where(Contact.account_id == unit.actor.account_id, which)
    locked = found.order_by(Contact.id).with_for_update(key_share=True)
    return [Contact(**dict(zip(COLUMNS, row, strict=True))) for row in await unit.rows(locked)]


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


async def add_many(unit: UnitOfWork, contacts: Sequence[Contact]) -> list[Contact]:
    """Add contacts and give them their ids; return those added, without phones that the account already has."""
    if not contacts:
        return []
    now = unit.clock.now()
    rows = orjson.dumps([_row(contact, "phone", "status", "dnd_sms") for contact in contacts]).decode()
    values = {"rows": rows, "account_id": unit.actor.account_id, "now": now}
    ids: dict[str, int] = {row.phone: row.id for row in (await unit.execute(text(ADD), values)).all()}
    added = [contact for contact in contacts if contact.phone in ids]
    for contact in added:
        contact.id, contact.created_at, contact.account_id = ids[contact.phone], now, unit.actor.account_id
    return added


def _row(contact: Contact, *keys: str) -> dict[str, object]:
    names: Iterable[str] = (*keys, *WRITTEN)
    return {name: getattr(contact, name) for name in names}
