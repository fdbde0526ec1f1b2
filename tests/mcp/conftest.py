"""Assistants with a key of the account, with one of some scopes, and with an application's token."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.mcp.assistants import Assistant
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing


@pytest.fixture
def assistant(http: httpx2.AsyncClient, account: Opened) -> Assistant:
    """Provide an assistant with a key of the account."""
    return Assistant(http, account.svc_key)


@pytest.fixture
def with_scopes(http: httpx2.AsyncClient, services: Services, account: Opened) -> Callable[..., Any]:
    """Provide a function that gives an assistant a key of some scopes."""

    async def give(*scopes: str) -> Assistant:
        async with unit_of(services, Actor(account.account_id, frozenset(scopes), "test")) as unit:
            _, text = await api_keys.create_key(unit, services.secret, NewKey("Some", scopes=list(scopes)))
        return Assistant(http, text.text)

    return give


@pytest.fixture
async def application(services: Services, http: httpx2.AsyncClient, account: Opened) -> Application:
    """Provide an application that its users connect."""
    return await add_application(services, Browsing(http), account)
