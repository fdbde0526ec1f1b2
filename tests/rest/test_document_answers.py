"""Answers, headers and requests of the documents, in blocks that are no commands, beside those of the service."""

import json
import re
from pathlib import Path

import httpx2
import pytest

from app.domain.accounts.scopes import Scope
from app.domain.integrations import service as integrations
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.callbacks import read_inbound, read_status
from app.services import Services
from tests.conftest import unit_of
from tests.factories.integrations import INTEGRATION_EVENTS

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return re.findall(rf"```{language}\n(.*?)\n```", (DOCS / page).read_text(), re.S)


async def test_the_error_on_the_page_has_the_members_and_the_texts_of_an_error(
    api: httpx2.AsyncClient, services: Services
) -> None:
    [shown] = map(json.loads, blocks("rest.md", "json"))

    answer = (await api.put("/contacts/17", json={"first_name": "Ann"})).json()

    shown["docs"] = shown["docs"].replace("https://sms.example.com", services.settings.public_url)
    shown["request_id"] = answer["request_id"]
    assert list(shown.items()) == list(answer.items())


async def test_the_headers_on_the_page_are_those_of_the_first_request_of_a_key(api: httpx2.AsyncClient) -> None:
    [shown] = blocks("rest.md", "http")

    headers = (await api.get("/contacts")).headers

    names = ("RateLimit-Policy", "RateLimit")
    assert [f"{name}: {headers[name]}" for name in names] == shown.splitlines()


def test_the_callbacks_on_the_page_are_callbacks_of_the_sandbox() -> None:
    [shown] = blocks("sandbox.md", "json")
    status, inbound = shown.encode().splitlines()

    receipt, message = read_status(status), read_inbound(inbound)

    assert (receipt.reference, receipt.code) == (12, "filtered")
    assert (message.from_number, message.body) == ("+15005550401", "STOP")


async def test_the_request_to_an_inbound_webhook_on_the_page_is_accepted(
    services: Services, account: Opened, http: httpx2.AsyncClient
) -> None:
    shown = blocks("connectors.md", "text")[-1]
    request, *headers = shown.partition("\n\n")[0].splitlines()
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        paths = {"paths": {"phone": "order.phone", "first_name": "order.name"}}
        hook, secret = await integrations.add_webhook(unit, services.intake.ports, "Shop", paths)

    method, url = request.replace("https://HOST", "").replace("ADDRESS", hook.address).split()
    given = dict(line.replace("SECRET", secret).split(": ") for line in headers)
    answer = await http.request(method, url, headers=given, content=shown.partition("\n\n")[2])

    assert answer.status_code == 202
    assert await INTEGRATION_EVENTS.count(services) == 1
