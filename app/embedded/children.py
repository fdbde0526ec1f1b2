"""Supervises the processes of the service and its servers, and restarts those that end."""

import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.embedded.processes import spawn

logger = logging.getLogger(__name__)

FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
WANTED_SECONDS = 10.0
"""The time after which a process that is not wanted yet is asked about again."""

STOP_SECONDS = 5.0

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Child:
    """A process of the service: `argv` is its command, `env` its whole environment.

    It is started once `is_wanted` returns True, or at once without one.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    is_wanted: Callable[[], bool] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process; it gets SIGTERM when this one ends."""
        return spawn(self.argv, signal.SIGTERM, env=self.env, stdin=subprocess.DEVNULL)


def run(
    children: Sequence[Child],
    ready: Callable[[], None] | None = None,
    servers: Sequence["Supervised"] = (),
) -> int:
    """Keep `children` and `servers` running until SIGTERM, SIGINT or SIGHUP, then stop the children.

    Call it from the main thread. `servers` are running; the caller stops them. `ready` is called once, when all
    children that are wanted are started. The children get SIGTERM and `STOP_SECONDS` to finish their work, then
    SIGKILL. Returns the exit code: 0, or 1 when a child was killed.
    """
    with _signals() as signals:
        running = [Supervised(child.name, child.start, is_wanted=child.is_wanted) for child in children]
        try:
            for each in running:
                each.start()
            if ready:
                ready()
            _keep_running([*servers, *running], signals)
        finally:
            left_in_time = _stop(running)
    return 0 if left_in_time else 1


def delay_after(delay: float, uptime: float) -> float:
    """Return the seconds until the next start, after a wait of `delay` seconds and `uptime` seconds of running.

    The wait doubles up to `LONGEST_DELAY_SECONDS`; after a longer uptime it starts again at the first delay.
    """
    if delay == 0 or uptime > LONGEST_DELAY_SECONDS:
        return FIRST_DELAY_SECONDS
    return min(2 * delay, LONGEST_DELAY_SECONDS)


class Supervised:
    """A process, and the time of its next start after it has ended; times are those of `time.monotonic`.

    `start` starts the process, but not while `is_wanted` returns False; `process` is the running one, if any.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], subprocess.Popen[bytes]],
        process: subprocess.Popen[bytes] | None = None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> None:
        self.name = name
        self._is_wanted = is_wanted
        self.process = process
        self.due_at: float | None = None
        self._start = start
        self._started_at = time.monotonic()
        self._delay = 0.0

    def start(self) -> None:
        """Start the process, or ask again later whether it is wanted."""
        self._started_at = time.monotonic()
        if self._is_wanted and not self._is_wanted():
            self.due_at = self._started_at + WANTED_SECONDS
            return
        self.due_at = None
        self.process = self._start()

    def supervise(self) -> None:
        """Restart the process when due, or again later if that fails; schedule the restart of an ended one."""
        if self.due_at is not None:
            if time.monotonic() >= self.due_at:
                self._start_again()
        elif self.process and self.process.poll() is not None:
            now = time.monotonic()
            self._delay = delay_after(self._delay, now - self._started_at)
            self.due_at = now + self._delay
            code = self.process.returncode
            logger.error("%s ended with code %s; it starts again in %g s", self.name, code, self._delay)

    def _start_again(self) -> None:
        try:
            self.start()
        except Exception as error:  # such as too little memory: the other processes and the servers keep running
            self.due_at = time.monotonic() + WANTED_SECONDS
            logger.error("%s cannot be started, and is tried again in %g s: %s", self.name, WANTED_SECONDS, error)

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self.process:
            self.process.terminate()

    def left_by(self, deadline: float) -> bool:
        """Wait for the process to end; kill its process group at the deadline."""
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            logger.error("%s did not stop within %g s and is killed", self.name, STOP_SECONDS)
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False
        return True


@contextmanager
def _signals() -> Generator[socket.socket]:
    """Write the numbers of received signals to a socket.

    A handler alone does not suffice: a signal just before a wait would not end it.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    with reader, writer:
        outer = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        heard = [number for number in (*_STOP_SIGNALS, signal.SIGCHLD) if not _is_ignored(number)]
        before = {number: signal.signal(number, lambda *_: None) for number in heard}
        try:
            yield reader
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(outer)


def _is_ignored(number: signal.Signals) -> bool:
    """Return whether the service was started to outlive its terminal, as `nohup` does."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN


def _keep_running(running: Sequence[Supervised], signals: socket.socket) -> None:
    """Restart processes until a stop signal."""
    for each in running:
        each.supervise()  # one may have ended before its signal was handled
    while _wait(signals, running).isdisjoint(_STOP_SIGNALS):
        for each in running:
            each.supervise()


def _wait(signals: socket.socket, running: Sequence[Supervised]) -> set[int]:
    """Wait for signals or the next due start; return the numbers of the signals."""
    due = [each.due_at for each in running if each.due_at is not None]
    timeout = max(0.0, min(due) - time.monotonic()) if due else None
    ready, _, _ = select.select([signals], (), (), timeout)
    return set(signals.recv(1024)) if ready else set()


def _stop(running: Sequence[Supervised]) -> bool:
    """Stop all children together; return whether all ended in time."""
    for each in running:
        each.ask_to_stop()
    deadline = time.monotonic() + STOP_SECONDS
    late = [each for each in running if not each.left_by(deadline)]
    return not late
