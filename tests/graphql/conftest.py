"""A server, and accounts with events."""

from collections.abc import AsyncGenerator

import pytest

from app.domain.onboarding.service import Opened
from app.jobs.live import Announcer
from app.services import Services
from tests.factories.accounts import id_of_user
from tests.factories.notices import NOTICE_PREFERENCES
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
async def scene(scene_of: Scenes, services: Services, account: Opened) -> Scene:
    """Provide a scene of the account, whose owner wants no notices of texts."""
    owner = await id_of_user(services, email=account.email)
    values = {"account_id": account.account_id, "in_browser": False, "by_mail": False}
    await NOTICE_PREFERENCES.insert(services, user_id=owner, kind="new_message", **values)
    return scene_of(account)
