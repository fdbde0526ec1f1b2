"""Browsers, and a count of attempts that starts anew."""

from collections.abc import AsyncGenerator

import httpx2
import pytest
from redis.asyncio import Redis

from app.bootstrap import Services
from app.domain.onboarding.service import Opened
from app.oauth.limit import REGISTRATIONS
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing


@pytest.fixture
async def fresh_attempts(services: Services) -> AsyncGenerator[None]:
    """Forget the attempts of other tests before a test, and its own after it."""
    redis = Redis.from_url(services.settings.redis_url or "")

    async def forget() -> None:
        for key in await redis.keys("attempts:*"):
            await redis.delete(key)

    await forget()
    yield
    await forget()
    await redis.aclose()


@pytest.fixture
def browsing(http: httpx2.AsyncClient, fresh_attempts: None) -> Browsing:
    """Give a browser."""
    return Browsing(http)


@pytest.fixture
async def fresh_rates(services: Services) -> AsyncGenerator[None]:
    """Forget the clients that other tests brought before a test, and its own after it."""
    redis = Redis.from_url(services.settings.redis_url or "")

    async def forget() -> None:
        for key in await redis.keys(f"rate:{REGISTRATIONS.name}:*"):
            await redis.delete(key)

    await forget()
    yield
    await forget()
    await redis.aclose()


@pytest.fixture
async def application(services: Services, browsing: Browsing, account: Opened, fresh_rates: None) -> Application:
    """Give a client with a secret, as an automation platform is one."""
    return await add_application(services, browsing, account)


@pytest.fixture
async def public(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Give a client without a secret, as an assistant on somebody's machine is one."""
    return await add_application(services, browsing, account, confidential=False, uri="http://127.0.0.1/callback")
