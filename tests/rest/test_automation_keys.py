"""Automation keys, as the specification's chapter on authentication names them."""

import re
from typing import Any

import httpx2
import pytest

from app.bootstrap import Services
from app.domain.accounts.api_keys import NewKey, create_key
from app.domain.accounts.scopes import ALL, AUTOMATION
from app.domain.kernel.unit import Actor
from app.domain.onboarding.service import Opened
from tests.conftest import unit_of
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

PATH = "/automation/api-keys"
REVOKE = "mutation ($id: BigInt!) { revoke_api_key(id: $id) { revoked_at } }"


async def count(services: Services) -> int:
    return await services.database.pool.fetchval("SELECT count(*) FROM api_keys")


async def test_keys_with_prefix_auto_are_generated_through_post_automation_api_keys(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(PATH, json={"name": "Zap"}))

    answer = await api.get("/automation/subscriptions", headers={"Authorization": f"Bearer {made['key']}"})

    assert re.fullmatch(r"auto_[0-9A-Za-z]{38}", made["key"])
    assert (made["prefix"], made["name"], made["expires_at"]) == (made["key"][:8], "Zap", None)
    assert made["scopes"] == sorted(AUTOMATION)
    assert made["created_at"]
    assert data(answer) == []


async def test_they_are_automation_scoped(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(PATH, json={"name": "Zap"}))

    answer = await api.delete("/contacts/1", headers={"Authorization": f"Bearer {made['key']}"})

    assert refusal(answer)[:2] == (403, "insufficient_scope")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "name is required."),
        ({"name": " "}, "name must not be empty."),
        ({"name": "Zap", "scopes": ["ai:use"]}, "auto_ keys cannot have the scope ai:use."),
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


async def test_a_key_makes_no_key_that_may_do_more_than_itself(api: httpx2.AsyncClient, services: Services) -> None:
    small = data(await api.post(PATH, json={"name": "Small", "scopes": ["webhooks:manage"]}))
    headers = {"Authorization": f"Bearer {small['key']}"}

    refused = await api.post(PATH, json={"name": "Big", "scopes": ["messages:send"]}, headers=headers)
    child = data(await api.post(PATH, json={"name": "Child"}, headers=headers))

    assert refusal(refused)[:2] == (403, "insufficient_scope")
    assert child["scopes"] == ["webhooks:manage"]


async def test_a_revoked_key_takes_the_keys_it_made_with_it(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    async with unit_of(services, Actor(account.account_id, ALL, "owner")) as unit:
        _, text = await create_key(unit, services.secret, NewKey("Owner", scopes=list(ALL)))
    owner = {"Authorization": f"Bearer {text.text}"}
    parent = data(await http.post(PATH, json={"name": "Parent"}, headers=owner))
    child = data(await http.post(PATH, json={"name": "Child"}, headers={"X-API-Key": parent["key"]}))

    asked = {"query": REVOKE, "variables": {"id": parent["id"]}}
    assert (await http.post("/graphql", json=asked, headers=owner)).json()["data"]["revoke_api_key"]["revoked_at"]

    for key in (parent["key"], child["key"]):
        answer = await http.get("/automation/subscriptions", headers={"X-API-Key": key})
        assert refusal(answer)[:2] == (401, "unauthenticated")
