"""Run `messaging …` as a process, forked from one that has already loaded the service."""

import multiprocessing
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.e2e.roles import fork_children

Run = Callable[[tuple[str, ...], Path, dict[str, str], Path, Path], None]
COMMAND = Path(sys.executable).with_name("messaging")

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.e2e.preloaded"])


def load_early() -> None:
    """Start the process from which commands are forked; the test processes that are copied after this share it."""
    forkserver.ensure_running()
    # A copy is not its parent, so waiting for it would fail.
    forkserver._forkserver.ensure_running = lambda: None


def begin(
    arguments: tuple[str, ...], folder: Path, env: Mapping[str, str], output: Path, errors: Path, run: Run | None = None
) -> BaseProcess:
    """Start a command in `folder`, which writes its output and its errors to files; `run` takes the same arguments."""
    target = run or run_command
    process = FORKS.Process(target=target, args=(arguments, folder, dict(env), output, errors), daemon=True)
    process.start()
    return process


@dataclass(frozen=True)
class Done:
    """The result of a command: its exit code and output."""

    returncode: int | None
    stdout: str
    stderr: str


def complete(arguments: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> Done:
    """Run a command to its end."""
    with tempfile.TemporaryDirectory() as written:
        output, errors = Path(written, "output"), Path(written, "errors")
        process = begin(arguments, folder, env, output, errors)
        process.join()
        return Done(process.exitcode, output.read_text(), errors.read_text())


def run_here(arguments: Sequence[str], folder: Path | str, env: Mapping[str, str]) -> int:
    """Run a command in this process, which was forked for it; return the exit code."""
    os.setsid()
    os.chdir(folder)
    sys.argv = [str(COMMAND), *arguments]
    os.environ.clear()
    os.environ.update(env)
    from app.cli import main

    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def run_command(arguments: tuple[str, ...], folder: Path, env: dict[str, str], output: Path, errors: Path) -> None:
    """Run a command in this process, which was forked for it; end with its exit code."""
    for number, path in ((1, output), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    fork_children(run_here)
    sys.exit(run_here(arguments, folder, env))
