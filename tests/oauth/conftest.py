"""Browsers, and clients with and without a secret."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing


@pytest.fixture
def browsing(http: httpx2.AsyncClient) -> Browsing:
    """Provide a browser."""
    return Browsing(http)


@pytest.fixture
async def application(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Provide a client with a secret, like an automation platform."""
    return await add_application(services, browsing, account)


@pytest.fixture
async def public(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Provide a client without a secret, like an assistant on a user's machine."""
    return await add_application(services, browsing, account, confidential=False, uri="http://127.0.0.1/callback")
