"""Create, change and delete segments."""

from typing import Any, TypedDict

from app.domain.accounts import queries as accounts
from app.domain.contacts import custom_fields
from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import fields, filters, queries
from app.domain.segments.checking import Checker
from app.domain.segments.filters import GivenFilter, Node
from app.domain.segments.models import Segment

MAX_NAME, MAX_SEGMENTS = 100, 500


class SegmentFields(TypedDict, total=False):
    """The fields of a segment that may be changed; omitted fields keep their values."""

    name: str
    filter: GivenFilter


async def create(unit: UnitOfWork, name: str, filter: GivenFilter) -> Segment:
    """Save a segment; raise `InvalidInput`, and `Conflict` at the maximum of 500 segments."""
    values = await _checked(unit, {"name": name, "filter": filter})
    await accounts.lock_own(unit)
    if await queries.count_all(unit) >= MAX_SEGMENTS:
        raise Conflict(reason=f"An account has at most {MAX_SEGMENTS} segments.")
    segment = Segment(account_id=unit.actor.account_id, created_by=unit.actor.label, **values)
    await unit.save(segment)
    return segment


async def update(unit: UnitOfWork, id: int, changes: SegmentFields, expected_version: int | None = None) -> Segment:
    """Change a segment; its version grows with each change. Campaigns that were sent keep their audience.

    Raises `NotFound`, `InvalidInput`, and `Conflict` for a version that is no longer expected.
    """
    values = await _checked(unit, changes)
    segment = await queries.get(unit, id, lock=True)
    versions.require("segment", segment.version, expected_version)
    if versions.change(segment, values):
        segment.updated_at = unit.clock.now()
        await unit.save(segment)
    return segment


async def delete(unit: UnitOfWork, segment: Segment) -> Segment:
    """Delete a locked segment, and return it. Callers make sure before that nothing uses it."""
    await unit.delete(segment)
    return segment


async def check(unit: UnitOfWork, given: GivenFilter) -> Node:
    """Return the filter that a caller wrote; raise `InvalidInput`."""
    return Checker(fields.of_account(await custom_fields.list_all(unit))).check(given)


async def _checked(unit: UnitOfWork, changes: SegmentFields) -> dict[str, Any]:
    values = dict[str, Any]()
    if "name" in changes:
        values["name"] = changes["name"].strip()
        if not 1 <= len(values["name"]) <= MAX_NAME:
            raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    if "filter" in changes:
        values["filter"] = filters.store(await check(unit, changes["filter"]))
    return values
