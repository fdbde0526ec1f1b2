"""Reminding the owners of accounts that these will be deleted."""

from app.db.engine import Database
from app.domain.accounts import deletion
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.jobs.job import Job

DUE = "SELECT id FROM accounts WHERE deletion_notice_at <= $1 ORDER BY deletion_notice_at LIMIT 100"
EVERY = 30.0


def remind(database: Database, clock: Clock, notify: Notify) -> Job:
    """Return the job that mails owners some days before the deletion of their account, once."""

    async def run() -> bool:
        reminded = 0
        for row in await database.pool.fetch(DUE, clock.now()):
            async with open_unit(database.sessions, Actor(row["id"], frozenset()), clock, notify) as unit:
                reminded += await deletion.remind(unit)
        return reminded > 0

    async def due() -> bool:
        return bool(await database.pool.fetch(DUE, clock.now()))

    return Job("deletion_notices", run, due, every=EVERY)
