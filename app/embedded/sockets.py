"""The folder of a run's sockets, with a short path because socket paths have at most 107 characters."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.embedded.accounts import Account
from app.embedded.locks import lock

PARENT = Path("/tmp")
PREFIX = "messaging-sockets-"
PROGRAMS = "programs"
"""The subfolder for copies of the servers' programs."""


@contextmanager
def socket_folder(account: Account) -> Generator[Path]:
    """Create a folder that only `account` may enter, and remove it at the end; also remove those of killed runs."""
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
        with suppress(OSError):  # in use, of another user, or removed meanwhile
            descriptor = lock(folder, os.O_RDONLY | os.O_DIRECTORY)
            if all(_is_left_over(entry) for entry in folder.iterdir()):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def _is_left_over(entry: Path) -> bool:
    """Return whether a file was left by a server; a folder with any other file is not removed."""
    is_known = entry.is_socket() or entry.name.endswith(".lock") or entry.name == PROGRAMS
    return is_known or not os.path.lexists(entry)  # a server of a killed run may remove its socket meanwhile
