"""Declare custom fields of contacts, and check their values.

A value is stored as JSON of the field's type: a text, a number, true or false, a date as `2026-11-21`. Callers read and
write every value as a text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import Select, delete, select
from sqlalchemy import text as statement

from app.domain.accounts import queries as accounts
from app.domain.contacts.models import CustomField, CustomFieldType
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_FIELDS, MAX_TEXT, MAX_LABEL, MAX_CHOICES, MAX_CHOICE = 50, 500, 100, 100, 64
KEY_PATTERN = "[a-z][a-z0-9_]{0,39}"
NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,6})?")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
BOOLEANS = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}

CLEAR = """
UPDATE contacts SET custom_fields = custom_fields - CAST(:key AS text), updated_at = :now WHERE id = ANY(ARRAY(
  SELECT id FROM contacts WHERE account_id = :account_id AND phone > :after AND jsonb_exists(custom_fields, :key)
  ORDER BY phone LIMIT :limit FOR NO KEY UPDATE
)) RETURNING phone
"""
"""The array is read once; a join may read its inner part for each outer row, and lock other rows each time."""

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class NewField:
    """A custom field to declare."""

    key: str
    label: str = ""
    type: CustomFieldType = CustomFieldType.text
    choices: list[str] = field(default_factory=list)


async def create(unit: UnitOfWork, new: NewField) -> CustomField:
    """Declare a field; raise `Conflict` for a key in use and at the maximum of 50 fields, and `InvalidInput`."""
    if not re.fullmatch(KEY_PATTERN, new.key):
        raise InvalidInput(
            reason="key must begin with a letter from a to z and have only a to z, 0 to 9 and _, at most 40 of them.",
            field="key",
        )
    await accounts.lock_own(unit)
    known = await unit.all(_own(unit))
    if same := [each for each in known if each.key == new.key]:
        advice = f"Wait for the job. If that was canceled, delete the field {same[0].id} again."
        state = f", whose values are being deleted. {advice}" if same[0].deleted_at else "."
        raise Conflict(reason=f"The account has a custom field with the key {new.key}{state}")
    if len(known) >= MAX_FIELDS:
        raise Conflict(reason=f"An account has at most {MAX_FIELDS} custom fields.")
    row = CustomField(
        account_id=unit.actor.account_id,
        key=new.key,
        label=_label(new.label or new.key),
        type=new.type,
        choices=_choices(new.type, new.choices),
    )
    await unit.save(row)
    return row


async def update(unit: UnitOfWork, id: int, label: str | None, choices: list[str] | None) -> CustomField:
    """Change the label or the choices of a field, never its key or type; null keeps them.

    Contacts keep a value whose choice was removed. Raises `NotFound` and `InvalidInput`.
    """
    row = await get(unit, id)
    if label is not None:
        row.label = _label(label)
    if choices is not None:
        row.choices = _choices(CustomFieldType(row.type), choices)
    await unit.save(row)
    return row


async def get(unit: UnitOfWork, id: int, *, deleted: bool = False) -> CustomField:
    """Return a field of the account; with `deleted`, also one whose values are being deleted. Raise `NotFound`."""
    row = await unit.one(_own(unit).where(CustomField.id == id))
    if row is None or (row.deleted_at and not deleted):
        raise NotFound(kind="custom field", id=id)
    return row


async def list_all(unit: UnitOfWork) -> Sequence[CustomField]:
    """Return the account's fields in the order of their keys."""
    return await unit.all(_own(unit).where(CustomField.deleted_at.is_(None)).order_by(CustomField.key))


async def hide(unit: UnitOfWork, id: int) -> CustomField:
    """Hide a field, and return it; raise `NotFound`. Callers make sure that nothing uses it."""
    row = await get(unit, id, deleted=True)
    row.deleted_at = row.deleted_at or unit.clock.now()
    await unit.save(row)
    return row


async def lock_hidden(unit: UnitOfWork, key: str) -> bool:
    """Return whether the account has a hidden field with a key, which then stays until the end of the transaction."""
    hidden = _own(unit).where(CustomField.key == key, CustomField.deleted_at.is_not(None))
    return await unit.one(hidden.with_for_update()) is not None


async def clear(unit: UnitOfWork, key: str, after: str, limit: int) -> list[str]:
    """Remove the values of a key from the next contacts after a phone; return their phones in order."""
    values = {"account_id": unit.actor.account_id, "key": key, "after": after, "limit": limit}
    cleared = await unit.execute(statement(CLEAR), {**values, "now": unit.clock.now()})
    return sorted(cleared.scalars())


async def remove(unit: UnitOfWork, key: str) -> None:
    """Remove a hidden field whose values are gone; its key may be declared anew."""
    hidden = CustomField.account_id == unit.actor.account_id, CustomField.deleted_at.is_not(None)
    await unit.execute(delete(CustomField).where(*hidden, CustomField.key == key))


async def find_of_accounts(unit: UnitOfWork, account_ids: Sequence[int]) -> Sequence[CustomField]:
    """Return the fields of the actor's account, if it is among the accounts."""
    return await list_all(unit) if unit.actor.account_id in account_ids else ()


async def check(unit: UnitOfWork, given: Mapping[str, str | None]) -> dict[str, Value | None]:
    """Return the typed values of texts by key, None for an empty one; raise `InvalidInput`."""
    if not given:
        return {}
    known = {each.key: each for each in await list_all(unit)}
    return {key: read(_known(known, key), text or "") for key, text in given.items()}


def merge(present: Mapping[str, Any], given: Mapping[str, Value | None]) -> dict[str, Any]:
    """Return the values of a contact after a change, without the removed ones."""
    return {key: value for key, value in {**present, **given}.items() if value is not None}


def read(field: CustomField, text: str) -> Value | None:
    """Return the typed value of a text, None for an empty one; raise `InvalidInput`, which names the key."""
    text = text.strip()
    if not text:
        return None
    value = READERS[CustomFieldType(field.type)](field, text)
    if value is None:
        raise InvalidInput(reason=f"custom.{field.key} must be {_expected(field)}.", field=f"custom.{field.key}")
    return value


def show(value: Value) -> str:
    """Return a typed value as a text that `read` accepts."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _own(unit: UnitOfWork) -> Select[CustomField]:
    return select(CustomField).where(CustomField.account_id == unit.actor.account_id)


def _known(known: Mapping[str, CustomField], key: str) -> CustomField:
    if key not in known:
        named = f"There are: {', '.join(known)}." if known else "The account has declared none."
        raise InvalidInput(reason=f"custom.{key[:40]} is not a custom field. {named}", field=f"custom.{key[:40]}")
    return known[key]


def _text(_: CustomField, text: str) -> str | None:
    return text if len(text) <= MAX_TEXT else None


def _number(_: CustomField, text: str) -> int | float | None:
    if not NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def _day(_: CustomField, text: str) -> str | None:
    try:
        return text if DAY.fullmatch(text) and date.fromisoformat(text) else None
    except ValueError:
        return None


def _boolean(_: CustomField, text: str) -> bool | None:
    return BOOLEANS.get(text.lower())


def _choice(field: CustomField, text: str) -> str | None:
    return next((each for each in field.choices if each.casefold() == text.casefold()), None)


READERS: dict[CustomFieldType, Callable[[CustomField, str], Value | None]] = {
    CustomFieldType.text: _text,
    CustomFieldType.number: _number,
    CustomFieldType.date: _day,
    CustomFieldType.boolean: _boolean,
    CustomFieldType.choice: _choice,
}


def _expected(field: CustomField) -> str:
    match field.type:
        case CustomFieldType.text:
            return f"a text of at most {MAX_TEXT} characters"
        case CustomFieldType.number:
            return "a number such as 12 or -3.5, with at most 15 digits and 6 decimals"
        case CustomFieldType.date:
            return "a date such as 2026-11-21"
        case CustomFieldType.boolean:
            return "true or false"
        case _:
            return f"one of {', '.join(field.choices)}"


def _label(text: str) -> str:
    label = text.strip()
    if not label or len(label) > MAX_LABEL:
        raise InvalidInput(reason=f"label must have 1 to {MAX_LABEL} characters.", field="label")
    return label


def _choices(type: CustomFieldType, given: Sequence[str]) -> list[str]:
    choices = [text for text in dict.fromkeys(each.strip() for each in given) if text]
    if (type is CustomFieldType.choice) is not bool(choices):
        raise InvalidInput(reason="choices must be given for the type choice, and for no other.", field="choices")
    if len(choices) > MAX_CHOICES or any(len(each) > MAX_CHOICE for each in choices):
        reason = f"choices must be at most {MAX_CHOICES}, each of at most {MAX_CHOICE} characters."
        raise InvalidInput(reason=reason, field="choices")
    return choices
