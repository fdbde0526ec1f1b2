"""A web process that stops: the running calls of tools are finished, and streams end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.main import STOP_TOOLS
from app.mcp import transport
from app.mcp.requests import INTERNAL_ERROR
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import ACCOUNTS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.traps import locked, until_blocked
from tests.graphql.live import Served, serving
from tests.mcp.assistants import Assistant, read_event, told
from tests.waiting import PATIENCE_SECONDS, until, within

pytestmark = pytest.mark.anyio

TEXT = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
SEND = ("tools/call", {"name": "send_sms", "arguments": TEXT})
SECONDS_OF_A_POLL = 0.5
"""The interval at which the library of event streams looks whether the server stops."""


@asynccontextmanager
async def connecting(settings: Settings, sessions: str) -> AsyncGenerator[tuple[Served, httpx2.AsyncClient]]:
    """Serve tools, and connect a client."""
    async with (
        serving(settings.model_copy(update={"mcp_sessions": sessions})) as served,
        httpx2.AsyncClient(base_url=served.base_url, timeout=PATIENCE_SECONDS) as client,
    ):
        yield served, client


async def begin(assistant: Assistant) -> dict[str, str]:
    """Open a session; return its header, or nothing where there are no sessions."""
    answer = await assistant.shake_hands()
    session = answer.headers.get("mcp-session-id")
    return {"Mcp-Session-Id": session} if session else {}


async def until_stopping(served: Served) -> asyncio.Task[None]:
    """Begin to stop a server, and wait until it takes no connections; return the task that waits for its end."""
    listening = served.server.servers[0]
    stopping = asyncio.create_task(served.stop_without_grace())
    await until(lambda: not listening.is_serving())
    return stopping


async def collect(messages: AsyncGenerator[Any]) -> list[Any]:
    return [message async for message in messages]


@pytest.mark.parametrize("sessions", ["on", "off"])
async def test_a_running_call_of_a_client_of_2025_is_finished_when_the_process_stops(
    settings: Settings, services: Services, account: Opened, sessions: str
):
    async with connecting(settings, sessions) as (served, client):
        assistant = Assistant(client, account.svc_key)
        session = await begin(assistant)
        async with locked(services.database.pool, ACCOUNTS):
            call = asyncio.create_task(assistant.post_legacy(*SEND, **session))
            await until_blocked(services.database.pool)

            stopping = await until_stopping(served)
            await asyncio.wait({call}, timeout=2 * SECONDS_OF_A_POLL)
        answer = await within("the answer", call)
        await stopping

    assert told(read_event(answer)["result"])["status"] == "pending"
    assert await MESSAGES.count(services) == 1


async def test_a_call_that_waits_for_its_person_gets_a_confirmation_instead_when_the_process_stops(
    settings: Settings, services: Services, account: Opened
):
    async with connecting(settings, "on") as (served, client):
        assistant = Assistant(client, account.svc_key, capabilities={"elicitation": {"form": {}}})
        contact_id = (await assistant.call("create_contact", phone="+12025550143"))["id"]
        call = {"name": "delete_contact", "arguments": {"contact_id": contact_id}}
        async with assistant.stream_legacy("tools/call", call, **await begin(assistant)) as messages:
            question = await within("the question", anext(messages))
            stopping = await until_stopping(served)
            after = await within("the end of the call", collect(messages))
        await stopping

    assert question["method"] == "elicitation/create"
    assert told(after[-1]["result"])[0] == "confirmation_required"
    assert await CONTACTS.count(services) == 1


async def test_a_process_that_stops_opens_no_stream_and_finishes_what_it_received(
    settings: Settings, services: Services, account: Opened
):
    async with connecting(settings, "on") as (served, client):
        assistant = Assistant(client, account.svc_key)
        session = await begin(assistant)
        headers = {"Authorization": f"Bearer {account.svc_key}", "Accept": "text/event-stream", **session}
        served.server.lifespan.state[STOP_TOOLS]()

        stream = await client.get("/mcp", headers=headers)
        answer = await assistant.post_legacy(*SEND, **session)

    assert (stream.status_code, stream.json()["error"]) == (
        503,
        {"code": INTERNAL_ERROR, "message": transport.STOPPING},
    )
    assert told(read_event(answer)["result"])["status"] == "pending"
