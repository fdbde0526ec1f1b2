"""Browsers, and clients of either kind."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing


@pytest.fixture
def browsing(http: httpx2.AsyncClient) -> Browsing:
    """Give a browser."""
    return Browsing(http)


@pytest.fixture
async def application(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Give a client with a secret, as an automation platform is one."""
    return await add_application(services, browsing, account)


@pytest.fixture
async def public(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Give a client without a secret, as an assistant on somebody's machine is one."""
    return await add_application(services, browsing, account, confidential=False, uri="http://127.0.0.1/callback")
