"""The secret key: set by the operator, or generated at the first start in development and stored in the data folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from app.settings.errors import InvalidKeyFile

KEY_FILE = "secret.key"
LEAST_BYTES = 32


def read_or_make(data: Path) -> bytes:
    """Return the key in a data folder; generate a missing one. Raises `InvalidKeyFile`."""
    path = data / KEY_FILE
    try:
        if not path.exists():
            _make(path)
    except OSError as problem:
        raise InvalidKeyFile(f"The secret key cannot be kept in {path}: {problem.strerror}.") from None
    return read(path)


def read(path: Path) -> bytes:
    """Return the key in a file; raise `InvalidKeyFile` for an invalid one."""
    try:
        key = path.read_bytes().strip()
    except OSError as problem:
        raise InvalidKeyFile(f"The secret key in {path} cannot be read: {problem.strerror}.") from None
    if len(key) < LEAST_BYTES:
        raise InvalidKeyFile(
            f"The secret key in {path} has {len(key)} bytes, and needs {LEAST_BYTES}. Restore the file from a backup; "
            "or remove it to generate a new key, which ends all API keys, sessions and OAuth connections."
        )
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    made.touch(mode=0o600)
    with made.open("w") as file:
        file.write(secrets.token_hex(LEAST_BYTES))
        file.flush()
        os.fsync(file.fileno())  # the database, which needs the key, outlives a loss of power too
    with suppress(FileExistsError):
        path.hardlink_to(made)  # of two processes that start at once, one wins
    made.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
