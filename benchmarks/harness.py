"""Environment of the benchmarks: embedded servers, a database for each program, and processes on their own ports."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import asyncpg
import psutil

from app.bootstrap import METADATA
from app.db import migrate
from app.embedded.processes import spawn
from app.embedded.servers import Servers
from app.settings import Settings

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0


class NotReady(Exception):
    """A measured process did not start."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The servers, with a migrated empty database as the template of the others."""

    folder: Path
    servers: Servers

    @classmethod
    async def prepare(cls, folder: Path, servers: Servers) -> Self:
        """Migrate the template."""
        await migrate.upgrade(servers.database_url, METADATA)
        return cls(folder, servers)

    @asynccontextmanager
    async def database(self, name: str) -> AsyncGenerator[Settings]:
        """Create a database and yield its settings, with the defaults for all others; drop it at the end."""
        data = self.folder / name
        data.mkdir()
        await self._administer(f"CREATE DATABASE {name} TEMPLATE messaging")
        try:
            yield Settings.model_validate(
                {
                    "_env_file": None,
                    "DATABASE_URL": self._address(name),
                    "REDIS_URL": self.servers.redis_url,
                    "PORT": _free_port(),
                    "environment": "development",
                    "secret_key": secrets.token_hex(),
                    "data": data,
                }
            )
        finally:
            await self._administer(f"DROP DATABASE {name} WITH (FORCE)")

    def database_cpu_seconds(self) -> float:
        """Return the CPU time of all PostgreSQL processes."""
        server = psutil.Process(int((self.folder / "postgres" / "postmaster.pid").read_text().split()[0]))
        own = server.cpu_times()
        ended = own.children_user + own.children_system
        return _cpu_seconds(server) + ended + sum(map(_cpu_seconds, server.children()))

    async def _administer(self, statement: str) -> None:
        connection = await asyncpg.connect(self._address("postgres"))
        await connection.execute(statement)
        await connection.close()

    def _address(self, name: str) -> str:
        return self.servers.database_url.replace("/messaging?", f"/{name}?")


@dataclass(frozen=True, slots=True)
class Process:
    """A measured server."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """Return its CPU time."""
        return _cpu_seconds(psutil.Process(self.pid))


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


@contextmanager
def product(settings: Settings, **others: str) -> Generator[Process]:
    """Run the product's web process as `messaging serve` does, with `others` in its environment, without a worker."""
    assert settings.secret_key
    figures = settings.data / "metrics"
    figures.mkdir()
    env = {
        "PORT": str(settings.port),
        "MESSAGING_DATA": str(settings.data),
        "MESSAGING_ENVIRONMENT": settings.environment,
        "MESSAGING_SECRET_KEY": settings.secret_key.get_secret_value(),
        "MESSAGING_RATE_LIMIT": "1000000",  # requests are counted and never refused
        "MESSAGING_SEND_RATE_LIMIT": "1000000",
        "PROMETHEUS_MULTIPROC_DIR": str(figures),
        **others,
    }
    with _running(["app", "web"], settings, env) as process:
        yield process


@contextmanager
def floor(module: str, settings: Settings) -> Generator[Process]:
    """Run `python -m MODULE POOL` on its own port, with the product's database and the same number of connections."""
    with _running([module, str(settings.database_pool)], settings, {"PORT": str(_free_port())}) as process:
        yield process


@contextmanager
def _running(arguments: Sequence[str], settings: Settings, env: Mapping[str, str]) -> Generator[Process]:
    process = spawn(
        [sys.executable, "-m", *arguments],
        signal.SIGTERM,
        cwd=settings.data,
        env={
            **_foreign_environment(),
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": settings.database_url or "",
            "REDIS_URL": settings.redis_url or "",
            **env,
        },
    )
    port = int(env["PORT"])
    try:
        _wait_until_ready(process, port)
        yield Process(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def _foreign_environment() -> dict[str, str]:
    """Return the environment without settings of the service, so that the defaults are measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MESSAGING_")}


def _wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise NotReady(f"{process.args} does not listen on port {port}.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
