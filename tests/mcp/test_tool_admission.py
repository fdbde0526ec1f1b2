"""Admission of requests: credentials, scopes, selections, bodies and hosts."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import orjson
import pytest

from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.mcp.endpoint import MAX_BODY
from app.mcp.places import MisdirectedRequest, OriginNotAllowed, Places
from app.mcp.requests import INVALID_REQUEST, NO_ID
from app.operations.surface import CATEGORIES
from app.providers import rate_limits
from app.providers.rate_limits import Policy
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.tables import ago
from tests.mcp.assistants import Assistant
from tests.oauth.applications import Application

pytestmark = pytest.mark.anyio

RESOURCE = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp"'
TEXT = {"to": "+12025550143", "message": "Hi", "consent_attested": True}
SEND = {"name": "send_sms", "arguments": TEXT}


class Unread(httpx2.AsyncByteStream):
    """A body that fails the test when it is read."""

    async def __aiter__(self):
        pytest.fail("the body was read")
        yield b""


async def test_without_a_key_the_body_is_not_read(http: httpx2.AsyncClient):
    answer = await http.post("/mcp", content=Unread())

    assert (answer.status_code, answer.json()["error_code"]) == (401, "unauthenticated")
    assert RESOURCE in answer.headers["www-authenticate"]


async def test_a_token_without_the_scope_of_a_tool_is_asked_for_it_and_for_those_that_it_has(
    application: Application, http: httpx2.AsyncClient, services: Services
):
    token = (await application.connect_tools("account:read contacts:read"))["access_token"]

    answer = await Assistant(http, token).post("tools/call", SEND)

    assert (answer.status_code, answer.json()["error_code"]) == (403, "insufficient_scope")
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer error="insufficient_scope"')
    assert 'scope="account:read contacts:read messages:send"' in challenge
    assert RESOURCE in challenge
    assert await MESSAGES.count(services) == 0


async def test_an_application_is_shown_all_tools_and_a_key_those_of_its_scopes(
    application: Application, http: httpx2.AsyncClient, assistant: Assistant, with_scopes: Callable[..., Any]
):
    token = (await application.connect_tools("account:read contacts:read"))["access_token"]
    narrow = await with_scopes("contacts:read")

    every = await assistant.list()
    assert await Assistant(http, token).list() == every
    shown = await narrow.list()
    assert {"search_contacts", "get_contact"} <= set(shown) < set(every)
    assert "send_sms" not in shown
    refused = await narrow.post("tools/call", SEND)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "insufficient_scope")


async def test_a_revoked_credential_is_refused_at_its_next_request(
    application: Application, http: httpx2.AsyncClient, assistant: Assistant, services: Services
):
    connected = Assistant(http, (await application.connect_tools())["access_token"])
    before = [(await each.post("tools/list")).status_code for each in (assistant, connected)]
    await API_KEYS.change(services, revoked_at=ago())
    await OAUTH_GRANTS.change(services, revoked_at=ago())

    after = [(await each.post("tools/list")).status_code for each in (assistant, connected)]

    assert (before, after) == ([200, 200], [401, 401])


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("/mcp?toolsets=contacts,billing", {}),
        ("/mcp/", {"X-MCP-Toolsets": "Billing, contacts"}),
        ("/mcp?toolsets=all", {"X-MCP-Toolsets": "contacts,billing"}),
    ],
)
async def test_a_connection_selects_categories(assistant: Assistant, address: str, headers: dict[str, str]):
    assistant.address, assistant.headers = address, headers

    shown = await assistant.list()
    assert {"search_contacts", "get_balance"} <= set(shown)
    assert "send_sms" not in shown
    refused = await assistant.post("tools/call", SEND)
    assert refused.json()["error"]["code"] == -32602


@pytest.mark.parametrize("name", ["readonly", "confirm"])
async def test_a_flag_that_is_misspelled_is_refused(assistant: Assistant, services: Services, name: str):
    call = {"name": "create_contact", "arguments": {"phone": "+12025550143"}}
    refused: list[httpx2.Response] = []
    for address, headers in ((f"/mcp?{name}=maybe", {}), ("/mcp", {f"X-MCP-{name}": "ture"})):
        assistant.address, assistant.headers = address, headers
        refused.append(await assistant.post("tools/call", call))

    assert [(each.status_code, each.json()["field"]) for each in refused] == [(422, name)] * 2
    assert await CONTACTS.count(services) == 0


@pytest.mark.parametrize(("address", "header"), [("/mcp?readonly=1", ""), ("/mcp", "true"), ("/mcp", "on")])
async def test_a_connection_that_only_reads_cannot_send(
    assistant: Assistant, services: Services, address: str, header: str
):
    assistant.address, assistant.headers = address, {"X-MCP-Readonly": header}

    tools = (await assistant.ask("tools/list"))["tools"]
    assert [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]] == []
    assert (await assistant.post("tools/call", SEND)).json()["error"]["code"] == -32602
    assert await MESSAGES.count(services) == 0
    assert (await assistant.call("export_contacts"))["status"] == "waiting"


async def test_an_unknown_toolset_is_refused_with_the_known_ones(assistant: Assistant):
    assistant.address = "/mcp?toolsets=contact"

    answer = await assistant.post("tools/list")

    assert (answer.status_code, answer.json()["error_code"]) == (422, "invalid_input")
    assert ", ".join(CATEGORIES) in answer.json()["error"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_without_sessions_there_is_nothing_to_listen_to_and_to_end(
    assistant: Assistant, http: httpx2.AsyncClient, method: str
):
    answer = await http.request(method, "/mcp", headers={"Authorization": f"Bearer {assistant.credential}"})

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


CALL = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SEND})


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff\xfe" + CALL.decode().encode("utf-16-le"), 400, -32700),
        (CALL.decode().encode("utf-16"), 400, -32700),
        (b"[" * 100_000, 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + orjson.dumps(SEND) + b',"x":NaN}', 400, -32700),
        (b"[" + CALL + b"]", 400, -32600),
        (b"5", 400, -32600),
        (b"{}", 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', 400, -32600),
    ],
)
@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_body_that_is_not_one_message_is_refused(
    assistant: Assistant, services: Services, version: str, body: bytes, status: int, code: int
):
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "send_sms"}

    answer = await assistant.send(body, headers)

    assert answer.status_code == status
    assert answer.json().get("error", {}).get("code", code) in (code, -32602)
    assert await MESSAGES.count(services) == 0


@pytest.mark.parametrize("id", [b"null", b"true", b"1.5", b"[1]", b"{}"])
@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_request_whose_id_is_neither_a_string_nor_an_integer_is_refused(
    assistant: Assistant, services: Services, version: str, id: bytes
):
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "send_sms"}

    answer = await assistant.send(CALL.replace(b'"id":1', b'"id":' + id), headers)

    assert (answer.status_code, answer.json()["error"]) == (400, {"code": INVALID_REQUEST, "message": NO_ID})
    assert await MESSAGES.count(services) == 0


async def test_of_a_member_that_is_there_twice_all_parsers_read_the_last(assistant: Assistant, services: Services):
    answer = await assistant.send(CALL[:-1] + b',"method":"tools/list"}', {"MCP-Protocol-Version": "2025-11-25"})

    assert answer.headers["ratelimit"].startswith('"requests";')
    assert "inputSchema" in answer.text
    assert await MESSAGES.count(services) == 0


async def test_a_body_that_is_too_large_is_refused(assistant: Assistant):
    answer = await assistant.send(b" " * (MAX_BODY + 1))

    assert (answer.status_code, answer.json()["error_code"]) == (413, "body_too_large")


async def test_a_header_that_names_another_tool_than_the_body_is_refused(assistant: Assistant, services: Services):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "get_balance"}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**SEND, "_meta": meta}}

    answer = await assistant.send(orjson.dumps(body), headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
    assert await MESSAGES.count(services) == 0


async def test_calls_count_as_the_same_operations_of_other_surfaces(assistant: Assistant):
    read, sent = await assistant.post("tools/list"), await assistant.post("tools/call", SEND)

    assert read.headers["ratelimit"].startswith('"requests";')
    assert sent.headers["ratelimit"].startswith('"sends";')


async def test_beyond_the_limit_of_a_key_a_call_is_refused(
    assistant: Assistant, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    own = Actor(
        account.account_id, frozenset(), f"key:{await API_KEYS.where(prefix=account.svc_key[:8]).only(services, 'id')}"
    )
    with monkeypatch.context() as patch:
        patch.setattr(rate_limits, "WINDOW_SECONDS", 1_000_000)
        await services.limits.rates.take(Policy(services.limits.requests.name, 1), own)

    answer = await assistant.post("tools/list")

    assert (answer.status_code, answer.json()["error_code"]) == (429, "rate_limited")


def places(base_url: str, environment: str) -> Places:
    return Places(Settings(_env_file=None, base_url=base_url, environment=environment))


@pytest.mark.parametrize("host", ["sms.example.com", "SMS.example.com", "sms.example.com:443"])
def test_in_production_the_host_is_that_of_the_service_and_pages_of_every_site_may_ask(host: str):
    places("https://sms.example.com", "production").check({"host": host, "origin": "https://inspector.example.com"})


@pytest.mark.parametrize("host", ["", "evil.example.com", "sms.example.com:8443", "sms.example.com.evil.example"])
def test_in_production_another_host_is_refused(host: str):
    with pytest.raises(MisdirectedRequest):
        places("https://sms.example.com", "production").check({"host": host})


@pytest.mark.parametrize(("origin", "is_own"), [("http://localhost:6274", True), ("http://evil.example", False)])
def test_in_development_only_pages_of_this_machine_may_ask(origin: str, is_own: bool):
    own = places("http://127.0.0.1:8000", "development")
    headers = {"host": "127.0.0.1:8000", "origin": origin}
    if is_own:
        own.check(headers)
    else:
        with pytest.raises(OriginNotAllowed):
            own.check(headers)


async def test_requests_that_come_before_the_start_wait_for_it(http: httpx2.AsyncClient, account: Opened):
    assistants = [Assistant(http, account.svc_key) for _ in range(8)]

    found = await asyncio.gather(*(each.call("get_balance") for each in assistants))

    assert {each["balance"] for each in found} == {1000}
