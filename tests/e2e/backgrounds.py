"""Commands that run until they are stopped, and examples that one process of the machine runs at a time."""

import fcntl
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.processes import PATIENCE_SECONDS, until


@contextmanager
def running(shell: str, commands: str, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Run commands in a terminal of their own; yield what they have printed first, and stop them at the end."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(
            [shell, "-e", "-c", commands],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

        def output() -> str:
            assert process.poll() is None, os.pread(printed.fileno(), 4096, 0)
            return os.pread(printed.fileno(), 4096, 0).decode()

        try:
            yield until(output)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_SECONDS)


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Wait until no other process of the machine is in a block of this name: its examples use a fixed port."""
    with (Path(tempfile.gettempdir()) / f"messaging-tests-{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
