"""The system account of the servers; PostgreSQL refuses to run as root."""

import os
import pwd
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.embedded.errors import EmbeddedError

_READ_AND_RUN = stat.S_IROTH | stat.S_IXOTH


@dataclass(frozen=True, slots=True)
class Account:
    """A system account."""

    uid: int
    gid: int

    @property
    def is_ours(self) -> bool:
        """Return whether this process runs under the account itself."""
        return self.uid == os.geteuid()

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of `Popen` that start a process under the account."""
        return {} if self.is_ours else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Change the owner of a file, or a folder with its content, to the account."""
        for each in (path, *path.rglob("*")):
            os.chown(each, self.uid, self.gid, follow_symlinks=False)

    def reaches(self, program: Path) -> bool:
        """Return whether the account may run a program, by its mode bits only."""
        target = program.resolve()
        open_to_all = target.stat().st_mode & _READ_AND_RUN == _READ_AND_RUN
        folders = {*program.parents, *target.parents}
        return self.is_ours or (open_to_all and all(folder.stat().st_mode & stat.S_IXOTH for folder in folders))


def account_for(data: Path) -> Account:
    """Return the account of the servers: that of this process; for root the database's owner, or user `nobody`."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    if sys.platform != "linux":
        raise EmbeddedError("PostgreSQL does not run as root: start the service as an ordinary user.")
    database = data / "postgres"
    if database.exists() and (found := database.stat()).st_uid != 0:
        return Account(found.st_uid, found.st_gid)
    return _nobody()


def _nobody() -> Account:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedError(
            "PostgreSQL does not run as root and this system has no user named nobody: "
            "start the service as an ordinary user."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)
