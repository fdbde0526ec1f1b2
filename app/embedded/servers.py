"""PostgreSQL and Valkey of one data folder."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from app.embedded import postgres, valkey
from app.embedded.accounts import account_for
from app.embedded.children import Supervised
from app.embedded.errors import EmbeddedError
from app.embedded.locks import lock_data, lock_servers
from app.embedded.server import Server, Site, stop
from app.embedded.sockets import socket_folder


class Servers:
    """The running servers of one data folder, at `database_url` and `redis_url`."""

    def __init__(self, database_url: str, redis_url: str, running: Sequence[Server], closing: ExitStack) -> None:
        self.database_url = database_url
        self.redis_url = redis_url
        self._running = running
        self._closing = closing

    @classmethod
    def start(
        cls,
        data: Path,
        *,
        durable: bool = True,
        database_url: str | None = None,
        redis_url: str | None = None,
    ) -> Self:
        """Start the servers without a given URL, and wait until they accept connections.

        Call it from the main thread: when that ends, even by `kill -9`, the servers stop. With `durable=False` a crash
        of the machine may lose data: for tests only. Raises `EmbeddedError`.
        """
        try:
            with ExitStack() as stack:
                site = _claim(data.absolute(), durable, stack)
                running: list[Server] = []
                stack.callback(stop, running)
                if redis_url is None:
                    running.append(_start(valkey.prepare(site)))
                    redis_url = running[-1].url
                if database_url is None:
                    running.append(_start(postgres.prepare(site)))
                    database_url = running[-1].url
                for server in running:
                    server.wait_until_ready()
                return cls(database_url, redis_url, running, stack.pop_all())
        except OSError as problem:
            raise EmbeddedError(f"The data folder {data} cannot be used: {problem}") from problem

    def supervised(self) -> Sequence[Supervised]:
        """Return the servers as processes that are started again when they end."""
        return [Supervised(server.name, server.start, server.process) for server in self._running]

    def stop(self) -> None:
        """Stop the servers and release the data folder; a second call does nothing."""
        self._closing.close()


def _start(server: Server) -> Server:
    server.start()
    return server


def _claim(data: Path, durable: bool, stack: ExitStack) -> Site:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    stack.callback(os.close, lock_data(data))
    inherited = lock_servers(data)
    stack.callback(os.close, inherited)
    account = account_for(data)
    return Site(data, stack.enter_context(socket_folder(account)), account, inherited, durable)
