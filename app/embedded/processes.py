"""Child processes that end with their parent."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

END_SECONDS = 5.0
"""The time for the end of killed processes."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def spawn(argv: Sequence[str], death_signal: signal.Signals, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that gets `death_signal` when the calling thread ends; other options are those of `Popen`.

    Call it from the main thread only. The process has its own session: Ctrl-C reaches only its parent, which stops its
    processes in the right order. macOS has no parent-death signal: there a killed parent leaves its processes running.
    """
    parent = os.getpid()
    return subprocess.Popen[bytes](
        argv,
        start_new_session=True,
        preexec_fn=lambda: _die_with(parent, death_signal),
        **options,
    )


def _die_with(parent: int, death_signal: signal.Signals) -> None:
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != parent:  # the parent ended before the signal was set
        os._exit(1)


def end_orphans(name: str, folder: Path) -> None:
    """Kill the processes with a name that work in a folder, and wait for their end.

    Call it only while a lock excludes a server there. Without /proc, as on macOS, none is found.
    """
    deadline = time.monotonic() + END_SECONDS
    while (orphans := list(_find_orphans(name, folder))) and time.monotonic() < deadline:
        for pid in orphans:
            _kill(pid)
        time.sleep(0.01)


def _find_orphans(name: str, folder: Path) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == name and (process / "cwd").readlink() == folder.resolve():
                yield int(process.name)
        except OSError:  # it has ended, or belongs to another account
            continue


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
