"""Requests whose statements take the database too long."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.main import create_app
from app.services import Services
from tests.factories.contacts import CONTACTS, locked_contacts
from tests.shared import running
from tests.waiting import until

SECONDS = 0.2
LATE = (
    "The database did not finish the request in time. Use a narrower filter or a smaller page, or try again in a few "
    "seconds."
)


@pytest.fixture
async def hasty(services: Services, account: Opened) -> AsyncGenerator[httpx2.AsyncClient]:
    """Give a client of an application that has little time for a statement."""
    settings = services.settings.model_copy(update={"statement_timeout_seconds": SECONDS})
    async with running(create_app(settings)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        key = {"Authorization": f"Bearer {account.svc_key}"}
        async with httpx2.AsyncClient(transport=transport, base_url=settings.public_url, headers=key) as http:
            yield http


async def test_a_read_that_takes_too_long_is_answered_503_with_advice(
    services: Services, hasty: httpx2.AsyncClient
) -> None:
    async with locked_contacts(services):
        answer = await hasty.get("/contacts")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert (answer.json()["error_code"], answer.json()["error"]) == ("query_timeout", LATE)
    await until(lambda: is_answered(hasty))


async def is_answered(hasty: httpx2.AsyncClient) -> bool:
    """Return whether a read is answered; on a busy machine it may take too long without a lock."""
    return (await hasty.get("/contacts")).status_code == 200


async def test_a_change_that_takes_too_long_changes_nothing(services: Services, hasty: httpx2.AsyncClient) -> None:
    async with locked_contacts(services):
        answer = await hasty.post("/contacts", json={"phone": "+12025550143"})

    assert (answer.status_code, answer.json()["error_code"]) == (503, "query_timeout")
    assert await CONTACTS.count(services) == 0


async def test_graphql_tells_a_read_that_takes_too_long_by_the_same_code(
    services: Services, hasty: httpx2.AsyncClient
) -> None:
    async with locked_contacts(services):
        answer = (await hasty.post("/graphql", json={"query": "{ contacts { nodes { id } } }"})).json()

    assert [error["extensions"]["code"] for error in answer["errors"]] == ["query_timeout"]
    assert answer["errors"][0]["extensions"]["status"] == 503
