"""Jobs made from a retention rule or from one function of an area."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial

import structlog

from app.db.engine import Database
from app.db.partitions import Partitions
from app.domain.carriers import alerts
from app.domain.kernel import retention
from app.domain.kernel.clock import Clock
from app.domain.kernel.retention import HistoryRetention, Rule
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import backlog
from app.jobs.job import Job

PURGE_SECONDS = 600.0
SWEEP_SECONDS = 30.0
PARTITIONS_SECONDS = 60.0
ALERT_SECONDS = 15.0

OpenUnit = Callable[[], AbstractAsyncContextManager[UnitOfWork]]

log = structlog.get_logger(__name__)


def purge(topic: str, rules: Iterable[Rule], database: Database, clock: Clock) -> Job:
    """Return the job that applies retention rules."""
    rules = tuple(rules)

    async def run() -> bool:
        await retention.apply(rules, database.pool, clock.now())
        return False

    async def due() -> bool:
        return True

    return Job(topic, run, due, every=PURGE_SECONDS)


def end_histories(topic: str, retention: HistoryRetention, clock: Clock) -> Job:
    """Return the job that ends the rows of histories."""

    async def run() -> bool:
        return await retention.run(clock.now())

    async def due() -> bool:
        return True

    return Job(topic, run, due, every=PURGE_SECONDS)


def make_partitions(topic: str, histories: Iterable[Partitions]) -> Job:
    """Return the job that makes the partitions of histories ahead of need, and warns where they are short."""
    histories = tuple(histories)

    async def run() -> bool:
        for each in histories:
            if (left := await each.make()) < each.size:
                log.warning("partitions_short", table=each.history.tables[0], ids_left=left)
        return False

    async def due() -> bool:
        return any([await each.count_left() < each.ahead for each in histories])

    return Job(topic, run, due, every=PARTITIONS_SECONDS)


def watch_connections(topic: str, database: Database, clock: Clock) -> Job:
    """Return the job that raises and withdraws the alerts of connections, and logs each once."""

    async def run() -> bool:
        now, pool = clock.now(), database.pool
        for change in await alerts.update(pool, now, await backlog.find_waiting(pool, now)):
            facts = {"connection": change.key, "alert": change.kind, "since": change.since.isoformat()}
            if change.is_raised:
                log.warning("carrier_alert_raised", **facts)
            else:
                log.info("carrier_alert_withdrawn", **facts)
        return False

    async def due() -> bool:
        return True

    return Job(topic, run, due, every=ALERT_SECONDS)


def sweep(
    topic: str,
    find_accounts: str,
    verb: Callable[[UnitOfWork], Awaitable[int]],
    database: Database,
    clock: Clock,
    notify: Notify,
) -> Job:
    """Return the job that runs a function for each account that a statement finds due at `$1`.

    The function returns the number of its changes. An account for which it fails is logged and does not delay the
    others.
    """

    async def run_in_one(open_one: OpenUnit) -> int:
        async with open_one() as unit:
            return await verb(unit)

    return sweep_in_parts(topic, find_accounts, run_in_one, database, clock, notify)


def sweep_in_parts(
    topic: str,
    find_accounts: str,
    verb: Callable[[OpenUnit], Awaitable[int]],
    database: Database,
    clock: Clock,
    notify: Notify,
) -> Job:
    """Return the job that runs a function as `sweep` does; the function opens its units of work itself."""

    async def run() -> bool:
        done = 0
        for row in await database.pool.fetch(find_accounts, clock.now()):
            try:
                done += await verb(partial(open_unit, database.sessions, Actor(row[0], frozenset()), clock, notify))
            except Exception:
                log.exception("sweep_failed", topic=topic, account_id=row[0])
        return done > 0

    async def due() -> bool:
        return bool(await database.pool.fetch(find_accounts, clock.now()))

    return Job(topic, run, due, every=SWEEP_SECONDS)
