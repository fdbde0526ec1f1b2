"""File locks that the kernel releases when the process ends."""

import fcntl
import os
import time
from pathlib import Path

from app.embedded.errors import DataInUse

ASKED_SECONDS = 0.05
"""The time that `is_claimed` may hold the lock."""

PATIENCE_SECONDS = 30.0
"""The time for the servers of a killed run to end; PostgreSQL writes a checkpoint first."""


def lock(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Lock `path` and return the open descriptor that holds the lock; raise `BlockingIOError` if it is locked."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def lock_data(data: Path) -> int:
    """Claim a data folder for this process; raise `DataInUse` when another process has it."""
    path = data / "lock"
    try:
        descriptor = _lock_within(path, ASKED_SECONDS)
    except BlockingIOError:
        raise DataInUse(
            f"The data folder {data} is in use by process {path.read_text()}: "
            "stop that process, or choose another folder with MESSAGING_DATA."
        ) from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor


def is_claimed(data: Path) -> bool:
    """Return whether a running process has claimed a data folder."""
    try:
        os.close(lock(data / "lock", os.O_RDWR))
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def lock_servers(data: Path) -> int:
    """Lock a data folder for servers; return the descriptor for them to inherit.

    The servers of a killed run hold the lock until their last process has ended; this waits for them.
    """
    try:
        return _lock_within(data / "servers.lock", PATIENCE_SECONDS)
    except BlockingIOError:
        raise DataInUse(_still_running(data)) from None


def _lock_within(path: Path, seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return lock(path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _still_running(data: Path) -> str:
    return (
        f"The PostgreSQL or the Valkey of an earlier run still works on {data}: stop it "
        f"(PostgreSQL's process id is in the first line of {data / 'postgres' / 'postmaster.pid'})."
    )
