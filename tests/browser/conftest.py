"""Chromium, the built dashboard, and a service that shows it."""

import shutil
import subprocess
from collections.abc import AsyncGenerator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from app.domain.onboarding.service import Opened
from app.jobs.live import Announcer
from app.services import Services
from tests.browser.screen import Windows
from tests.graphql.live import Scene, Served, serving
from tests.node import BUILD, NODE, install

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent
UNPACK = "import { launch } from './chromium.mjs'; await (await launch(process.argv[2])).close();"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def built() -> Path:
    """Build the dashboard, unless it is built from the present sources; return the folder of its files."""
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build()
    return module.TARGET


@pytest.fixture(scope="session")
def packages() -> Path:
    """Install the packages of the browser tests, and unpack Chromium; return their folder."""
    folder = install(SOURCES)
    if not (BUILD / "chromium").exists():
        shutil.copy(SOURCES / "chromium.mjs", folder)
        (folder / "unpack.mjs").write_text(UNPACK)
        subprocess.run([NODE, folder / "unpack.mjs", BUILD / "chromium"], check=True, timeout=60)
    return folder


@pytest.fixture(scope="module")
async def browser(packages: Path, anyio_backend: object) -> AsyncGenerator[Browser]:
    """Start Chromium, once for the tests of a module."""
    folder = BUILD / "chromium"
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(
            executable_path=folder / "chromium", env={"LD_LIBRARY_PATH": str(folder / "lib")}, args=FLAGS
        )


@pytest.fixture
async def served(services: Services, built: Path) -> AsyncGenerator[Served]:
    """Serve the application with the dashboard."""
    async with serving(services.settings) as served:
        yield served


@pytest.fixture
async def windows(browser: Browser, packages: Path, served: Served) -> AsyncGenerator[Windows]:
    """Open windows of the browser, which are closed after the test."""
    axe = (packages / "node_modules" / "axe-core" / "axe.min.js").read_text()
    windows = Windows(browser, served.base_url, axe)
    yield windows
    for each in windows.opened:
        await each.close()


@pytest.fixture
async def scene(services: Services, account: Opened) -> AsyncGenerator[Scene]:
    """Give the account, with what a worker does for it."""
    assert services.settings.redis_url
    announcer = Announcer(services.settings.redis_url)
    yield Scene(services, account, announcer)
    await announcer.aclose()


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path:
    """Return the folder for pictures of the pages."""
    folder = BUILD / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
