"""The folder of a run's sockets; its path is short because a socket's path has at most 107 characters."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.embedded.accounts import Account
from app.embedded.locks import lock

PARENT = Path("/tmp")
PREFIX = "messaging-sockets-"
PROGRAMS = "programs"
"""The folder in it for copies of the servers' programs."""


@contextmanager
def socket_folder(account: Account) -> Iterator[Path]:
    """Make a folder that only `account` may enter, and remove it at the end; also remove those of killed runs."""
    _remove_abandoned()
    # Hidden from `_remove_abandoned` until it is locked.
    hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=PARENT))
    descriptor = lock(hidden, os.O_RDONLY)
    (hidden / PROGRAMS).mkdir()
    account.own(hidden)
    folder = hidden.rename(PARENT / hidden.name.removeprefix("."))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _remove_abandoned() -> None:
    for folder in PARENT.glob(f"{PREFIX}????????"):
        with suppress(OSError):  # in use, another user's, or gone meanwhile
            descriptor = lock(folder, os.O_RDONLY | os.O_DIRECTORY)
            if all(_is_left_over(entry) for entry in folder.iterdir()):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def _is_left_over(entry: Path) -> bool:
    """Tell whether a server left a file; a folder with anything else in it is somebody's, whatever its name."""
    return entry.is_socket() or entry.name.endswith(".lock") or entry.name == PROGRAMS
