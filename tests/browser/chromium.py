"""Chromium out of an npm package, and the built dashboard."""

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from playwright.async_api import Browser, Playwright

from tests.node import BUILD, NODE, install, provide

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent
FOLDER = BUILD / "chromium"
UNPACK = "import { launch } from './chromium.mjs'; await (await launch(process.argv[2])).close();"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--single-threaded --min-semi-space-size=16 --no-flush-bytecode --no-maglev --no-opt",
]
"""The last flag saves processor time: a page of a test is open for seconds, in which a collection of its memory, or a
better compilation of its scripts, costs more than it saves, and the next page loads the same scripts again."""


def build_dashboard() -> Path:
    """Build the dashboard, unless it is built from the present sources; return the folder of its files."""
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(module.FOR_USE)
    return module.TARGET


def install_packages() -> Path:
    """Install the packages of the browser tests, and unpack Chromium; return their folder."""
    folder = install(SOURCES)
    if not FOLDER.exists():
        provide(SOURCES / "chromium.mjs", folder)
        (folder / "unpack.mjs").write_text(UNPACK)
        subprocess.run([NODE, folder / "unpack.mjs", FOLDER], check=True, timeout=60)
    return folder


async def launch(playwright: Playwright) -> Browser:
    """Start Chromium, after `install_packages`."""
    return await playwright.chromium.launch(
        executable_path=FOLDER / "chromium", env={"LD_LIBRARY_PATH": str(FOLDER / "lib")}, args=FLAGS
    )
