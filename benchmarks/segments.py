"""Previews of segments, in process: an account with 1,000,000 contacts, and one with 10,000 in the same database.

A preview is compared with a bare count of the account's contacts by a column without an index, which reads all of them.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import asyncpg

from app.bootstrap import open_services
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.segments import previews, service
from app.services import Services
from app.settings import Settings
from benchmarks import accounts, contacts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

MANY, FEW = contacts.MANY, contacts.FEW
MOST = Bar(4.0, is_most=True)

FILTERS: Mapping[str, dict[str, Any]] = {
    "a tag": {"field": "tags", "op": "has_any", "value": ["tag7"]},
    "a stage and a score": {
        "all": [
            {"field": "pipeline_stage", "op": "eq", "value": ["qualified"]},
            {"field": "score", "op": "gte", "value": ["60"]},
        ]
    },
    "an e-mail address": {"field": "email", "op": "eq", "value": ["c4ca4238a0@example.com"]},
    "a part of an address": {"field": "email", "op": "contains", "value": ["abc"]},
    "a custom number": {"field": "custom.visits", "op": "gt", "value": ["95"]},
    "no message for 30 days": {"field": "last_inbound_at", "op": "not_within_last", "value": ["30 days"]},
    "a message, or a tag": {
        "any": [
            {"field": "last_inbound_at", "op": "within_last", "value": ["30 days"]},
            {"field": "tags", "op": "has_any", "value": ["tag7"]},
        ]
    },
    "nobody": {"field": "first_name", "op": "eq", "value": ["nobody"]},
    "six kinds of facts": {
        "all": [
            {"none": [{"field": "tags", "op": "has_any", "value": ["tag1", "tag2"]}]},
            {"any": [{"field": "custom.visits", "op": "lt", "value": ["50"]}, {"field": "email", "op": "is_empty"}]},
            {"field": "last_outbound_at", "op": "not_within_last", "value": ["7 days"]},
            {"field": "state", "op": "in", "value": ["NY", "TX"]},
            {"field": "created_at", "op": "within_last", "value": ["52 weeks"]},
        ]
    },
}
ADD_CONVERSATIONS = """
INSERT INTO conversations (account_id, contact_id, last_message_at, last_inbound_at, last_outbound_at)
SELECT account_id, id, now(), CASE WHEN id % 3 > 0 THEN now() - id % 90 * interval '1 day' END,
  now() - id % 30 * interval '1 day'
FROM contacts WHERE account_id = $1
"""
DECLARE = "INSERT INTO custom_fields (account_id, key, label, type) VALUES ($1, 'visits', 'Visits', 'number')"
COUNT = "SELECT count(*) FROM contacts WHERE account_id = $1 AND replies < 7"


@dataclass(frozen=True, slots=True)
class Course:
    """The services, and an account."""

    services: Services
    account_id: int

    async def preview(self, filter: dict[str, Any]) -> float:
        """Return the time of a preview, in ms."""
        begun = time.perf_counter()
        async with self._unit() as unit:
            await previews.preview(unit, await service.check(unit, filter))
        return 1000 * (time.perf_counter() - begun)

    async def count(self) -> float:
        """Return the time of the bare count, in ms."""
        connection = await asyncpg.connect(self.services.settings.database_url)
        begun = time.perf_counter()
        await connection.fetchval(COUNT, self.account_id)
        taken = 1000 * (time.perf_counter() - begun)
        await connection.close()
        return taken

    def _unit(self) -> AbstractAsyncContextManager[UnitOfWork]:
        services = self.services
        actor = Actor(self.account_id, frozenset())
        return open_unit(services.database.sessions, actor, services.clock, services.notify)


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Preview each filter in both accounts."""
    async with on.database("segments") as settings:
        many, few = await accounts.open_accounts(settings, 2)
        await _fill(settings, {many.id: MANY, few.id: FEW})
        async with open_services(settings) as services:
            courses = [Course(services, each.id) for each in (many, few)]
            return [
                await _compare(name, size, course, rounds)
                for name in FILTERS
                for size, course in zip((MANY, FEW), courses, strict=True)
            ]


async def _compare(name: str, size: int, course: Course, rounds: int) -> Comparison:
    await course.preview(FILTERS[name])
    taken = [(await course.preview(FILTERS[name]), await course.count()) for _ in range(rounds)]
    return Comparison(
        f"segments, {name}, {size:,}",
        "ms",
        Series("preview", [slow for slow, _ in taken]),
        Series("count", [quick for _, quick in taken]),
        MOST if size == MANY else None,
    )


async def _fill(settings: Settings, wanted: Mapping[int, int]) -> None:
    await contacts.fill(settings, wanted)
    connection = await asyncpg.connect(settings.database_url)
    for account_id in wanted:
        await connection.execute(DECLARE, account_id)
        await connection.execute(ADD_CONVERSATIONS, account_id)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()
