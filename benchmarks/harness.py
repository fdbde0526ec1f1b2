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
from typing import Self, cast

import asyncpg
import psutil
from redis import Redis

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
                    "PORT": free_port(),
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
        return cpu_seconds_of(server, with_ended=True) + sum(map(cpu_seconds_of, server.children()))

    def valkey_cpu_seconds(self) -> float:
        """Return the CPU time of Valkey."""
        with Redis.from_url(self.servers.redis_url) as client:
            told = cast("dict[str, int]", client.info("server"))
        return cpu_seconds_of(psutil.Process(told["process_id"]))

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
        return cpu_seconds_of(psutil.Process(self.pid))


def cpu_seconds_of(process: psutil.Process, *, with_ended: bool = False) -> float:
    """Return the CPU time of a process, also with that of its children that ended; 0 for one that has ended."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    ended = times.children_user + times.children_system if with_ended else 0.0
    return times.user + times.system + ended


@contextmanager
def product(settings: Settings, **others: str) -> Generator[Process]:
    """Run the product's web process as `messaging serve` does, with `others` in its environment, without a worker."""
    limits = {"MESSAGING_RATE_LIMIT": "1000000", "MESSAGING_SEND_RATE_LIMIT": "1000000"}  # requests are counted only
    with running(_module("app", "web"), settings, {**_environment(settings), **limits, **others}) as process:
        wait_until_ready(process, settings.port)
        yield Process(settings.port, process.pid)


@contextmanager
def worker(settings: Settings, **others: str) -> Generator[Process]:
    """Run the product's worker process; a text that is handed off shows that it has started."""
    with running(_module("app", "worker"), settings, {**_environment(settings), **others}) as process:
        yield Process(0, process.pid)


def _environment(settings: Settings) -> dict[str, str]:
    assert settings.secret_key
    figures = settings.data / "metrics"
    figures.mkdir(exist_ok=True)
    return {
        "PORT": str(settings.port),
        "MESSAGING_DATA": str(settings.data),
        "MESSAGING_ENVIRONMENT": settings.environment,
        "MESSAGING_SECRET_KEY": settings.secret_key.get_secret_value(),
        "PROMETHEUS_MULTIPROC_DIR": str(figures),
    }


@contextmanager
def floor(module: str, settings: Settings) -> Generator[Process]:
    """Run `python -m MODULE POOL` on its own port, with the product's database and the same number of connections."""
    port = free_port()
    with running(_module(module, str(settings.database_pool)), settings, {"PORT": str(port)}) as process:
        wait_until_ready(process, port)
        yield Process(port, process.pid)


def _module(*arguments: str) -> list[str]:
    return [sys.executable, "-m", *arguments]


@contextmanager
def running(command: Sequence[str], settings: Settings, env: Mapping[str, str]) -> Generator[subprocess.Popen[bytes]]:
    """Run a command with the addresses of the servers in its environment; end it afterwards."""
    process = spawn(
        [*command],
        signal.SIGTERM,
        cwd=settings.data,
        env={
            **foreign_environment(),
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": settings.database_url or "",
            "REDIS_URL": settings.redis_url or "",
            **env,
        },
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def foreign_environment() -> dict[str, str]:
    """Return the environment without settings of the service, so that the defaults are measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MESSAGING_")}


def wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a process listens on its port; raise `NotReady`."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if is_listening(port):
            return
        time.sleep(0.05)
    raise NotReady(f"{process.args} does not listen on port {port}.")


def is_listening(port: int) -> bool:
    """Tell whether a process listens on a port."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def free_port() -> int:
    """Return a port on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
