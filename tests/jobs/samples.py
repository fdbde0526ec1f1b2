"""Sample work, and its worker as a process: `-m tests.jobs.samples REDIS_URL LEDGER BATCH_SECONDS`."""

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.jobs.job import Job
from app.jobs.notifier import Notifier
from app.worker import Build, run
from tests.waiting import never

BATCH = 10
LEASE_SECONDS = 600.0


class Ledger:
    """Rows of work in a file, claimed for `LEASE_SECONDS` or until `lapse`, and then marked as done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute(
            "create table if not exists work"
            " (id integer primary key, claims int default 0, until real default 0, done int default 0)"
        )

    def add(self, count: int) -> None:
        """Add due rows."""
        self._file.executemany("insert into work (until) values (?)", [(0,)] * count)

    def claim(self) -> list[int]:
        """Claim a batch of due rows."""
        now = time.time()
        rows = self._file.execute(
            "update work set claims = claims + 1, until = ? where id in"
            " (select id from work where done = 0 and until < ? order by id limit ?) returning id",
            (now + LEASE_SECONDS, now, BATCH),
        )
        return [row[0] for row in rows]

    def finish(self, ids: list[int]) -> None:
        """Record that rows are done."""
        self._file.executemany("update work set done = done + 1 where id = ?", [(row,) for row in ids])

    def lapse(self) -> None:
        """End all leases, as their time does."""
        self._file.execute("update work set until = 0")

    def count(self, condition: str) -> int:
        """Count the rows that meet a condition."""
        return self._file.execute(f"select count(*) from work where {condition}").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def job(self, *, every: float, batch_seconds: float = 0.0) -> Job:
        """Return the job that does this work, on the topic `work`."""

        async def run() -> bool:
            ids = self.claim()
            await asyncio.sleep(batch_seconds)
            self.finish(ids)
            return len(ids) == BATCH

        async def due() -> bool:
            return self.count(f"done = 0 and until < {time.time()}") > 0

        return Job("work", run, due, every)


def building(*jobs: Job) -> Build:
    """Return a function that builds the job without connections."""

    @asynccontextmanager
    async def build(_: Notifier) -> AsyncGenerator[Sequence[Job]]:
        yield jobs

    return build


@asynccontextmanager
async def never_connected(_: Notifier) -> AsyncGenerator[Sequence[Job]]:
    """Never finish building."""
    _tell("connecting")
    try:
        await never()
    finally:
        _tell("gave up")
    yield []


def _tell(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        run(sys.argv[1], never_connected)
    else:
        url, path, batch_seconds = sys.argv[1:]
        run(url, building(Ledger(Path(path)).job(every=0.1, batch_seconds=float(batch_seconds))))
