"""Data folders, and processes that use them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app.embedded.servers import Servers

PROJECT = Path(__file__).parents[2]

Start = Callable[..., Servers]
"""Has the parameters of `Servers.start`."""

Launch = Callable[..., subprocess.Popen[str]]
"""Starts a module of this folder with arguments; keyword arguments extend the environment."""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a data folder that was used once and is not in use."""
    folder = tmp_path_factory.mktemp("embedded") / "data"
    Servers.start(folder).stop()
    return folder


@pytest.fixture
def start() -> Iterator[Start]:
    """Start servers that are stopped at the end of the test."""
    with ExitStack() as stack:

        def start(folder: Path, **options: Any) -> Servers:
            servers = Servers.start(folder, **options)
            stack.callback(servers.stop)
            return servers

        yield start


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start modules as processes that are killed at the end of the test."""
    with ExitStack() as stack:

        def start(module: str, *arguments: object, **env: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", f"tests.embedded.{module}", *map(str, arguments)],
                cwd=PROJECT,
                env={**os.environ, **{name: str(value) for name, value in env.items()}},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start
