"""An idle installation: the CPU time of all processes of `messaging serve`, and the delay of a text sent into it.

The CPU time is read for a minute in each round. The delay is the time from the acceptance of a text until the sandbox
has it; the texts are a second apart.
"""

import asyncio
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import asyncpg
import orjson
import psutil

from app.embedded.processes import spawn
from benchmarks import harness
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import PATIENCE, ROOT, NotReady, Stage

SETTLING_SECONDS, SECONDS = 10.0, 60.0
TEXTS, APART = 20, 1.0
CORE_PERCENT, DELAY_MS = 1.0, 50.0

FIND_WAITS = """
SELECT extract(epoch FROM s.received_at - m.created_at)::float8 FROM messages m
JOIN sandbox_messages s ON s.reference = m.id WHERE m.id = ANY($1::bigint[])
"""

_find_key = re.compile(r"export KEY=(\S+)").search


@dataclass(frozen=True, slots=True)
class Installation:
    """A running `messaging serve`, with the key that it printed."""

    process: psutil.Process
    port: int
    key: str
    database_url: str

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time by program; that of processes that ended is counted for their parent."""
        found: defaultdict[str, float] = defaultdict(float)
        for each in (self.process, *self.process.children(recursive=True)):
            found[_name(each)] += harness.cpu_seconds_of(each, with_ended=True)
        return found

    async def idle(self) -> dict[str, float]:
        """Return the percentage of a core that each program takes."""
        before = self.cpu_seconds()
        await asyncio.sleep(SECONDS)
        after = self.cpu_seconds()
        return {name: 100 * (used - before[name]) / SECONDS for name, used in after.items()}

    async def delays(self) -> list[float]:
        """Send texts, and return the milliseconds after which the carrier had each."""
        ids: list[int] = []
        for number in range(TEXTS):
            await asyncio.sleep(APART)
            ids.append(await asyncio.to_thread(self._send, f"+1202555{number:04}"))
        await asyncio.sleep(APART)
        connection = await asyncpg.connect(self.database_url)
        rows = await connection.fetch(FIND_WAITS, ids)
        await connection.close()
        assert len(rows) == TEXTS, "a text was not handed off"
        return [1000 * row[0] for row in rows]

    def _send(self, phone: str) -> int:
        body = orjson.dumps({"to": phone, "message": "Your code is 4711.", "consent_attested": True})
        headers = {"Content-Type": "application/json", "X-API-Key": self.key}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/sms/send", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return int(orjson.loads(answer.read())["data"]["message_id"])


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Measure an installation of its own, apart from the servers of the stage."""
    async with _serving() as installation:
        await installation.delays()
        used: list[dict[str, float]] = []
        delays: list[float] = []
        for _ in range(rounds):
            await asyncio.sleep(SETTLING_SECONDS)
            used.append(await installation.idle())
            delays.append(quantiles(await installation.delays(), n=20)[-1])
    total = Series("all processes", [sum(each.values()) for each in used])
    core, goal = Series("goal", [CORE_PERCENT] * rounds), Series("goal", [DELAY_MS] * rounds)
    return [
        Comparison("idle: CPU", "% of a core", total, core, Bar(1, is_most=True)),
        *(
            Comparison(f"idle: CPU of {name}", "% of a core", Series(name, [each[name] for each in used]), total)
            for name in used[0]
        ),
        Comparison("idle: acceptance to carrier", "ms", Series("p95", delays), goal, Bar(1, is_most=True)),
    ]


@asynccontextmanager
async def _serving() -> AsyncGenerator[Installation]:
    with tempfile.TemporaryDirectory(prefix="benchmarks-of-messaging-") as data:
        port = harness.free_port()
        env = {**harness.foreign_environment(), "PYTHONPATH": str(ROOT), "MESSAGING_DATA": data, "PORT": str(port)}
        printed = Path(data) / "printed"
        with printed.open("wb") as output:
            process = spawn([sys.executable, "-m", "app", "serve"], signal.SIGTERM, cwd=data, env=env, stdout=output)
        try:
            key = await _wait_for_key(process, printed, port)
            url = orjson.loads((Path(data) / "running.json").read_bytes())["database_url"]
            yield Installation(psutil.Process(process.pid), port, key, url)
        finally:
            process.terminate()
            process.wait()


async def _wait_for_key(process: subprocess.Popen[bytes], printed: Path, port: int) -> str:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        if (key := _read_key(printed)) and harness.is_listening(port):
            return key
    raise NotReady("`messaging serve` did not start.")


def _read_key(printed: Path) -> str | None:
    found = _find_key(printed.read_text())
    return found[1] if found else None


def _name(process: psutil.Process) -> str:
    """Return the program of a process: its role, or its server."""
    words: Sequence[str] = process.cmdline()
    if "app" in words:
        return words[words.index("app") + 1]
    return "Valkey" if "valkey" in words[0] else "PostgreSQL"
