"""Dispatch of events, in process: its rate during the cancellation of 300,000 deliveries, and the CPU time of an event.

Each event becomes a live update and one delivery, which is not posted.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

from app.bootstrap import open_dispatcher, open_services
from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.messages.events import MessageDelivered
from app.domain.webhooks import service
from app.domain.webhooks.leftovers import Leftovers
from app.services import Services
from benchmarks import accounts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

ACCOUNTS = 20
EVENTS = 10_000
DELIVERIES, OWN_EVENTS = 300_000, 100
"""The pending deliveries of the webhook that ends, and the waiting events of its account."""

BUDGET_US = 60.0

ADD_EVENTS = """
INSERT INTO events (account_id, name, contact_id, payload)
SELECT (ARRAY(SELECT unnest($1::bigint[])))[1 + n % cardinality($1::bigint[])], $2, n, $3::json
FROM generate_series(1, $4::int) AS n
"""
ADD_DELIVERIES = """
INSERT INTO webhook_deliveries (account_id, subscription_id, event, webhook_id, contact_id, body, next_attempt_at)
SELECT $1, $2, 'message_delivered', 'evt_' || n, n, '{}', now() + interval '1 day' FROM generate_series(1, $3::int) AS n
"""
COUNT = "SELECT count(*) FROM webhook_deliveries WHERE account_id = ANY($1::bigint[])"


@dataclass(frozen=True, slots=True)
class Course:
    """Accounts with one subscriber each, and the services that dispatch their events."""

    services: Services
    account_ids: Sequence[int]

    async def dispatch(self) -> tuple[float, float]:
        """Return the seconds that `EVENTS` events take, and the CPU seconds of this process and PostgreSQL."""
        pool = self.services.database.pool
        dispatcher = open_dispatcher(self.services)
        await pool.execute(ADD_EVENTS, self.account_ids, MessageDelivered.name, MessageDelivered.example, EVENTS)
        postgres = psutil.Process(await pool.fetchval("SELECT pg_backend_pid()")).parent()
        assert postgres
        before, begun = _cpu_seconds(postgres), time.perf_counter()
        while await dispatcher.run():
            pass
        taken, used = time.perf_counter() - begun, _cpu_seconds(postgres) - before
        assert await pool.fetchval(COUNT, self.account_ids) == EVENTS
        await pool.execute("DELETE FROM webhook_deliveries WHERE account_id = ANY($1::bigint[])", self.account_ids)
        return taken, used

    async def dispatch_beside(self, account_id: int) -> float:
        """Return the seconds that the events take while another account's webhook ends with 300,000 deliveries."""
        pool = self.services.database.pool
        async with self._unit(account_id) as unit:
            ending = await service.subscribe(unit, self.services.webhooks, MessageDelivered.name, "http://localhost/")
        await pool.execute(ADD_DELIVERIES, account_id, ending.id, DELIVERIES)
        await pool.execute(ADD_EVENTS, [account_id], MessageDelivered.name, MessageDelivered.example, OWN_EVENTS)
        canceling = asyncio.create_task(self._end(account_id, ending.id))
        taken, _ = await self.dispatch()
        await canceling
        await pool.execute("DELETE FROM webhook_deliveries WHERE account_id = $1", account_id)
        return taken

    async def subscribe_all(self) -> None:
        """Subscribe one endpoint for each account."""
        for account_id in self.account_ids:
            async with self._unit(account_id) as unit:
                await service.subscribe(unit, self.services.webhooks, MessageDelivered.name, "http://localhost/")

    async def _end(self, account_id: int, subscription_id: int) -> None:
        async with self._unit(account_id) as unit:
            await service.unsubscribe(unit, subscription_id)
        while await Leftovers(self.services.database).run():
            pass

    @asynccontextmanager
    async def _unit(self, account_id: int) -> AsyncGenerator[UnitOfWork]:
        actor = Actor(account_id, ALL, "benchmark")
        async with open_unit(self.services.database.sessions, actor, self.services.clock, self.services.notify) as unit:
            yield unit


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Dispatch the same number of events alone and during another account's cancellation, in turns."""
    async with on.database("dispatch") as settings, open_services(settings) as services:
        opened = await accounts.open_accounts(settings, ACCOUNTS + 1)
        *account_ids, other = (account.id for account in opened)
        course = Course(services, account_ids)
        await course.subscribe_all()
        await course.dispatch()
        alone, beside = list[tuple[float, float]](), list[float]()
        for _ in range(rounds):
            alone.append(await course.dispatch())
            beside.append(await course.dispatch_beside(other))
    seconds = Series("alone", [taken for taken, _ in alone])
    used = Series("product", [1e6 * cpu / EVENTS for _, cpu in alone])
    return [
        Comparison("dispatch: beside a cancellation", "s", Series("beside", beside), seconds, Bar(1.5, is_most=True)),
        Comparison("dispatch: CPU", "us/event", used, Series("budget", [BUDGET_US] * rounds)),
    ]


def _cpu_seconds(postgres: psutil.Process) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in [psutil.Process(), *postgres.children()])
