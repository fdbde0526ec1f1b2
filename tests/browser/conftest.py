"""Chromium, the built dashboard, and a service that shows it."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright, expect

from app.domain.onboarding.service import Opened
from app.jobs.live import Announcer
from app.services import Services
from tests.browser.chromium import build_dashboard, install_packages, launch
from tests.browser.screen import PATIENCE_MS, Shelf, Windows
from tests.browser.server import KeptServer, settle
from tests.graphql.live import Scene, Served
from tests.node import BUILD
from tests.shared import Shared


@pytest.fixture(scope="session")
def built() -> Path:
    """Build the dashboard; return the folder of its files."""
    return build_dashboard()


@pytest.fixture(scope="session")
def packages() -> Path:
    """Install the packages of the browser tests; return their folder."""
    return install_packages()


@pytest.fixture(scope="session")
async def browser(packages: Path, anyio_backend: object) -> AsyncGenerator[Browser]:
    """Start Chromium, once for the tests of a process; its assertions wait as long as its actions."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        yield await launch(playwright)


@pytest.fixture(scope="session")
def shelf(browser: Browser) -> Shelf:
    """Keep the profiles of the browser for all tests of the process."""
    return Shelf(browser)


@pytest.fixture(scope="session")
async def kept_server(shared: Shared, built: Path) -> AsyncGenerator[KeptServer]:
    """Keep the server of the dashboard for all tests of the process."""
    async with AsyncExitStack() as stack:
        yield KeptServer(shared, stack)


@pytest.fixture
async def served(services: Services, kept_server: KeptServer) -> AsyncGenerator[Served]:
    """Serve the application with the dashboard."""
    served = await kept_server.serve(services.settings)
    yield served
    await settle(served)


@pytest.fixture
async def windows(shelf: Shelf, packages: Path, services: Services, served: Served) -> AsyncGenerator[Windows]:
    """Open windows of the browser, which are closed after the test."""
    axe = (packages / "node_modules" / "axe-core" / "axe.min.js").read_text()
    windows = Windows(shelf, served.base_url, axe, services.authentication)
    yield windows
    await windows.close()


@pytest.fixture
async def scene(services: Services, account: Opened) -> AsyncGenerator[Scene]:
    """Give the account, with what a worker does for it."""
    assert services.settings.redis_url
    announcer = Announcer(services.settings.redis_url)
    yield Scene(services, account, announcer)
    await announcer.aclose()


@pytest.fixture
def pictures() -> Path:
    """Return the folder for pictures of the pages, which `MESSAGING_WRITE_PICTURES=1` writes."""
    folder = BUILD / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
