"""A service of shell scripts: `service STOP_SECONDS NAME SCRIPT ...`, on servers of its own when DATA is set.

The script `later` is started once the file WANTED exists; while it has the name WANTED.broken, asking for it fails.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from app.embedded import children
from app.embedded.children import Child, Supervised
from app.embedded.servers import Servers


def say_ready() -> None:
    """Report that all are started."""
    os.write(1, b"ready\n")


def is_wanted() -> bool:
    """Return whether the script `later` is wanted."""
    wanted = Path(os.environ.get("WANTED", ""))
    if wanted.with_suffix(".broken").exists():
        raise OSError("Resource temporarily unavailable")
    return wanted.exists()


def serve(scripts: Sequence[str], servers: Sequence[Supervised] = ()) -> int:
    """Run each script under its name."""
    pairs = zip(scripts[::2], scripts[1::2], strict=True)
    wanted = {"later": is_wanted}
    service = [Child(name, ["/bin/sh", "-c", script], os.environ, wanted.get(name)) for name, script in pairs]
    return children.run(service, say_ready, servers)


def serve_on_servers(data: Path, scripts: Sequence[str]) -> int:
    """Run the scripts while the servers of a data folder run."""
    servers = Servers.start(data)
    try:
        return serve(scripts, servers.supervised())
    finally:
        servers.stop()


if __name__ == "__main__":
    children.STOP_SECONDS = float(sys.argv[1])
    children.WANTED_SECONDS = 0.05
    folder = os.environ.get("DATA")
    sys.exit(serve_on_servers(Path(folder), sys.argv[2:]) if folder else serve(sys.argv[2:]))
