"""Valkey as a child of this process, on a Unix socket only."""

import signal
import socket
from pathlib import Path

from app.embedded.server import Server, Site
from app.embedded.wheels import valkey_server

_SETTINGS = {
    "daemonize": "no",
    "port": "0",
    "unixsocketperm": "700",
    "maxmemory-policy": "noeviction",
    "appendfsync": "everysec",
    "save": "",
    "hz": "2",  # the rounds of its own upkeep in a second, of which an idle server makes 10 by default
}


def prepare(site: Site) -> Server:
    """Return Valkey with an append-only file that reaches the disk every second; raise `NotBundled`."""
    program = valkey_server(site.account, site.programs)
    folder = site.make_folder("valkey")
    path = site.sockets / "valkey"
    log = site.begin_log("valkey")
    settings = {**_SETTINGS, "unixsocket": str(path), "appendonly": "yes" if site.durable else "no"}
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    return Server(
        name="Valkey",
        url=f"unix://{path}?db=0",
        log=log,
        stop_signal=signal.SIGTERM,
        spawn=lambda: site.run([program, *options], folder, log, signal.SIGTERM),
        answers=lambda _: _answers(path),
    )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"  # "-LOADING ..." while it reads its file
        except OSError:
            return False
