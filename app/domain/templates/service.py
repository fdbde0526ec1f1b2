"""Save templates and the fallbacks of placeholders."""

from typing import TypedDict

from sqlalchemy import delete as delete_rows
from sqlalchemy.dialects.postgresql import insert

from app.domain.kernel import versions
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import checking, queries, vocabulary
from app.domain.templates.models import PlaceholderFallback, Template
from app.domain.templates.rendering import MAX_VALUE, clean

MAX_NAME = 100


class TemplateFields(TypedDict, total=False):
    """The fields of a template that may be changed; omitted fields keep their values."""

    name: str
    body: str


async def create(unit: UnitOfWork, name: str, body: str) -> Template:
    """Save a new template; raise `InvalidInput` or `MessageTooLong`."""
    fields = await _checked(unit, {"name": name, "body": body})
    template = Template(account_id=unit.actor.account_id, created_by=unit.actor.label, **fields)
    await unit.save(template)
    return template


async def update(unit: UnitOfWork, id: int, fields: TemplateFields, expected_version: int | None = None) -> Template:
    """Change a template; its version grows with each change.

    Raises `NotFound`, `InvalidInput`, `MessageTooLong`, and `Conflict` for a version that is no longer expected.
    """
    values = await _checked(unit, fields)
    template = await queries.get(unit, id, lock=True)
    versions.require("template", template.version, expected_version)
    if versions.change(template, values):
        template.updated_at = unit.clock.now()
        await unit.save(template)
    return template


async def delete(unit: UnitOfWork, id: int, expected_version: int | None = None) -> Template:
    """Delete a template and return it; raise `NotFound`, or `Conflict` for a version that is no longer expected."""
    template = await queries.get(unit, id, lock=True)
    versions.require("template", template.version, expected_version)
    await unit.delete(template)
    return template


async def set_fallback(unit: UnitOfWork, name: str, fallback: str | None) -> str | None:
    """Set the account's fallback for a placeholder, or remove it with None; return it as it is shown.

    Raises `InvalidInput` for an unknown placeholder, and for a fallback that is too long.
    """
    known = await vocabulary.find(unit, of_bookings=True)
    if name not in known.names:
        nearest = known.find_nearest(name)
        hint = f" Did you mean {nearest}?" if nearest else ""
        raise InvalidInput(reason=f"{name[:MAX_NAME]} is not a placeholder.{hint}", field="name")
    own = PlaceholderFallback.account_id == unit.actor.account_id, PlaceholderFallback.name == name
    shown = _fallback(fallback)
    if not shown:
        await unit.execute(delete_rows(PlaceholderFallback).where(*own))
        return None
    changed = {"fallback": shown, "updated_at": unit.clock.now()}
    row = insert(PlaceholderFallback).values(account_id=unit.actor.account_id, name=name, **changed)
    await unit.execute(row.on_conflict_do_update(index_elements=["account_id", "name"], set_=changed))
    return shown


def _fallback(text: str | None) -> str:
    if len((text or "").strip()) > MAX_VALUE:
        raise InvalidInput(reason=f"fallback must have at most {MAX_VALUE} characters.", field="fallback")
    return clean(text)


async def _checked(unit: UnitOfWork, fields: TemplateFields) -> TemplateFields:
    values: TemplateFields = {}
    if "name" in fields:
        values["name"] = _name(fields["name"])
    if "body" in fields:
        checking.check(fields["body"], await vocabulary.find(unit, of_bookings=True), "body")
        values["body"] = fields["body"]
    return values


def _name(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    return name
