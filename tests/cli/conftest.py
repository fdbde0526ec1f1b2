"""The command line, run in the test process, on the test's databases."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from app import gc
from app.cli import main
from app.settings import Settings
from tests.conftest import SECRET
from tests.factories.traps import OBSERVER
from tests.shared import EMPTY


@dataclass(frozen=True)
class Done:
    """The result of a command: its exit code and output."""

    code: int
    output: str
    complaint: str


Run = Callable[..., Done]
Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Provide a function that runs `messaging …` in an empty folder and environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("pause", "keep"):
        monkeypatch.setattr(gc, name, lambda: None)  # this process continues
    for name in ("DATABASE_URL", "REDIS_URL", "PORT"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object, **settings: object) -> Done:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["messaging", *map(str, arguments)])
            for name, value in settings.items():
                patch.setenv(name, str(value))
            with pytest.raises(SystemExit) as ended:
                main()
        code = ended.value.code
        written = capsys.readouterr()
        if isinstance(code, str):  # the interpreter prints it to standard error, and exits with 1
            return Done(1, written.out, f"{written.err}{code}\n")
        return Done(code or 0, written.out, written.err)

    return run


@pytest.fixture(scope="session")
def fetch(database_url: str) -> Iterator[Ask]:
    """Provide a function that queries the tables by one connection: a new one plans the deletions anew, in 30 ms.

    Its application name keeps it from the tests that end the connections of the service.
    """
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(database_url, server_settings={"application_name": OBSERVER}))
        yield lambda sql: [tuple(row) for row in runner.run(connection.fetch(sql))]
        connection.terminate()  # the server may have ended before


@pytest.fixture
def ask(fetch: Ask) -> Iterator[Ask]:
    """Provide a function that queries the tables, which are emptied at the end."""
    yield fetch
    fetch(EMPTY)


@pytest.fixture
def messaging(run: Run, settings: Settings) -> Run:
    """Provide a function that runs a command on the tables of the test."""
    addresses = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url, "MESSAGING_SECRET_KEY": SECRET}

    def messaging(*arguments: object, **more: object) -> Done:
        return run(*arguments, **addresses, **more)

    return messaging
