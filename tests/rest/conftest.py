"""The toy service, for tests of the behaviour of all endpoints; and an automation platform, with each kind of key."""

import httpx2
import pytest
from fastapi import FastAPI

from app.domain.onboarding.service import Opened
from tests.rest.toy import Toy, serve


@pytest.fixture
def toy() -> Toy:
    return Toy(names={1: "Ann", 2: "Bob", 3: "Cid", 4: "Dee", 5: "Eve"})


@pytest.fixture
def app(toy: Toy) -> FastAPI:
    return serve(toy)


@pytest.fixture(params=["svc_key", "auto_key"])
def platform(request: pytest.FixtureRequest, http: httpx2.AsyncClient, account: Opened) -> httpx2.AsyncClient:
    """Provide a client with a general key of the account, then one with an automation key."""
    http.headers["Authorization"] = f"Bearer {getattr(account, request.param)}"
    return http
