"""From the request to the report of delivery: all processes running, compared with the acceptance of sends alone.

The worker posts the sandbox's callbacks. A round ends when every text is delivered and every event is dispatched. The
CPU time of a text is shown for each process; the load generator shares the machine.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg

from benchmarks import harness, load, send
from benchmarks.figures import Comparison, Series
from benchmarks.harness import Process, Stage

SECONDS = 2.0
ACCOUNTS = 100
DELAY = {"MESSAGING_SANDBOX_DELAY_SECONDS": "0.05"}
BUDGET_US = 650.0
PATIENCE = 120.0

IS_OPEN = """
SELECT EXISTS (SELECT FROM outgoing) OR EXISTS (SELECT FROM sandbox_callbacks) OR EXISTS (SELECT FROM outbox)
"""
COUNT_DELIVERED = "SELECT count(*) FROM messages WHERE status = 'delivered'"


@dataclass(slots=True)
class Figures:
    """The results of the rounds: texts per second, and the CPU time of a text in microseconds by process."""

    rates: list[float] = field(default_factory=list)
    cpu: dict[str, list[float]] = field(default_factory=dict)

    def note(self, texts: int, seconds: float, cpu: Mapping[str, float]) -> None:
        """Add a round."""
        self.rates.append(texts / seconds)
        for name, used in cpu.items():
            self.cpu.setdefault(name, []).append(1e6 * used / texts)


@dataclass(frozen=True, slots=True)
class Course:
    """The processes, and a connection to their database."""

    stage: Stage
    processes: Mapping[str, Process]
    connection: asyncpg.Connection

    async def run(self, requests: Sequence[bytes], into: Figures) -> None:
        """Send texts for some seconds, and wait until all are delivered."""
        delivered = await self.connection.fetchval(COUNT_DELIVERED) or 0
        before, begun = self._cpu_seconds(), time.perf_counter()
        result = await asyncio.to_thread(load.run, self.processes["web"].port, requests, SECONDS)
        await self.settle()
        seconds, after = time.perf_counter() - begun, self._cpu_seconds()
        into.note(result.total, seconds, {name: after[name] - used for name, used in before.items()})
        assert await self.connection.fetchval(COUNT_DELIVERED) == delivered + result.total

    async def settle(self) -> None:
        """Wait until no text, callback or event waits."""
        async with asyncio.timeout(PATIENCE):
            while await self.connection.fetchval(IS_OPEN):  # noqa: ASYNC110 - other processes do the work
                await asyncio.sleep(0.02)

    def _cpu_seconds(self) -> dict[str, float]:
        own = {name: process.cpu_seconds() for name, process in self.processes.items()}
        return {
            **own,
            "PostgreSQL": self.stage.database_cpu_seconds(),
            "Valkey": self.stage.valkey_cpu_seconds(),
        }


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Accept alone, then accept and deliver, in turns."""
    whole, alone = Figures(), Figures()
    async with on.database("pipeline") as settings, on.database("acceptance") as other:
        requests, others = await send.open_crowd(settings, ACCOUNTS), await send.open_crowd(other, ACCOUNTS)
        connection = await asyncpg.connect(settings.database_url)
        with (
            harness.product(other) as acceptor,
            harness.product(settings) as web,
            harness.worker(settings, **DELAY) as worker,
        ):
            course = Course(on, {"web": web, "worker": worker}, connection)
            for number in range(rounds + 1):
                accepted = await asyncio.to_thread(load.run, acceptor.port, others, SECONDS)
                await course.run(requests, whole if number else Figures())
                alone.rates += [accepted.rate] if number else []
        await connection.close()
    return [
        Comparison(
            "pipeline, request to delivered", "texts/s", Series("whole", whole.rates), Series("accepted", alone.rates)
        ),
        *_shares(whole, rounds),
    ]


def _shares(whole: Figures, rounds: int) -> list[Comparison]:
    """Return the CPU time of a text: in all processes against the budget, and in each against all."""
    total = Series("all processes", [sum(parts) for parts in zip(*whole.cpu.values(), strict=True)])
    budget = Series("budget", [BUDGET_US] * rounds)
    return [
        Comparison("pipeline: CPU", "us/text", total, budget),
        *(
            Comparison(f"pipeline: CPU of {name}", "us/text", Series(name, used), total)
            for name, used in whole.cpu.items()
        ),
    ]
