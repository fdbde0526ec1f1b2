"""A service account: an owner invites it, and it connects an assistant with the SDK."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import id_of_user
from tests.factories.messages import MESSAGES
from tests.factories.oauth import OAUTH_GRANTS
from tests.mcp.assistants import Assistant
from tests.oauth.applications import TOOLS, Application, Pkce
from tests.oauth.mailbox import deliver, link

pytestmark = pytest.mark.anyio

EMAIL, PASSWORD = "robot@example.com", "seven green bicycles"
ONLY = "A service user signs in to connect applications only."
OURS = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8000"}
TEXT = {"to": "+12025550143", "message": "Hi", "consent_attested": True}


async def ask(http: httpx2.AsyncClient, query: str) -> Any:
    return (await http.post("/graphql", json={"query": query}, headers=OURS)).json()


@pytest.fixture
async def robot(application: Application, services: Services, account: Opened) -> Application:
    """Provide an application whose user is a service account that has chosen its password."""
    browsing = application.browsing
    await browsing.enter(account)
    await ask(browsing.client, f'mutation {{ invite_user(email: "{EMAIL}", role: service) {{ id }} }}')
    [mail] = await deliver(services)
    browsing.client.cookies.clear()
    await browsing.send(await browsing.form(link(mail)), password=PASSWORD)
    return replace(application, account=replace(account, email=EMAIL, password=PASSWORD))


@asynccontextmanager
async def connect(http: httpx2.AsyncClient, token: str) -> AsyncGenerator[Any]:
    """Connect the SDK's client with a token."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    http.headers["Authorization"] = f"Bearer {token}"
    async with Client(streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)) as client:
        yield client
    del http.headers["Authorization"]


async def test_a_service_account_uses_tools_under_its_own_name(
    robot: Application, http: httpx2.AsyncClient, services: Services
):
    token = (await robot.connect_tools())["access_token"]

    async with connect(http, token) as client:
        sent = await client.call_tool("send_sms", TEXT)
        account = await client.read_resource("sms://account")

    assert (sent.is_error, sent.structured_content["segments"]) == (False, 1)
    assert EMAIL in account.contents[0].text
    user = await id_of_user(services, email=EMAIL)
    grant = await OAUTH_GRANTS.where(user_id=user).only(services, "id")
    assert await MESSAGES.read(services, "actor") == [f"grant:{grant}"]


async def test_a_service_account_signs_in_to_connect_applications_and_to_nothing_else(robot: Application):
    await robot.browsing.sign_in(EMAIL, PASSWORD)

    dashboard = await robot.browsing.get("/app/")
    asked = await ask(robot.browsing.client, "{ viewer { email } }")

    assert (dashboard.status_code, dashboard.headers["location"]) == (303, "/account")
    [refused] = asked["errors"]
    assert refused["extensions"]["code"] == "unauthenticated"
    assert refused["message"].startswith(ONLY)


async def test_a_service_account_is_refused_a_tool_beyond_its_permissions(
    robot: Application, http: httpx2.AsyncClient, services: Services
):
    narrow = Assistant(http, (await robot.connect_tools("account:read contacts:read"))["access_token"])

    refused = await narrow.post("tools/call", {"name": "send_sms", "arguments": TEXT})

    assert (refused.status_code, refused.json()["error_code"]) == (403, "insufficient_scope")
    assert await MESSAGES.count(services) == 0


async def test_a_service_account_that_is_removed_ends_at_once(
    robot: Application, http: httpx2.AsyncClient, services: Services, account: Opened
):
    tokens = await robot.connect_tools()
    connected = Assistant(http, tokens["access_token"])
    before = (await connected.post("tools/list")).status_code
    user = await id_of_user(services, email=EMAIL)
    robot.browsing.client.cookies.clear()
    await robot.browsing.enter(account)

    removed = await ask(robot.browsing.client, f"mutation {{ remove_user(id: {user}) {{ email }} }}")

    assert removed["data"] == {"remove_user": {"email": EMAIL}}
    assert (before, (await connected.post("tools/list")).status_code) == (200, 401)
    assert (await robot.refresh(tokens["refresh_token"])).status_code == 400
    robot.browsing.client.cookies.clear()
    assert "The e-mail address or the password is wrong." in (await robot.consent(resource=TOOLS, **Pkce().asked)).text


async def test_keys_and_tokens_of_automation_platforms_are_refused_at_the_tools(
    robot: Application, http: httpx2.AsyncClient, account: Opened
):
    automation = (await robot.connect())["access_token"]

    answers = [await Assistant(http, each).post("tools/list") for each in (account.auto_key, automation)]

    assert [(each.status_code, each.json()["error_code"]) for each in answers] == [
        (403, "key_not_for_tools"),
        (401, "unauthenticated"),
    ]
