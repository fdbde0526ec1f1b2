"""Clients of the SDK, at one web process and at two that know nothing of each other."""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.graphql.live import serving

pytestmark = pytest.mark.anyio

CLIENTS = 16


class InTurns(httpx2.AsyncBaseTransport):
    """Sends requests to servers in turns, as a load balancer does, each over a new connection."""

    def __init__(self, addresses: list[str]) -> None:
        self._next = itertools.cycle(addresses)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        target = httpx2.URL(next(self._next))
        request.url = request.url.copy_with(port=target.port)
        request.headers["Connection"] = "close"
        return await httpx2.AsyncHTTPTransport().handle_async_request(request)


@asynccontextmanager
async def connect(transport: httpx2.AsyncBaseTransport, address: str, key: str, mode: str) -> AsyncGenerator[Any]:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_web_processes_serve_16_clients_at_once(
    settings: Settings, services: Services, account: Opened, mode: str
):
    async with AsyncExitStack() as stack:
        addresses = [(await stack.enter_async_context(serving(settings))).base_url for _ in range(2)]

        async def use(number: int) -> float:
            async with connect(InTurns(addresses), addresses[number % 2], account.svc_key, mode) as client:
                listed = await client.list_tools()
                balances = [await client.call_tool("get_balance", {}) for _ in range(3)]
            assert len(listed.tools) > 20
            return sum(balance.structured_content["balance"] for balance in balances)

        results = await asyncio.gather(*(use(number) for number in range(CLIENTS)))

    assert results == [3000] * CLIENTS


@pytest.mark.parametrize("sessions", ["on", "off"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_client_validates_the_answers(
    settings: Settings, services: Services, account: Opened, mode: str, sessions: str
):
    from mcp.shared.exceptions import MCPError

    async with (
        serving(settings.model_copy(update={"mcp_sessions": sessions})) as served,
        connect(httpx2.AsyncHTTPTransport(), served.base_url, account.svc_key, mode) as client,
    ):
        await client.list_tools()
        contact = await client.call_tool("create_contact", {"phone": "+12025550143", "tags": ["vip"]})
        refused = await client.call_tool("get_contact", {"contact_id": 0})
        resource = await client.read_resource("sms://account")
        prompt = await client.get_prompt("weekly_report")
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_tool", {})

    assert (contact.is_error, contact.structured_content["tags"]) == (False, ["vip"])
    assert refused.is_error
    assert "Blue Door" in resource.contents[0].text
    assert len(prompt.messages) == 1
    assert unknown.value.error.code == -32602
