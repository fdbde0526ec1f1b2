"""Fold the metrics of processes that have ended into one file of each kind, so that restarts do not fill the folder.

prometheus_client gives each process files of its own, 64 KiB or more each, and never removes those of counters.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import mark_process_dead

KINDS = ("counter", "histogram")
ENDED, LOCK = "ended", "lock"


@contextmanager
def folded(folder: Path) -> Generator[None]:
    """Fold the counts of ended processes; no other process folds within the block, so that each count is read once."""
    with (folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for pid in sorted(_ended(folder)):
            _fold(folder, pid)
        yield


def _ended(folder: Path) -> set[int]:
    pids = {path.stem.rpartition("_")[2] for path in folder.glob("*_*.db")} - {ENDED}
    return {int(pid) for pid in pids if pid.isdecimal() and not _is_alive(int(pid))}


def _fold(folder: Path, pid: int) -> None:
    for kind in KINDS:
        path = folder / f"{kind}_{pid}.db"
        if path.exists() and path.stat().st_size:
            _add(folder / f"{kind}_{ENDED}.db", path)
        path.unlink(missing_ok=True)
    mark_process_dead(pid, str(folder))


def _add(total: Path, path: Path) -> None:
    counted = list(MmapedDict.read_all_values_from_file(str(path)))
    totals = MmapedDict(str(total))
    for key, value, timestamp, _ in counted:
        totals.write_value(key, totals.read_value(key)[0] + value, timestamp)
    totals.close()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
