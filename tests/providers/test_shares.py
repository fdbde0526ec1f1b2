"""Limits for strangers while Valkey does not answer."""

import asyncio

import pytest

from app.providers import shares
from app.providers.rate_limits import Policy
from app.providers.shares import Shares
from tests.waiting import never


async def test_noting_a_known_network_does_not_connect_to_an_unresponsive_valkey(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shares, "REST_SECONDS", 60.0)
    connections = 0

    async def hold(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            await never()
        finally:
            writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    strangers = Shares(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await strangers.take(Policy("anonymous", 10), "192.0.2.1")
    before = connections

    await strangers.note_known("192.0.2.1")

    assert (before, connections) == (1, 1)
    await strangers.close()
    server.close()
