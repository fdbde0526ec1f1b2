"""A server as a foreground child with a log, and the folders of one run."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.embedded.accounts import Account
from app.embedded.errors import ServerFailed
from app.embedded.processes import spawn
from app.embedded.sockets import PROGRAMS

START_SECONDS = 300.0
"""The startup timeout of a server, which replays its log after a crash."""

STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Site:
    """The folders of one run. Its servers inherit the descriptor `lock`; `durable` is false in tests only."""

    data: Path
    sockets: Path
    account: Account
    lock: int
    durable: bool

    @property
    def programs(self) -> Path:
        """Return the folder for copies of programs that the account cannot reach."""
        return self.sockets / PROGRAMS

    def make_folder(self, name: str) -> Path:
        """Create a data folder that only the servers' account may enter."""
        folder = self.data / name
        if not folder.exists():
            folder.mkdir(mode=0o700)
            self.account.own(folder)
        return folder

    def begin_log(self, name: str) -> Path:
        """Return the path of a new log; the log of the previous run is renamed."""
        log = self.data / f"{name}.log"
        if log.exists():
            log.replace(self.data / f"{name}.log.1")
        return log

    def run(
        self,
        argv: Sequence[str | Path],
        folder: Path,
        log: Path,
        death_signal: signal.Signals,
        *,
        stdin: int = subprocess.DEVNULL,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program in `folder` under the servers' account, without this process's environment."""
        with log.open("ab") as output:
            return spawn(
                [str(each) for each in argv],
                death_signal,
                cwd=folder,
                env={"PATH": os.defpath, "LC_ALL": "C", **(env or {})},
                stdin=stdin,
                stdout=output,
                stderr=output,
                pass_fds=[self.lock],
                **self.account.options,
            )


@dataclass(slots=True)
class Server:
    """A server: `spawn` starts its process, `answers` returns whether that accepts connections."""

    name: str
    url: str
    log: Path
    stop_signal: signal.Signals
    spawn: Callable[[], subprocess.Popen[bytes]]
    answers: Callable[[subprocess.Popen[bytes]], bool]
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, for the first time or after its process has ended."""
        self.process = self.spawn()
        return self.process

    def wait_until_ready(self) -> None:
        """Wait until the server accepts connections; raise `ServerFailed` when it ends or takes too long."""
        deadline = time.monotonic() + START_SECONDS
        while not self.answers(self.process):
            if self.process.poll() is not None:
                raise ServerFailed(f"{self.name} did not start: {reason_in(self.log)} (more in {self.log})")
            if time.monotonic() > deadline:
                raise ServerFailed(f"{self.name} did not answer within {START_SECONDS:.0f} seconds; see {self.log}.")
            time.sleep(0.005)


def stop(servers: Sequence[Server]) -> None:
    """Stop servers together by their stop signals; kill those that take longer than `STOP_SECONDS`."""
    for server in servers:
        server.process.send_signal(server.stop_signal)
    deadline = time.monotonic() + STOP_SECONDS
    for server in servers:
        try:
            server.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


def reason_in(log: Path) -> str:
    """Return the last error line of a log."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    grave = [line for line in lines if "FATAL" in line or "error:" in line]
    return (grave or lines or ["it wrote no reason"])[-1].strip()
