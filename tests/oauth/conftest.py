"""Browsers, and clients with and without a secret."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.providers import rate_limits
from app.services import Services
from tests.factories.clocks import Stopped
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing


@pytest.fixture
def browsing(http: httpx2.AsyncClient) -> Browsing:
    """Provide a browser."""
    return Browsing(http)


@pytest.fixture
def stopped_attempts(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of sign-in attempts: a wait of a second would be over before a slow machine tries again."""
    monkeypatch.setattr(services.authentication.attempts, "_clock", Stopped())


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the limits of anonymous requests regain next to nothing while a test runs, and refuse without a delay."""
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 1_000_000)
    monkeypatch.setattr(rate_limits, "REFUSAL_SECONDS", 0)


@pytest.fixture
async def application(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Provide a client with a secret, like an automation platform."""
    return await add_application(services, browsing, account)


@pytest.fixture
async def public(services: Services, browsing: Browsing, account: Opened) -> Application:
    """Provide a client without a secret, like an assistant on a user's machine."""
    return await add_application(services, browsing, account, confidential=False, uri="http://127.0.0.1/callback")
