"""Import of a CSV file of 100,000 contacts, in process, compared with COPY after the same checks.

The baseline parses the file, checks and normalizes each phone, and copies the rows into the table. It keeps no report,
finds no duplicates and no suppressions, and records no events.
"""

import csv
import io
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from app import gc
from app.bootstrap import open_job_worker, open_services
from app.domain.accounts.scopes import ALL
from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.jobs import uploads
from app.domain.kernel import phone
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.services import Services
from benchmarks import accounts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

PEOPLE = 100_000
COLUMNS = ("account_id", "phone", "first_name", "last_name", "email", "source")
EMPTY = """
SET LOCAL session_replication_role = replica;
TRUNCATE contacts, events, outbox, job_parts, job_keys, account_jobs CASCADE
"""
"""Empties the tables without their triggers."""

COUNT = "SELECT count(*) FROM contacts WHERE account_id = $1"


@dataclass(frozen=True, slots=True)
class Course:
    """The services, an account, and the file that it imports."""

    services: Services
    account_id: int
    content: bytes

    async def import_file(self) -> float:
        """Return the rows a second of an import, from the upload on."""
        begun = time.perf_counter()
        async with self._unit() as unit:
            await imports.begin(unit, Import(await self._upload(unit)))
        worker = open_job_worker(self.services)
        while await worker.due():
            await worker.run()
        return await self._rate(begun)

    async def copy(self) -> float:
        """Return the rows a second of the baseline."""
        begun = time.perf_counter()
        async with self.services.database.pool.acquire() as connection:
            rows = list(self._checked())
            await connection.copy_records_to_table("contacts", records=rows, columns=COLUMNS)
        return await self._rate(begun)

    def _checked(self) -> Iterator[tuple[Any, ...]]:
        for line in csv.DictReader(io.StringIO(self.content.decode())):
            to = phone.normalize(line["phone"], "US")
            yield self.account_id, to, line["first name"].strip(), line["last name"].strip(), line["email"], "import"

    async def _upload(self, unit: UnitOfWork) -> int:
        upload, size = await uploads.create(unit, "people.csv"), uploads.PART_BYTES
        for number in range(-(-len(self.content) // size)):
            await uploads.add_part(unit, upload.id, number, self.content[number * size : (number + 1) * size])
        return upload.id

    async def _rate(self, begun: float) -> float:
        taken, pool = time.perf_counter() - begun, self.services.database.pool
        assert await pool.fetchval(COUNT, self.account_id) == PEOPLE
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(EMPTY)
        return PEOPLE / taken

    def _unit(self) -> AbstractAsyncContextManager[UnitOfWork]:
        actor = Actor(self.account_id, ALL, "benchmark")
        return open_unit(self.services.database.sessions, actor, self.services.clock, self.services.notify)


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Import and copy the same file in turns, with the garbage collector as worker processes set it."""
    async with on.database("imports") as settings, open_services(settings) as services:
        [account] = await accounts.open_accounts(settings, 1)
        course = Course(services, account.id, _file())
        gc.settle()
        seen = [(await course.import_file(), await course.copy()) for _ in range(rounds)]
    product, floor = Series("product", [each for each, _ in seen]), Series("COPY", [each for _, each in seen])
    return [Comparison(f"import of {PEOPLE:,} rows", "rows/s", product, floor, Bar(0.5))]


def _file() -> bytes:
    lines = ["first name,last name,phone,email"]
    lines += [f"Ann{n % 1000},Lee,+1212{2_000_000 + n},ann{n}@example.com" for n in range(PEOPLE)]
    return "\n".join(lines).encode()
