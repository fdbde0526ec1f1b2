"""Fork the processes of `messaging serve`, in place of new ones that load the service again for seconds.

`make serve` in test_document_starts.py starts them as users do.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.embedded import children, processes

_PR_SET_NAME = 15  # linux/prctl.h


def fork_children(run: Callable[[Sequence[str], str, Mapping[str, str]], int]) -> None:
    """Let the supervisor of this process fork its children, which `run` their commands."""

    def spawn(argv: Sequence[str], death_signal: signal.Signals, env: Mapping[str, str], stdin: int) -> Any:
        assert (argv[:3], stdin) == ([sys.executable, "-m", "app"], subprocess.DEVNULL)
        return _Fork(argv[3:], death_signal, env, run)

    children.spawn = spawn


class _Fork(subprocess.Popen[bytes]):
    """A forked command, which the supervisor waits for and stops like any other process."""

    def __init__(
        self,
        arguments: Sequence[str],
        death_signal: signal.Signals,
        env: Mapping[str, str],
        run: Callable[[Sequence[str], str, Mapping[str, str]], int],
    ) -> None:
        self._become = lambda parent: _become(arguments, env, run, parent, death_signal)
        super().__init__(list(arguments))

    def _execute_child(self, *_: Any) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            self._become(parent)
        self._child_created = True


def _become(
    arguments: Sequence[str],
    env: Mapping[str, str],
    run: Callable[[Sequence[str], str, Mapping[str, str]], int],
    parent: int,
    death_signal: signal.Signals,
) -> None:
    """Run a command with the state of a new process: its name, signals and files; end with its exit code."""
    code = 1
    try:
        processes._die_with(parent, death_signal)
        if processes._libc is not None:
            processes._libc.prctl(_PR_SET_NAME, arguments[0].encode())
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code = run(arguments, os.getcwd(), env)
    finally:
        os._exit(code)
