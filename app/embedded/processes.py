"""Child processes that end with their parent."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

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
