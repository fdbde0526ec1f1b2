"""A whole installation, as `messaging serve` runs it, used while its processes are killed one after another."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import orjson
import psutil

from tests.chaos.storm import PACE, REPORT_NOW, SCRIPTED, UNSETTLED
from tests.e2e.processes import Process, await_ready, exports, free_port, starting
from tests.e2e.processes import until as block_until
from tests.factories.billing import audit
from tests.waiting import until

VICTIMS = ("serve", "web", "worker", "postgres", "backend", "valkey")
"""The processes that are killed: the parent, its children, its databases, and one connection's process."""

CLIENTS = 6
CREDITS = 200_000
PATIENCE_SECONDS, LONGEST_SECONDS = 120, 1800
ACTION = "/automation/actions/send-sms"
BROKEN = (httpx2.TransportError, AttributeError)
"""A connection that breaks; AnyIO raises the second for one that breaks while it opens."""

REPEATED = (409, 429, 503)
"""The answers after which a client repeats its request with the same key."""

MESSAGES = """
SELECT m.id, m.status, m.body, coalesce(s.calls, 0) AS calls FROM messages m
LEFT JOIN sandbox_messages s ON s.reference = m.id WHERE m.direction = 'outbound'
"""


@dataclass
class Installation:
    """A running service, the answers that its clients got, and the seconds that it needed after each kill."""

    folder: Path
    port: int
    start: Callable[..., Process]
    chance: random.Random
    process: Process = field(init=False)
    key: str = ""
    answers: dict[str, int] = field(default_factory=dict)
    refused: Counter[int] = field(default_factory=Counter)
    outages: list[tuple[float, str]] = field(default_factory=list)
    is_over: bool = False

    @property
    def url(self) -> str:
        """Return the address of the service."""
        return f"http://127.0.0.1:{self.port}"

    def run(self) -> None:
        """Start the service; a supervisor of the system would do so after it has ended."""
        data = self.folder / "data"
        self.process = self.start("serve", PORT=self.port, MESSAGING_DATA=data, **PACE)

    def database_url(self) -> str:
        """Return the address of the database of the running service."""
        return orjson.loads((self.folder / "data" / "running.json").read_bytes())["database_url"]

    async def use(self) -> None:
        """Send texts until the last kill, half of them by the action that waits for the carrier."""
        async with httpx2.AsyncClient(base_url=self.url, headers={"X-API-Key": self.key}, timeout=15) as api:
            await asyncio.gather(*(self._send(api, is_action=bool(client % 2)) for client in range(CLIENTS)))

    async def _send(self, api: httpx2.AsyncClient, *, is_action: bool) -> None:
        async def is_over() -> bool:
            name = uuid4().hex
            ordinary = f"+1202555{self.chance.randrange(10_000):04d}"
            to = self.chance.choice(SCRIPTED) if self.chance.random() < 0.05 else ordinary
            body: dict[str, Any] = {"to": to, "message": f"Text {name}"}
            path = ACTION if is_action else "/sms/send"
            await self._post(api, path, body if is_action else body | {"consent_attested": True}, name)
            return self.is_over

        await until(is_over, LONGEST_SECONDS, every=0.05)

    async def _post(self, api: httpx2.AsyncClient, path: str, body: dict[str, Any], name: str) -> None:
        """Send a text as clients do: repeated with the same key while there is no answer."""

        async def is_answered() -> bool:
            with suppress(*BROKEN):
                answer = await api.post(path, json=body, headers={"Idempotency-Key": name})
                if answer.status_code not in REPEATED:
                    self._note(name, answer)
                    return True
            return False

        await until(is_answered, PATIENCE_SECONDS, every=0.1)

    def _note(self, name: str, answer: httpx2.Response) -> None:
        if answer.status_code == 200:
            self.answers[name] = int(answer.json()["data"]["message_id"])
        else:
            assert answer.status_code in (422, 504), answer.text
            self.refused[answer.status_code] += 1

    async def kill(self, rounds: int) -> None:
        """Kill one process in each round, and measure the time until a text is handed off again."""
        for number in range(rounds):
            await asyncio.sleep(self.chance.uniform(0.2, 2))
            victim = VICTIMS[number % len(VICTIMS)]
            begun = time.monotonic()
            await asyncio.to_thread(self._kill, victim)
            await self._go_on()
            self.outages.append((time.monotonic() - begun, victim))
        self.is_over = True

    def _kill(self, victim: str) -> None:
        pid = self.process.pid if victim == "serve" else self._find(victim)
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
        if victim == "serve":
            self.process.wait()

    def _find(self, victim: str) -> int:
        family = self.process.family()[1:]
        if victim in ("web", "worker"):
            return next(each.pid for each in family if each.name() == victim)
        name = "valkey" if victim == "valkey" else "postgres"
        server = next(each for each in family if name in each.name() and each.parent() == family[0].parent())
        return server.pid if victim != "backend" else self.chance.choice(server.children()).pid

    async def _go_on(self) -> None:
        """Start the service again if it has ended; return once a new text has been handed off."""
        async with httpx2.AsyncClient(base_url=self.url, headers={"X-API-Key": self.key}, timeout=5) as api:
            name = uuid4().hex
            body = {"to": "+12025550199", "message": f"Text {name}"}

            async def is_handed_over() -> bool:
                if not self.process.is_running():
                    self.run()
                with suppress(*BROKEN):
                    answer = await api.post(ACTION, json=body, headers={"Idempotency-Key": name})
                    if answer.status_code == 200:
                        self._note(name, answer)
                return name in self.answers

            await until(is_handed_over, PATIENCE_SECONDS, every=0.05)

    async def check(self) -> None:
        """Fail unless each text exists once, was handed off once, is final, and was debited or refunded once."""
        connection = await asyncpg.connect(self.database_url())
        try:
            await connection.execute(REPORT_NOW)

            async def is_settled() -> bool:
                return not await connection.fetchval(UNSETTLED)

            await until(is_settled, PATIENCE_SECONDS, every=0.2)
            rows = await connection.fetch(MESSAGES)
            await audit(connection)
        finally:
            await connection.close()
        by_id = {row["id"]: row for row in rows}
        assert {row["status"] for row in rows} <= {"delivered", "failed"}
        assert max(row["calls"] for row in rows) == 1
        assert max(Counter(row["body"] for row in rows).values()) == 1
        assert all(by_id[id]["body"] == f"Text {name}" for name, id in self.answers.items())
        assert len(rows) == len(self.answers) + self.refused.total()


@asynccontextmanager
async def installation(folder: Path, seed: int) -> AsyncGenerator[Installation]:
    """Start a service with a demo account that has credits for every text."""
    with starting(folder) as start:
        service = Installation(folder, free_port(), start, random.Random(seed))
        service.run()
        await asyncio.to_thread(await_ready, service.url, service.process)
        welcome = await asyncio.to_thread(
            lambda: block_until(lambda: service.process.output if "export KEY" in service.process.output else "")
        )
        service.key = exports(welcome)["KEY"]
        connection = await asyncpg.connect(service.database_url())
        await connection.execute(GIVE, CREDITS)
        await connection.close()
        yield service


GIVE = """
WITH given AS (UPDATE accounts SET balance = balance + $1 RETURNING id, balance)
INSERT INTO ledger_entries (account_id, type, amount, balance_after, description, actor)
SELECT id, 'credit', $1, balance, '', 'test' FROM given
"""
