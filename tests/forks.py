"""Test processes that start as copies of the first one, in which the application and the tests are loaded already."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from execnet import gateway_io
from execnet.gateway_base import Popen2IO
from hypothesis import strategies

from app import gc
from tests.e2e import commands


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Make the copies before xdist asks for its processes, and starts threads: to load all in each takes seconds."""
    if config.pluginmanager.hasplugin("_cov"):  # it follows what a process loads
        return
    _load(config)
    _draw()
    if "tests.e2e.processes" in sys.modules:
        commands.load_early()
    gc.settle()
    gc.pause()
    copies: list[Copy] = []
    for _ in specs:
        copies.append(Copy(copies))

    class Connection(gateway_io.Popen2IOMaster):
        """Takes the next copy; xdist replaces one that has crashed by a new process."""

        def __init__(self, args: list[str], execmodel: Any) -> None:
            if not copies:
                super().__init__(args, execmodel)
                return
            self.popen: Any = copies.pop(0)
            Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel)

    gateway_io.Popen2IOMaster = Connection


class Copy:
    """A forked process that runs the first line of its standard input, in place of `subprocess.Popen` of Python."""

    def __init__(self, earlier: "list[Copy]") -> None:
        reads, writes = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            ours = (reads[1], writes[0], *(pipe.fileno() for each in earlier for pipe in (each.stdin, each.stdout)))
            _serve(reads[0], writes[1], ours)
        os.close(reads[0])
        os.close(writes[1])
        self.stdin, self.stdout = os.fdopen(reads[1], "wb"), os.fdopen(writes[0], "rb")

    def wait(self) -> int:
        """Wait for the process to end, and return its exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self) -> None:
        """End the process at once."""
        os.kill(self.pid, signal.SIGKILL)


def _serve(reads: int, writes: int, others: tuple[int, ...]) -> None:
    """Do in the copy what `python -c` does in a process that xdist starts itself."""
    try:
        os.dup2(reads, 0)
        os.dup2(writes, 1)
        for each in (reads, writes, *others):
            os.close(each)
        sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
        exec(eval(sys.stdin.readline()), {})
    finally:
        os._exit(0)


def _load(config: pytest.Config) -> None:
    """Import the modules that will be collected; one that fails or warns is left for those that collect it."""
    for name in ("tests.e2e.preloaded", *_modules(config)):
        with suppress(Exception, pytest.skip.Exception), warnings.catch_warnings():
            warnings.simplefilter("error")
            import_module(name)


@hypothesis.settings(max_examples=10, database=None)
@hypothesis.given(strategies.text())
def _draw(_: str) -> None:
    """Let hypothesis read the constants of the application, and the categories of characters, which takes seconds."""


def _modules(config: pytest.Config) -> Iterator[str]:
    ignored = [Path(each).resolve() for each in config.getoption("ignore") or ()]
    for argument in config.args:
        named = Path(argument.partition("::")[0]).resolve()
        for path in [named] if named.is_file() else sorted(named.rglob("test_*.py")):
            if path.is_relative_to(config.rootpath) and not any(path.is_relative_to(each) for each in ignored):
                yield ".".join(path.relative_to(config.rootpath).with_suffix("").parts)
