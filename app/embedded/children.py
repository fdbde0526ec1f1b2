"""Supervises the child processes of the service and restarts those that fail."""

import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.embedded.processes import spawn

logger = logging.getLogger(__name__)

FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
STOP_SECONDS = 5.0

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class Child:
    """A process of the service: `argv` is its command, `env` its whole environment."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]


def run(
    children: Sequence[Child],
    ready: Callable[[], None] | None = None,
    are_servers_alive: Callable[[], bool] = lambda: True,
) -> int:
    """Keep `children` running until SIGTERM or SIGINT, then stop them; call it from the main thread.

    `ready` is called once, when all are started. The children get SIGTERM and `STOP_SECONDS` to finish their work,
    then SIGKILL. Returns the exit code: 0, or 1 when a child was killed or a server ended, which ends the run.
    """
    with _signals() as signals:
        running = [_Running(child) for child in children]
        try:
            for each in running:
                each.start()
            if ready:
                ready()
            survived = _keep_running(running, signals, are_servers_alive)
        finally:
            left_in_time = _stop(running)
    return 0 if survived and left_in_time else 1


def delay_after(delay: float, uptime: float) -> float:
    """Return the seconds until the next start, after a wait of `delay` seconds and `uptime` seconds of running.

    The wait doubles up to `LONGEST_DELAY_SECONDS`; after a longer uptime it starts again at the first delay.
    """
    if delay == 0 or uptime > LONGEST_DELAY_SECONDS:
        return FIRST_DELAY_SECONDS
    return min(2 * delay, LONGEST_DELAY_SECONDS)


class _Running:
    """A child, its process, and the time of its next start; times are those of `time.monotonic`."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.delay = 0.0
        self.due_at: float | None = None

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.due_at = None
        self.process = spawn(self.child.argv, signal.SIGTERM, env=self.child.env, stdin=subprocess.DEVNULL)

    def tend(self) -> None:
        """Restart the process when due; schedule the restart of an ended one."""
        now = time.monotonic()
        if self.due_at is not None:
            if now >= self.due_at:
                self.start()
        elif self.process and self.process.poll() is not None:
            self.delay = delay_after(self.delay, now - self.started_at)
            self.due_at = now + self.delay
            code = self.process.returncode
            logger.error("%s ended with code %s; it starts again in %g s", self.child.name, code, self.delay)

    def ask_to_stop(self) -> None:
        if self.process:
            self.process.terminate()

    def left_by(self, deadline: float) -> bool:
        """Wait for the process to end; kill its process group at the deadline."""
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            logger.error("%s did not stop within %g s and is killed", self.child.name, STOP_SECONDS)
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False
        return True


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """Write the numbers of received signals to a socket.

    A handler alone does not suffice: a signal just before a wait would not end it.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    with reader, writer:
        outer = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        before = {number: signal.signal(number, lambda *_: None) for number in (*_STOP_SIGNALS, signal.SIGCHLD)}
        try:
            yield reader
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(outer)


def _keep_running(running: Sequence[_Running], signals: socket.socket, are_servers_alive: Callable[[], bool]) -> bool:
    """Return True after a stop signal, False after a server has ended."""
    while are_servers_alive():
        if not _wait(signals, running).isdisjoint(_STOP_SIGNALS):
            return True
        for each in running:
            each.tend()
    logger.critical("PostgreSQL or Valkey ended; the service stops")
    return False


def _wait(signals: socket.socket, running: Sequence[_Running]) -> set[int]:
    """Wait for signals or the next due start; return the numbers of the signals."""
    due = [each.due_at for each in running if each.due_at is not None]
    timeout = max(0.0, min(due) - time.monotonic()) if due else None
    ready, _, _ = select.select([signals], [], [], timeout)
    return set(signals.recv(1024)) if ready else set()


def _stop(running: Sequence[_Running]) -> bool:
    """Stop all children together; return whether all ended in time."""
    for each in running:
        each.ask_to_stop()
    deadline = time.monotonic() + STOP_SECONDS
    late = [each for each in running if not each.left_by(deadline)]
    return not late
