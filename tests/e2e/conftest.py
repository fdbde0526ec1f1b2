"""One `messaging serve` for the tests of a process, with a new data folder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.processes import Process, await_ready, environment, exports, free_port, starting, until
from tests.e2e.terminals import terminal

Start = Callable[..., Process]


@dataclass
class Served:
    """A service on one machine, which can be restarted on the same data."""

    folder: Path
    port: int
    process: Process
    start: Start
    welcome: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def environment(self) -> dict[str, str]:
        """Return the environment of the second terminal, with the exports pasted."""
        return environment(self.folder, **{"MESSAGING_DATA": self.data} | exports(self.welcome))

    def again(self) -> None:
        """Start the service again."""
        self.process = self.start("serve", PORT=self.port, MESSAGING_DATA=self.data)
        await_ready(self.url, self.process)

    def ask(self, method: str, path: str, key: str, body: Any = None) -> Any:
        """Return the response of an endpoint."""
        answer = httpx2.request(method, f"{self.url}{path}", headers={"X-API-Key": key}, json=body, timeout=30)
        return answer.json()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start the service for the first time, in a folder where `.venv/bin/messaging` is the command."""
    folder = tmp_path_factory.mktemp("served")
    with terminal(folder), starting(folder) as start:
        port = free_port()
        served = Served(folder, port, start("serve", PORT=port, MESSAGING_DATA=folder / "data"), start)
        await_ready(served.url, served.process)
        served.welcome = until(lambda: served.process.output if "Paste the exports" in served.process.output else "")
        yield served
