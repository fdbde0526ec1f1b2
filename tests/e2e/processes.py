"""The service as users run it: real processes, their output and their end."""

import itertools
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TypeVar

import httpx2
import psutil

from tests.e2e.commands import Run, begin
from tests.waiting import block_until

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
"""The timeout of expected events; busy machines are slow."""


@cache
def _ports() -> Iterator[int]:
    """Count ports below the ephemeral ports of systems (32768, RFC 6335's 49152), different in each test process."""
    return itertools.count(10_000 + 2_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 20_000)


def free_port() -> int:
    """Return a free port that no client or other test process uses before the caller."""
    return next(port for port in _ports() if is_free(port))


def is_free(port: int) -> bool:
    """Return whether no program listens on a port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def until(get: Callable[[], T], every: float = 0.05) -> T:
    """Evaluate a condition until it is true; return its value."""
    return block_until(get, PATIENCE_SECONDS, every)


def environment(folder: Path, **settings: object) -> dict[str, str]:
    """Return an environment with only the variables that find programs."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    return plain | {name: str(value) for name, value in settings.items()}


class Process:
    """A running `messaging …`; `output` is its output so far."""

    def __init__(
        self, folder: Path, arguments: tuple[str, ...], env: Mapping[str, str], run: Run | None = None
    ) -> None:
        self._log = folder / f"{arguments[0]}-{time.monotonic_ns()}.log"
        self._log.touch()
        self._process = begin(arguments, folder, env, self._log, self._log, run)
        assert self._process.pid
        self.pid = self._process.pid

    @property
    def output(self) -> str:
        return self._log.read_text()

    def is_running(self) -> bool:
        return self._process.is_alive()

    def family(self) -> list[psutil.Process]:
        """Return the process and its descendants."""
        parent = psutil.Process(self.pid)
        return [parent, *parent.children(recursive=True)]

    def kill(self) -> None:
        """Kill the process, as the system does when memory runs out."""
        self._process.kill()
        self._process.join()

    def stop(self) -> int:
        """Send SIGTERM to the process; return its exit code."""
        self._process.terminate()
        return self.wait()

    def wait(self) -> int:
        """Wait for the process to end; return its exit code."""
        self._process.join(PATIENCE_SECONDS)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def end(self) -> None:
        """Kill the process and its descendants."""
        self._process.terminate()
        self._process.join(15)
        if self.is_running():
            self.kill()


@contextmanager
def starting(folder: Path, run: Run | None = None) -> Iterator[Callable[..., Process]]:
    """Yield a function that starts `messaging` in a folder, by `run`; at the end stop what still runs."""
    with ExitStack() as stack:

        def start(*arguments: str, **settings: object) -> Process:
            process = Process(folder, arguments, environment(folder, **settings), run)
            stack.callback(process.end)
            return process

        yield start


def is_ready(url: str, trusted: ssl.SSLContext | bool = True) -> bool:
    """Return whether a service answers and reaches its databases; `trusted` verifies its certificate."""
    try:
        return httpx2.get(f"{url}/readyz", timeout=5, verify=trusted).status_code == 200
    except httpx2.TransportError:
        return False


def await_ready(url: str, *processes: Process) -> None:
    """Wait until a service is ready; fail with its output when it ends instead."""

    def ready() -> bool:
        answers = is_ready(url)
        for process in processes:
            assert process.is_running(), process.output
        return answers

    until(ready)


def exports(output: str) -> dict[str, str]:
    """Return the variables of the lines `export NAME=value`, as a shell would set them."""
    lines = re.findall(r"^ *export (\w+)=(\S+)$", output, re.M)
    return {name: value.replace('"$PATH"', os.environ["PATH"]) for name, value in lines}


@dataclass(frozen=True)
class Example:
    """A block of shell commands of a page, unchanged, and the word after `sh` in its first line."""

    mark: str
    commands: str


def examples(page: str) -> list[Example]:
    """Return the blocks of shell commands of a page."""
    found = re.findall(r"^( *)```sh *(\w*)\n(.*?)^\1```", page, re.M | re.S)
    return [Example(mark, dedent(commands)) for _, mark, commands in found]


def sections(readme: str, heading: str) -> list[str]:
    """Return the code blocks under a heading, unchanged."""
    return [each.commands for each in examples(readme.split(f"## {heading}\n")[1].split("\n## ")[0])]
