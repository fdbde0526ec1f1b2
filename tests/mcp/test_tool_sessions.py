"""Sessions of one web process: they belong to the credential that opened them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.mcp import transport
from app.mcp.requests import INVALID_REQUEST
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import ACCOUNTS, API_KEYS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.traps import locked, until_blocked
from tests.graphql.live import Served, serving
from tests.mcp.assistants import Assistant, read_event, told
from tests.waiting import PATIENCE_SECONDS, within

pytestmark = pytest.mark.anyio

LIST = ("tools/list", {})
TEXT = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
SEND = ("tools/call", {"name": "send_sms", "arguments": TEXT})


@pytest.fixture(autouse=True)
def patient_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a request wait for the end of the one with its id that was just answered: all of an assistant have one id."""
    monkeypatch.setattr(transport, "PATIENCE_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
async def served(settings: Settings, services: Services) -> AsyncGenerator[Served]:
    async with serving(settings.model_copy(update={"mcp_sessions": "on"})) as served:
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=served.base_url, timeout=30) as client:
        yield client


async def begin(assistant: Assistant) -> dict[str, str]:
    """Open a session; return its header."""
    answer = await assistant.shake_hands()
    assert answer.status_code == 200, answer.text
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def test_a_session_lives_until_its_client_ends_it(client: httpx2.AsyncClient, account: Opened):
    assistant = Assistant(client, account.svc_key)
    session = await begin(assistant)

    listed = read_event(await assistant.post_legacy(*LIST, **session))
    ended = await client.delete("/mcp", headers={"Authorization": f"Bearer {account.svc_key}", **session})
    after = await assistant.post_legacy(*LIST, **session)

    assert "get_balance" in {tool["name"] for tool in listed["result"]["tools"]}
    assert (ended.status_code, after.status_code) == (200, 404)


async def test_to_another_credential_a_session_does_not_exist(
    client: httpx2.AsyncClient, account: Opened, with_scopes: Callable[..., Any], new_account: Callable[..., Any]
):
    session = await begin(Assistant(client, account.svc_key))
    same_account = Assistant(client, (await with_scopes("contacts:read")).credential)
    other_account = Assistant(client, (await new_account(company_name="Others")).svc_key)

    for thief in (same_account, other_account):
        assert (await thief.post_legacy(*LIST, **session)).status_code == 404
        ended = await client.delete("/mcp", headers={"Authorization": f"Bearer {thief.credential}", **session})
        assert ended.status_code == 404
    assert (await Assistant(client, account.svc_key).post_legacy(*LIST, **session)).status_code == 200


async def test_a_session_id_that_a_client_made_up_is_refused(client: httpx2.AsyncClient, account: Opened):
    answer = await Assistant(client, account.svc_key).shake_hands(**{"Mcp-Session-Id": "mine"})

    assert answer.status_code == 404


async def test_a_request_without_a_session_is_told_how_to_begin_one(client: httpx2.AsyncClient, account: Opened):
    assistant = Assistant(client, account.svc_key)

    answer = await assistant.post_legacy(*LIST)
    stream = await client.get("/mcp", headers={"Authorization": f"Bearer {account.svc_key}"})

    error = {"code": INVALID_REQUEST, "message": transport.UNOPENED}
    assert "Send the request initialize first" in transport.UNOPENED
    assert (answer.status_code, answer.json()) == (400, {"jsonrpc": "2.0", "id": 1, "error": error})
    assert (stream.status_code, stream.json()["error"]) == (400, error)
    assert "result" in (await assistant.post("tools/list")).json()


async def test_a_request_of_a_session_that_has_ended_is_told_how_to_begin_another(
    client: httpx2.AsyncClient, account: Opened
):
    assistant = Assistant(client, account.svc_key)
    session = await begin(assistant)
    await client.delete("/mcp", headers={"Authorization": f"Bearer {account.svc_key}", **session})

    answer = await assistant.post_legacy(*LIST, **session)

    error = {"code": INVALID_REQUEST, "message": transport.ENDED}
    assert (answer.status_code, answer.json()) == (404, {"jsonrpc": "2.0", "id": 1, "error": error})


async def test_above_the_limit_of_an_account_its_oldest_session_ends(
    client: httpx2.AsyncClient, account: Opened, new_account: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport, "MAX_SESSIONS", 2)
    other = Assistant(client, (await new_account(company_name="Others")).svc_key)
    untouched = await begin(other)
    assistant = Assistant(client, account.svc_key)

    sessions = [await begin(assistant) for _ in range(3)]

    statuses = [(await assistant.post_legacy(*LIST, **session)).status_code for session in sessions]
    assert statuses == [404, 200, 200]
    assert (await other.post_legacy(*LIST, **untouched)).status_code == 200


async def test_a_new_session_ends_the_oldest_one_without_a_running_call(
    client: httpx2.AsyncClient,
    services: Services,
    account: Opened,
    with_scopes: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(transport, "MAX_SESSIONS", 2)
    assistant, colleague = Assistant(client, account.svc_key), await with_scopes("contacts:read")
    colleague.http = client
    busy, idle = await begin(assistant), await begin(assistant)
    async with locked(services.database.pool, ACCOUNTS):
        call = asyncio.create_task(assistant.post_legacy(*SEND, **busy))
        await until_blocked(services.database.pool)

        await begin(colleague)
        ended = await assistant.post_legacy(*LIST, **idle)

    assert ended.status_code == 404
    assert told(read_event(await call)["result"])["status"] == "pending"
    assert await MESSAGES.count(services) == 1


async def test_a_new_session_is_refused_while_all_sessions_of_the_account_have_running_calls(
    client: httpx2.AsyncClient, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport, "MAX_SESSIONS", 1)
    assistant = Assistant(client, account.svc_key)
    busy = await begin(assistant)
    async with locked(services.database.pool, ACCOUNTS):
        call = asyncio.create_task(assistant.post_legacy(*SEND, **busy))
        await until_blocked(services.database.pool)

        refused = await assistant.shake_hands()

    assert refused.status_code == 503
    assert told(read_event(await call)["result"])["status"] == "pending"
    assert (await assistant.post_legacy(*LIST, **busy)).status_code == 200


async def test_a_request_with_the_id_of_the_one_that_was_just_answered_is_served(
    client: httpx2.AsyncClient, account: Opened
):
    assistant = Assistant(client, account.svc_key)
    session = await begin(assistant)

    answers = [await assistant.post_legacy(*LIST, **session) for _ in range(20)]

    assert all("tools" in read_event(answer)["result"] for answer in answers)


@pytest.mark.parametrize("id", [1, "1"])
async def test_a_request_with_the_id_of_one_that_goes_on_is_refused_and_not_done(
    client: httpx2.AsyncClient, services: Services, account: Opened, id: int | str
):
    assistant = Assistant(client, account.svc_key)
    session = await begin(assistant)
    pool = services.database.pool
    async with locked(pool, ACCOUNTS):
        first = asyncio.create_task(assistant.post_legacy(*SEND, **session))
        await until_blocked(pool)

        again = await assistant.post_legacy(*SEND, id=id, **session)

    error = {"code": INVALID_REQUEST, "message": transport.REPEATED}
    assert (again.status_code, again.json()["error"]) == (400, error)
    assert not read_event(await first)["result"].get("isError")
    assert await MESSAGES.count(services) == 1


async def test_an_answer_of_a_person_is_worth_the_scopes_that_the_credential_has_then(
    client: httpx2.AsyncClient, services: Services, account: Opened, with_scopes: Callable[..., Any]
):
    assistant = await with_scopes("contacts:read", "contacts:write", "contacts:delete")
    assistant.http, assistant.capabilities = client, {"elicitation": {"form": {}}}
    contact_id = (await assistant.call("create_contact", phone="+12025550143"))["id"]
    call = {"name": "delete_contact", "arguments": {"contact_id": contact_id}}
    session = await begin(assistant)

    async with assistant.stream_legacy("tools/call", call, **session) as messages:
        question = await within("the question", anext(messages))
        await API_KEYS.where(name="Some").change(services, scopes=["contacts:read"])
        agreed = {"action": "accept", "content": {"confirm": True}}
        await assistant.answer_legacy(question["id"], agreed, **session)
        answer = await within("the answer", anext(messages))

    assert told(answer["result"])[0] == "insufficient_scope"
    assert await CONTACTS.count(services) == 1


async def test_an_open_stream_ends_when_the_process_stops(client: httpx2.AsyncClient, served: Served, account: Opened):
    session = await begin(Assistant(client, account.svc_key))
    headers = {"Authorization": f"Bearer {account.svc_key}", "Accept": "text/event-stream", **session}

    async with client.stream("GET", "/mcp", headers=headers) as stream:
        assert stream.status_code == 200
        served.server.should_exit = True
        with suppress(httpx2.RemoteProtocolError):  # where the server is faster than the session
            await within("the end of the stream", stream.aread())
