"""Run `messaging …` as a process of its own, forked from one that has loaded the service already."""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

COMMAND = Path(sys.executable).with_name("messaging")

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.e2e.preloaded"])


def begin(arguments: tuple[str, ...], folder: Path, env: Mapping[str, str], output: Path, errors: Path) -> BaseProcess:
    """Start a command in `folder`, which writes its output and its errors to files."""
    process = _forks.Process(target=_run, args=(arguments, folder, dict(env), output, errors), daemon=True)
    process.start()
    return process


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it wrote."""

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


def _run(arguments: tuple[str, ...], folder: Path, env: dict[str, str], output: Path, errors: Path) -> None:
    os.setsid()
    os.chdir(folder)
    for number, path in ((1, output), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.argv = [str(COMMAND), *arguments]
    if arguments[0] == "serve":  # loads little itself; its web and worker are commands of their own
        os.execve(COMMAND, sys.argv, env)
    os.environ.clear()
    os.environ.update(env)
    from app.cli import main

    main()
