"""A server, and accounts with events."""

from collections.abc import AsyncGenerator

import pytest

from app.domain.onboarding.service import Opened
from app.jobs.live import Announcer
from app.services import Services
from tests.graphql.live import Scene, Scenes, Served, serving


@pytest.fixture
async def served(services: Services) -> AsyncGenerator[Served]:
    """Serve the application."""
    async with serving(services.settings) as served:
        yield served


@pytest.fixture
async def announcer(services: Services) -> AsyncGenerator[Announcer]:
    """Provide the announcer of a worker."""
    assert services.settings.redis_url
    announcer = Announcer(services.settings.redis_url)
    yield announcer
    await announcer.aclose()


@pytest.fixture
def scene_of(services: Services, announcer: Announcer) -> Scenes:
    """Provide a function that creates scenes."""
    return lambda account: Scene(services, account, announcer)


@pytest.fixture
def scene(scene_of: Scenes, account: Opened) -> Scene:
    """Provide a scene of the account."""
    return scene_of(account)
