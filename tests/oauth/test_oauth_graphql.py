"""Clients and connected applications through the contract."""

from typing import Any

import httpx2
import orjson
import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth.clients import MAX_CLIENTS
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES
from tests.factories.oauth import OAUTH_CLIENTS, add_clients
from tests.factories.tables import ago
from tests.oauth.applications import BASE, REDIRECT, REVOKE, Application, bearer
from tests.oauth.browsing import Browsing

pytestmark = pytest.mark.anyio

SHOWN = """
fragment Shown on OauthClient {
  id client_id name redirect_uris scopes confidential creator { kind } last_used_at revoked_at
}
"""
CREATE = (
    """
mutation ($name: String!, $uris: [String!]!, $scopes: [String!], $confidential: Boolean! = true) {
  create_oauth_client(name: $name, redirect_uris: $uris, scopes: $scopes, confidential: $confidential) {
    client_id client_secret client { ...Shown }
  }
}
"""
    + SHOWN
)
ROTATE = "mutation ($id: BigInt!) { rotate_oauth_client_secret(id: $id) { client_id client_secret } }"
REVOKE_CLIENT = "mutation ($id: BigInt!) { revoke_oauth_client(id: $id) { revoked_at } }"
REVOKE_GRANT = "mutation ($id: BigInt!) { revoke_oauth_grant(id: $id) { client_name revoked_at } }"
CLIENTS = "{ oauth_clients { ...Shown } }" + SHOWN
GRANTS = "{ oauth_grants { id client_id client_name user { email } scopes resource last_used_at revoked_at } }"


@pytest.fixture
async def owner(services: Services, account: Opened) -> str:
    """Give a key that may do everything."""
    async with unit_of(services, Actor(account.account_id, ALL, "test")) as unit:
        _, text = await api_keys.create_key(unit, services.secret, NewKey("Owner's", scopes=sorted(ALL)))
    return text.text


async def ask(http: httpx2.AsyncClient, key: str, query: str, **variables: Any) -> Any:
    answer = await http.post("/graphql", json={"query": query, "variables": variables}, headers=bearer(key))
    body = orjson.loads(answer.content)
    return [error["extensions"]["code"] for error in body["errors"]] if "errors" in body else body["data"]


async def actions(services: Services) -> list[str]:
    rows = await AUDIT_ENTRIES.read(services, "action", "subject")
    return [f"{row['action']} {row['subject']}" for row in rows if "oauth" in row["action"] or "appl" in row["action"]]


async def test_a_client_is_made_and_works(
    http: httpx2.AsyncClient, owner: str, browsing: Browsing, account: Opened, services: Services
):
    made = (await ask(http, owner, CREATE, name=" CRM ", uris=[REDIRECT]))["create_oauth_client"]

    client = made["client"]
    assert (client["name"], client["redirect_uris"], client["confidential"]) == ("CRM", [REDIRECT], True)
    assert client["scopes"] == sorted(GENERAL)
    assert made["client_id"] == client["client_id"]
    application = Application(http, browsing, account, client["id"], made["client_id"], made["client_secret"])
    assert (await application.connect())["scope"].split() == sorted(AUTOMATION)
    [listed] = (await ask(http, owner, CLIENTS))["oauth_clients"]
    assert listed["last_used_at"] is not None
    assert await actions(services) == ["oauth_client_created CRM", "application_connected CRM"]


async def test_a_public_client_has_no_secret(http: httpx2.AsyncClient, owner: str):
    made = (await ask(http, owner, CREATE, name="CRM", uris=[REDIRECT], confidential=False))["create_oauth_client"]

    assert made["client_secret"] is None
    assert made["client"]["confidential"] is False
    assert await ask(http, owner, ROTATE, id=made["client"]["id"]) == ["conflict"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": " "}, "invalid_input"),
        ({"name": "x" * 101}, "invalid_input"),
        ({"uris": []}, "invalid_redirect_uri"),
        ({"uris": ["http://crm.example.com/callback"]}, "invalid_redirect_uri"),
        ({"scopes": []}, "invalid_input"),
        ({"scopes": ["everything"]}, "invalid_input"),
        ({"scopes": ["account:write"]}, "invalid_input"),
    ],
)
async def test_an_invalid_client_is_refused(
    http: httpx2.AsyncClient, owner: str, services: Services, given: dict[str, Any], code: str
):
    assert await ask(http, owner, CREATE, **({"name": "CRM", "uris": [REDIRECT]} | given)) == [code]
    assert await OAUTH_CLIENTS.count(services) == 0


async def test_an_account_has_a_hundred_clients_at_most(http: httpx2.AsyncClient, owner: str, services: Services):
    await add_clients(services, await ACCOUNTS.only(services, "id"), MAX_CLIENTS)

    assert await ask(http, owner, CREATE, name="CRM", uris=[REDIRECT]) == ["conflict"]
    await OAUTH_CLIENTS.where(client_id="1").change(services, revoked_at=ago())
    assert "create_oauth_client" in await ask(http, owner, CREATE, name="CRM", uris=[REDIRECT])


async def test_a_new_secret_works_and_the_old_one_does_not(
    http: httpx2.AsyncClient, owner: str, application: Application, services: Services
):
    tokens = await application.connect()

    made = (await ask(http, owner, ROTATE, id=application.id))["rotate_oauth_client_secret"]

    assert (await application.refresh(tokens["refresh_token"])).status_code == 401
    application.secret = made["client_secret"]
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200
    assert (await actions(services))[-1] == "oauth_client_secret_rotated Pipelines"


async def test_revoking_a_client_ends_its_connections(
    http: httpx2.AsyncClient, owner: str, application: Application, services: Services
):
    tokens = await application.connect()

    for _ in range(2):
        answer = await ask(http, owner, REVOKE_CLIENT, id=application.id)
        assert answer["revoke_oauth_client"]["revoked_at"] is not None

    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert (await application.refresh(tokens["refresh_token"])).status_code == 401
    assert (await application.ask()).status_code == 400
    assert (await ask(http, owner, GRANTS))["oauth_grants"] == []
    assert (await actions(services)).count("oauth_client_revoked Pipelines") == 1
    assert await ask(http, owner, ROTATE, id=application.id) == ["conflict"]


async def test_connected_applications_are_listed_and_disconnected(
    http: httpx2.AsyncClient, owner: str, application: Application, services: Services, account: Opened
):
    tokens = await application.connect(scope="contacts:read")
    await application.code()

    [listed] = (await ask(http, owner, GRANTS))["oauth_grants"]

    assert (listed["client_id"], listed["client_name"]) == (application.client_id, "Pipelines")
    assert (listed["user"]["email"], listed["scopes"]) == (account.email, ["contacts:read"])
    assert (listed["resource"], listed["revoked_at"]) == (BASE, None)
    for _ in range(2):
        answer = await ask(http, owner, REVOKE_GRANT, id=listed["id"])
        assert answer["revoke_oauth_grant"]["revoked_at"] is not None
    assert (await ask(http, owner, GRANTS))["oauth_grants"] == []
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert (await actions(services)).count("application_disconnected Pipelines") == 1


async def test_an_application_cannot_see_make_or_end_applications(http: httpx2.AsyncClient, application: Application):
    token = (await application.connect())["access_token"]

    assert await ask(http, token, CREATE, name="CRM", uris=[REDIRECT]) == ["insufficient_scope"]
    assert await ask(http, token, REVOKE_CLIENT, id=application.id) == ["insufficient_scope"]
    assert await ask(http, token, GRANTS) == await ask(http, token, CLIENTS) == ["insufficient_scope"]


async def works(http: httpx2.AsyncClient, key: str) -> bool:
    answer = await http.get("/automation/subscriptions", headers=bearer(key))
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


async def make_key(http: httpx2.AsyncClient, token: str) -> str:
    answer = await http.post("/automation/api-keys", json={"name": "Zap"}, headers=bearer(token))
    return answer.json()["data"]["key"]


async def test_a_key_that_an_application_made_ends_when_its_token_is_handed_back(
    http: httpx2.AsyncClient, application: Application
):
    tokens = await application.connect()
    key = await make_key(http, tokens["access_token"])
    assert await works(http, key)

    assert (await application.post(REVOKE, token=tokens["refresh_token"])).status_code == 200

    assert (await works(http, tokens["access_token"]), await works(http, key)) == (False, False)


@pytest.mark.parametrize("what", [REVOKE_CLIENT, REVOKE_GRANT])
async def test_a_key_that_an_application_made_ends_when_the_application_is_disconnected_or_revoked(
    http: httpx2.AsyncClient, owner: str, application: Application, what: str
):
    key = await make_key(http, (await application.connect())["access_token"])
    [grant] = (await ask(http, owner, GRANTS))["oauth_grants"]

    await ask(http, owner, what, id=application.id if what == REVOKE_CLIENT else grant["id"])

    assert not await works(http, key)
