"""What must be done about contacts later: holds that nobody decided on."""

import structlog

from app.db.engine import Database
from app.domain.conversations import review
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.jobs.job import Job

OVERDUE = "SELECT DISTINCT account_id FROM contacts WHERE held_until <= $1 LIMIT 100"
EVERY = 30.0

log = structlog.get_logger(__name__)


def expire_holds(database: Database, clock: Clock, notify: Notify) -> Job:
    """Return the job that turns undecided holds into opt-outs."""

    async def run() -> bool:
        expired = 0
        for row in await database.pool.fetch(OVERDUE, clock.now()):
            try:
                async with open_unit(database.sessions, Actor(row["account_id"], frozenset()), clock, notify) as unit:
                    expired += await review.expire(unit)
            except Exception:  # the holds of other accounts do not wait for this one's
                log.exception("holds could not be ended", account_id=row["account_id"])
        return expired > 0

    async def due() -> bool:
        return bool(await database.pool.fetch(OVERDUE, clock.now()))

    return Job("holds", run, due, every=EVERY)
