"""Read the contacts of a filter piece by piece, in a bounded time each."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.domain.contacts import sql as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments.compiling import Compiler
from app.domain.segments.filters import Node

READ = 1000
"""The number of contacts that one statement looks at."""

COUNT_SECONDS = 2.0


class Members(NamedTuple):
    """The ids of contacts of a filter, and the phone after which to read on; None at the end."""

    ids: list[int]
    after: str | None


class Looked(NamedTuple):
    """A contact that was looked at."""

    id: int
    phone: str
    is_member: bool


async def read(unit: UnitOfWork, filter: Node, at: datetime, after: str, until: int, limit: int) -> Members:
    """Return at most `limit` contacts of a filter at a time, in the order of phones, with ids up to one.

    Where none of the next `READ` contacts is one, it returns none, and the phone after which to read on.
    """
    compiler = Compiler(at)
    statement = text(contacts.MEMBERS.format(which=compiler.compile(filter)))
    place = {"account_id": unit.actor.account_id, "after": after, "until": until, "limit": READ}
    rows = [Looked._make(row) for row in await unit.execute(statement, compiler.parameters | place)]
    members = [row for row in rows if row.is_member]
    if len(members) > limit:
        return Members([row.id for row in members[:limit]], members[limit - 1].phone)
    return Members([row.id for row in members], rows[-1].phone if len(rows) == READ else None)


async def count(unit: UnitOfWork, filter: Node, at: datetime) -> int | None:
    """Return the number of the contacts of a filter; None where counting takes longer than `COUNT_SECONDS`."""
    compiler = Compiler(at)
    statement = text(contacts.COUNT.format(source="contacts", which=compiler.compile(filter)))
    parameters = compiler.parameters | {"account_id": unit.actor.account_id}
    counted = await unit.try_within(COUNT_SECONDS, statement, parameters)
    return counted[0][0] if counted else None


async def includes(unit: UnitOfWork, filter: Node, at: datetime, contact_id: int) -> bool:
    """Return whether a contact satisfies a filter at a time."""
    compiler = Compiler(at)
    statement = text(contacts.COUNT.format(source=contacts.ONLY, which=compiler.compile(filter)))
    place = {"account_id": unit.actor.account_id, "contact_id": contact_id}
    [row] = await unit.execute(statement, compiler.parameters | place)
    return row[0] == 1
