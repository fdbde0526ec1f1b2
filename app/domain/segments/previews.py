"""Preview filters: the number of their contacts, and a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text

from app.domain.contacts import queries as contacts
from app.domain.contacts import sql
from app.domain.contacts.models import Contact
from app.domain.kernel.errors import QueryTimeout
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments.compiling import Compiler
from app.domain.segments.filters import Node

SAMPLES = 10
SECONDS = 2.0
"""The time limit of each statement of a preview."""

ONE_IN = 100
"""An estimate reads one contact of so many."""


ALL = "contacts"
MANY = 1000
"""The number of contacts of a filter from which its newest ones are mostly among so many newest of all."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The contacts of a filter: their number, those of them that may be sent a text, and the newest ones.

    An inexact number was counted in one contact of `ONE_IN`.
    """

    total_count: int
    sendable_count: int
    is_exact: bool
    samples: Sequence[Contact]


async def preview(unit: UnitOfWork, filter: Node) -> Preview:
    """Return the preview of a filter. Where the count takes longer than `SECONDS`, the numbers are estimates.

    Raises `QueryTimeout` where even an estimate takes longer.
    """
    compiler = Compiler(unit.clock.now())
    search = _Search(unit, compiler.compile(filter), compiler.parameters)
    if counted := await search.count(ALL):
        total, sendable = counted
        return Preview(total, sendable, is_exact=True, samples=await search.find_newest(ALL, total))
    some = sql.one_in(ONE_IN)
    if estimated := await search.count(some):
        total, sendable = (ONE_IN * each for each in estimated)
        return Preview(total, sendable, is_exact=False, samples=await search.find_newest(some, total))
    raise QueryTimeout()


@dataclass(frozen=True, slots=True)
class _Search:
    """The statements of one preview."""

    unit: UnitOfWork
    which: str
    parameters: Mapping[str, Any]

    async def count(self, source: str) -> tuple[int, int] | None:
        rows = await self._run(sql.COUNT.format(source=source, which=self.which))
        if not rows:
            return None
        total, sendable = rows[0]
        return total, sendable

    async def find_newest(self, source: str, total: int) -> Sequence[Contact]:
        """Return the newest contacts: where many satisfy the filter, those that an index has first."""
        ids = await self._find_ids(sql.newest(MANY)) if total >= MANY else ()
        if len(ids) < SAMPLES:
            ids = await self._find_ids(source, barrier="" if total >= MANY else "OFFSET 0")
        by_id = await contacts.find_many(self.unit, ids)
        return [by_id[id] for id in ids if id in by_id]

    async def _find_ids(self, source: str, barrier: str = "") -> Sequence[int]:
        newest = sql.NEWEST.format(source=source, which=self.which, barrier=barrier, limit=SAMPLES)
        return [row[0] for row in await self._run(newest) or ()]

    async def _run(self, statement: str) -> Sequence[Row[*tuple[Any, ...]]] | None:
        parameters = {**self.parameters, "account_id": self.unit.actor.account_id}
        return await self.unit.try_within(SECONDS, text(statement), parameters)
