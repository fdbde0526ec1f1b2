"""PostgreSQL as a child of this process, on a Unix socket only."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from app.embedded.errors import OtherMajorVersion, ServerFailed
from app.embedded.processes import end_orphans
from app.embedded.server import Server, Site, reason_in
from app.embedded.wheels import postgres_major, postgres_programs

DATABASE = "messaging"

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "512MB",
    "random_page_cost": "1.1",
    "wal_compression": "pglz",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Error details contain row values: keep phone numbers out of the log.
    "log_error_verbosity": "terse",
}
_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
# For tests: several processes, each with services of its own, share the server.
_NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "400"}

# The builtin locale, so that order and case do not depend on the machine.
_INITDB = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    "--no-sync",
]
_SINGLE = ["-F", "-c", "exit_on_error=on"]
_CREATE_DATABASE = f"CREATE DATABASE {DATABASE} STRATEGY file_copy\n".encode()
# Sync the new files together: one by one takes seconds on a busy disk.
_SYNC = ["--sync-only", f"--sync-method={'syncfs' if sys.platform == 'linux' else 'fsync'}"]


def prepare(site: Site) -> Server:
    """Return PostgreSQL; on first use create the database `messaging`.

    Raises `OtherMajorVersion`, `NotBundled`, or `ServerFailed`.
    """
    folder = site.data / "postgres"
    _check_major(folder)
    programs = postgres_programs(site.account, site.programs)
    log = site.begin_log("postgres")
    if not (folder / "PG_VERSION").exists():
        _create(site, programs, folder, log)
    argv = [programs / "postgres", "-D", _address(site, folder), *_options(site)]
    return Server(
        name="PostgreSQL",
        url=f"postgresql://postgres@/{DATABASE}?host={site.sockets}",
        log=log,
        stop_signal=signal.SIGINT,  # fast shutdown
        spawn=partial(_spawn, site, argv, folder, log),
        answers=partial(_is_ready, folder),
    )


def _spawn(site: Site, argv: Sequence[str | Path], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start PostgreSQL. A backend that computes survives a killed postmaster, and would keep the next one out."""
    end_orphans("postgres", folder)
    return site.run(argv, folder, log, signal.SIGINT, env=_past_stale_pid(folder))


def _check_major(folder: Path) -> None:
    path = folder / "PG_VERSION"
    made_by = path.read_text().strip() if path.exists() else postgres_major()
    if made_by != postgres_major():
        raise OtherMajorVersion(
            f"PostgreSQL {made_by} made the data in {folder}, and this installation carries PostgreSQL "
            f"{postgres_major()}: dump the database with the installation that made it (pg_dump), "
            "move the folder away, start again, and restore the dump (pg_restore)."
        )


def _create(site: Site, programs: Path, folder: Path, log: Path) -> None:
    """Create the database in a temporary folder and rename it when complete, so that a kill leaves no partial one."""
    new = folder.with_name("postgres.new")
    shutil.rmtree(new, ignore_errors=True)
    site.make_folder(new.name)
    address = ["-D", _address(site, new)]
    run = partial(_run, site, new, log)
    run([programs / "initdb", *address, *_INITDB])
    run([programs / "postgres", "--single", *address, *_SINGLE, "template1"], _CREATE_DATABASE)
    if site.durable:
        run([programs / "initdb", *address, *_SYNC])
    new.rename(folder)
    _sync(folder.parent)


def _run(site: Site, folder: Path, log: Path, argv: Sequence[str | Path], stdin: bytes = b"") -> None:
    process = site.run(argv, folder, log, signal.SIGTERM, stdin=subprocess.PIPE)
    process.communicate(stdin)
    if process.returncode != 0:
        raise ServerFailed(f"PostgreSQL could not make its database: {reason_in(log)} (more in {log})")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _address(site: Site, folder: Path) -> str:
    # Another account may not have access to the path of the data, but has its working directory there.
    return str(folder) if site.account.is_ours else "/proc/self/cwd"


def _options(site: Site) -> list[str]:
    settings = {
        **_SETTINGS,
        **(_DURABLE if site.durable else _NOT_DURABLE),
        "unix_socket_directories": str(site.sockets),
    }
    return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]


def _past_stale_pid(folder: Path) -> dict[str, str]:
    """Return the environment that makes PostgreSQL ignore the process id in a stale postmaster.pid.

    The locks exclude another server on this data, so that id belongs to an unrelated process. The file is not deleted,
    because PostgreSQL finds processes that survived a crash by the shared memory key in it.
    """
    path = folder / "postmaster.pid"
    if not path.exists():
        return {}
    pid = path.read_text().partition("\n")[0].strip().lstrip("-")
    if not pid.isdigit():  # truncated by a crash: PostgreSQL would refuse it permanently
        path.unlink()
        return {}
    return {"PG_GRANDPARENT_PID": pid}


def _is_ready(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    """Read the status that the postmaster writes into the eighth line of its pid file, as pg_ctl does."""
    try:
        lines = (folder / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[0] == str(process.pid) and lines[7].strip() == "ready"
