"""Deleting the account over GraphQL and REST: who may ask, what is answered, what is refused meanwhile."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.messages import MESSAGES
from tests.factories.tables import ago, ahead
from tests.graphql.calls import codes, post
from tests.graphql.people import OURS, SOFA, change_role
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

REQUEST = """
mutation ($name: String!) { request_account_deletion(confirm: $name) { account_id deletion_at credits } }
"""
WITHDRAW = "mutation { withdraw_account_deletion { id status deletion_at } }"
SHOW = "{ account { status deletion_at } }"
SEND = {"to": "+12025550143", "message": "Hello"}


@pytest.fixture
async def cookie(services: Services, account: Opened) -> str:
    """Give the cookie of a browser that the account's owner is signed in with."""
    _, token = await services.authentication.enter(account.email, account.password, SOFA)
    return f"session={token}"


async def ask(http: httpx2.AsyncClient, cookie: str, query: str, **variables: Any) -> Any:
    answer = await post(http, {"query": query, "variables": variables}, Cookie=cookie, **OURS)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_an_owner_asks_for_the_deletion_sees_its_date_and_withdraws_it(
    services: Services, http: httpx2.AsyncClient, account: Opened, cookie: str
) -> None:
    asked = (await ask(http, cookie, REQUEST, name="Blue Door"))["request_account_deletion"]
    again = (await ask(http, cookie, REQUEST, name="Blue Door"))["request_account_deletion"]
    shown = (await ask(http, cookie, SHOW))["account"]
    withdrawn = (await ask(http, cookie, WITHDRAW))["withdraw_account_deletion"]

    assert (asked["account_id"], asked["credits"], again) == (account.account_id, 1000, asked)
    left = datetime.fromisoformat(asked["deletion_at"]) - ago()
    assert timedelta(days=29, hours=23) < left <= timedelta(days=30)
    assert shown == {"status": "active", "deletion_at": asked["deletion_at"]}
    assert withdrawn == {"id": account.account_id, "status": "active", "deletion_at": None}


async def test_a_member_deletes_nothing(
    services: Services, http: httpx2.AsyncClient, account: Opened, cookie: str
) -> None:
    await change_role(services, "member")

    answer = await post(http, {"query": REQUEST, "variables": {"name": "Blue Door"}}, Cookie=cookie, **OURS)

    assert codes(answer) == ["insufficient_scope"]
    assert await ACCOUNTS.only(services, "deletion_at") is None


async def test_a_wrong_name_deletes_nothing(
    services: Services, http: httpx2.AsyncClient, account: Opened, cookie: str
) -> None:
    answer = await post(http, {"query": REQUEST, "variables": {"name": "Red Door"}}, Cookie=cookie, **OURS)

    assert codes(answer) == ["invalid_input"]
    assert await ACCOUNTS.only(services, "deletion_at") is None


@pytest.mark.parametrize(
    ("path", "body"),
    [("/sms/send", SEND | {"consent_attested": True}), ("/automation/actions/send-sms", SEND)],
)
async def test_every_route_that_sends_refuses_until_then_and_the_others_work(
    services: Services, api: httpx2.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    await ACCOUNTS.change(services, deletion_at=ahead(days=30))
    ledger = await LEDGER_ENTRIES.count(services)

    assert refusal(await api.post(path, json=body))[:2] == (403, "account_deletion_pending")

    assert (await MESSAGES.count(services), await LEDGER_ENTRIES.count(services)) == (0, ledger)
    assert data(await api.get("/billing/balance"))["balance"] == 1000
    assert data(await api.post("/contacts", json={"phone": "+12025550143"}))["phone"] == "+12025550143"


async def test_graphql_refuses_a_send_until_then(services: Services, api: httpx2.AsyncClient) -> None:
    await ACCOUNTS.change(services, deletion_at=ahead(days=30))
    send = 'mutation { send_message(to: "+12025550143", body: "Hello", consent_attested: true) { message_id } }'

    answer = await api.post("/graphql", json={"query": send})

    assert codes(answer) == ["account_deletion_pending"]
    assert await MESSAGES.count(services) == 0
