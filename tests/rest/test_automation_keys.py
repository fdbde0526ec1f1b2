"""Automation keys, as the specification's chapter on authentication names them."""

import re
from datetime import datetime
from typing import Any

import httpx2
import pytest

from app.domain.accounts.api_keys import NewKey, create_key
from app.domain.accounts.scopes import ALL, AUTOMATION
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.main import create_app
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import API_KEYS
from tests.factories.tables import ago
from tests.rest.answers import data, refusal
from tests.shared import running

pytestmark = pytest.mark.anyio

PATH = "/automation/api-keys"
REVOKE = "mutation ($id: BigInt!) { revoke_api_key(id: $id) { revoked_at } }"
LIST = "{ api_keys { id name revoked_at } }"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def ask(http: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    return (await http.post("/graphql", json={"query": query, "variables": variables})).json()["data"]


async def key_of(services: Services, account: Opened, name: str, *scopes: str) -> str:
    """Give the text of a key that the account made itself."""
    async with unit_of(services, Actor(account.account_id, ALL, "cli")) as unit:
        return (await create_key(unit, services.secret, NewKey(name, scopes=scopes)))[1].text


async def works(http: httpx2.AsyncClient, key: str) -> bool:
    answer = await http.get("/automation/subscriptions", headers=bearer(key))
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


async def count(services: Services) -> int:
    return await API_KEYS.count(services)


async def test_keys_with_prefix_auto_are_generated_through_post_automation_api_keys(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(PATH, json={"name": "Zap"}))

    answer = await api.get("/automation/subscriptions", headers={"Authorization": f"Bearer {made['key']}"})

    assert re.fullmatch(r"auto_[0-9A-Za-z]{38}", made["key"])
    assert (made["prefix"], made["name"], made["expires_at"]) == (made["key"][:8], "Zap", None)
    assert made["scopes"] == sorted(AUTOMATION)
    assert made["created_at"]
    assert data(answer) == []


async def test_a_key_is_shown_to_end_when_the_key_that_made_it_does(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    ends = "2099-01-31T09:30:00.000Z"
    await API_KEYS.change(services, expires_at=datetime.fromisoformat(ends))

    made = data(await api.post(PATH, json={"name": "Zap"}))
    sooner = data(await api.post(PATH, json={"name": "Zap", "expires_at": "2098-01-31T09:30:00Z"}))

    assert (made["expires_at"], sooner["expires_at"]) == (ends, "2098-01-31T09:30:00.000Z")


async def test_they_are_automation_scoped(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(PATH, json={"name": "Zap"}))

    answer = await api.delete("/contacts/1", headers={"Authorization": f"Bearer {made['key']}"})

    assert refusal(answer)[:2] == (403, "insufficient_scope")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "name is required."),
        ({"name": " "}, "name must have 1 to 100 characters."),
        ({"name": "x" * 101}, "name must have 1 to 100 characters."),
        ({"name": "Zap", "scopes": []}, "scopes must name at least one scope. Leave them out for the default ones."),
        (
            {"name": "Zap", "scopes": ["agents:read"]},
            "auto_ keys cannot have the scope agents:read. Choose from: account:read, ai:use, billing:read, "
            "campaigns:read, campaigns:send, contacts:read, contacts:write, messages:read, messages:send, "
            "numbers:read, webhooks:manage.",
        ),
        ({"name": "Zap", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at must be in the future."),
        (
            {"name": "Zap", "expires_at": "tomorrow"},
            "expires_at must be a date and time with an offset, such as 2026-01-31T09:30:00Z.",
        ),
    ],
)
async def test_a_key_that_cannot_be_is_refused(
    api: httpx2.AsyncClient, services: Services, body: Any, text: str
) -> None:
    before = await count(services)

    assert refusal(await api.post(PATH, json=body)) == (422, "invalid_input", text)
    assert await count(services) == before


async def test_a_key_makes_no_key_that_may_do_more_than_itself(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    small = await key_of(services, account, "Small", "webhooks:manage")

    refused = await http.post(PATH, json={"name": "Big", "scopes": ["messages:send"]}, headers=bearer(small))
    child = data(await http.post(PATH, json={"name": "Child"}, headers=bearer(small)))

    assert refusal(refused)[:2] == (403, "insufficient_scope")
    assert child["scopes"] == ["webhooks:manage"]


async def test_an_automation_key_cannot_create_keys(api: httpx2.AsyncClient, services: Services) -> None:
    made = data(await api.post(PATH, json={"name": "Zap"}))
    before = await count(services)

    answer = await api.post(PATH, json={"name": "Child"}, headers=bearer(made["key"]))

    text = (
        "This key cannot create keys, because it is an auto_ key, or a key that another key created or rotated. "
        "Sign in, or use another key."
    )
    assert refusal(answer) == (403, "key_cannot_create_keys", text)
    assert await count(services) == before


async def test_a_revoked_key_takes_the_keys_it_made_with_it(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    http.headers.update(bearer(await key_of(services, account, "Owner", *ALL)))
    parent = await key_of(services, account, "Parent", "webhooks:manage")
    child = data(await http.post(PATH, json={"name": "Child"}, headers=bearer(parent)))["key"]
    assert (await works(http, parent), await works(http, child)) == (True, True)

    [id] = [key["id"] for key in (await ask(http, LIST))["api_keys"] if key["name"] == "Parent"]
    await ask(http, REVOKE, id=id)

    assert (await works(http, parent), await works(http, child)) == (False, False)
    assert [key["name"] for key in (await ask(http, LIST))["api_keys"] if key["revoked_at"]] == ["Child", "Parent"]


async def test_a_key_made_with_one_that_a_process_still_remembers_ends_with_it(
    services: Services, account: Opened
) -> None:
    settings = services.settings.model_copy(update={"key_cache_seconds": 3600})
    parent = await key_of(services, account, "Parent", "webhooks:manage")
    async with running(create_app(settings)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=settings.public_url) as http:
            assert await works(http, parent)
            await API_KEYS.where(name="Parent").change(services, revoked_at=ago())

            child = data(await http.post(PATH, json={"name": "Child"}, headers=bearer(parent)))

            assert (await works(http, parent), await works(http, child["key"])) == (True, False)
