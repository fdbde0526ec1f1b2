"""The specification's chapter on authentication, as far as it is about API keys."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.accounts import keys
from app.domain.accounts.keys import KeyKind
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS, API_KEYS
from tests.factories.messages import MESSAGES
from tests.factories.tables import ago
from tests.rest.answers import KEY_HINT, data, refusal

pytestmark = pytest.mark.anyio

ENDPOINTS = [
    ("POST", "/sms/send"),
    ("GET", "/sms/logs"),
    ("POST", "/sms/generate"),
    ("GET", "/contacts"),
    ("POST", "/contacts"),
    ("GET", "/contacts/1"),
    ("PUT", "/contacts/1"),
    ("DELETE", "/contacts/1"),
    ("GET", "/billing/balance"),
    ("GET", "/billing/transactions"),
]
SUSPENDED = "This account is suspended and cannot send. Its keys and connections work again once it is resumed."
NOT_GOOD = "This key is unknown, expired or revoked." + KEY_HINT


@pytest.mark.parametrize(("header", "form"), [("Authorization", "Bearer {}"), ("X-API-Key", "{}")])
async def test_a_key_is_sent_as_bearer_or_as_x_api_key(
    http: httpx2.AsyncClient, account: Opened, header: str, form: str
) -> None:
    answer = await http.get("/billing/balance", headers={header: form.format(account.svc_key)})

    assert data(answer)["balance"] == 1000


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
async def test_every_endpoint_refuses_a_request_without_a_key(http: httpx2.AsyncClient, method: str, path: str) -> None:
    answer = await http.request(method, path)

    assert refusal(answer) == (401, "unauthenticated", "No key was sent." + KEY_HINT)
    metadata = "http://127.0.0.1:8000/.well-known/oauth-protected-resource"
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'


async def test_a_key_that_was_never_made_is_refused(http: httpx2.AsyncClient, account: Opened) -> None:
    answer = await http.get("/contacts", headers={"X-API-Key": keys.make(KeyKind.svc).text})

    assert refusal(answer) == (401, "unauthenticated", NOT_GOOD)


async def test_a_mistyped_key_is_refused_as_such(http: httpx2.AsyncClient, account: Opened) -> None:
    answer = await http.get("/contacts", headers={"X-API-Key": account.svc_key[:-1]})

    assert refusal(answer) == (401, "unauthenticated", "This is not a key: it was cut short or mistyped." + KEY_HINT)


@pytest.mark.parametrize("end", ["revoked_at", "expires_at"])
async def test_a_key_that_has_ended_is_refused(api: httpx2.AsyncClient, services: Services, end: str) -> None:
    assert (await api.get("/contacts")).status_code == 200

    await API_KEYS.change(services, **{end: ago()})

    assert refusal(await api.get("/contacts")) == (401, "unauthenticated", NOT_GOOD)


async def test_the_keys_of_a_suspended_account_are_refused(api: httpx2.AsyncClient, services: Services) -> None:
    await ACCOUNTS.change(services, status="suspended")

    assert refusal(await api.get("/contacts")) == (403, "account_suspended", SUSPENDED)


async def test_a_refused_key_does_nothing(http: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}

    answer = await http.post("/sms/send", json=body, headers={"X-API-Key": account.svc_key[:-1]})

    assert answer.status_code == 401
    assert await MESSAGES.count(services) == 0


@pytest.mark.parametrize(("method", "path"), [("POST", "/sms/generate"), ("DELETE", "/contacts/1")])
async def test_an_automation_key_is_refused_requests_outside_its_scopes(
    http: httpx2.AsyncClient, account: Opened, method: str, path: str
) -> None:
    body = {"description": "A sale"} if method == "POST" else None

    answer = await http.request(method, path, json=body, headers={"X-API-Key": account.auto_key})

    scope = {"/sms/generate": "ai:use", "/contacts/1": "contacts:delete"}[path]
    text = f"This needs the scope {scope}. Use a key or an access token that has it."
    assert refusal(answer) == (403, "insufficient_scope", text)
    assert answer.headers["www-authenticate"] == f'Bearer error="insufficient_scope", scope="{scope}"'


async def test_an_automation_key_sends(http: httpx2.AsyncClient, account: Opened) -> None:
    body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}

    answer = await http.post("/sms/send", json=body, headers={"X-API-Key": account.auto_key})

    assert data(answer)["status"] == "pending"


async def test_two_keys_of_two_accounts_see_two_balances(
    http: httpx2.AsyncClient, account: Opened, new_account: Callable[..., Any]
) -> None:
    other = await new_account(credits=7)

    answers = [await http.get("/billing/balance", headers={"X-API-Key": each.svc_key}) for each in (account, other)]

    assert [data(answer)["balance"] for answer in answers] == [1000, 7]
