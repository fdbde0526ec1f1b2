"""The reference clients in JavaScript: graphql-ws and graphql-sse."""

import asyncio
import subprocess
from pathlib import Path

import orjson
import pytest

from tests.graphql.live import Scene, Served
from tests.node import NODE, install, provide

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).with_name("clients")
PATIENCE_SECONDS = 60


@pytest.fixture(scope="session")
def client() -> Path:
    """Install the clients; return the program that uses them."""
    return provide(SOURCES / "client.mjs", install(SOURCES))


@pytest.mark.parametrize("kind", ["ws", "sse"])
async def test_a_reference_client_looks_on(client: Path, served: Served, scene: Scene, kind: str):
    node = await asyncio.create_subprocess_exec(
        NODE, client, kind, served.address, scene.account.svc_key, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for body in ("One", "Two", "Three"):
        await scene.receive(body)

    async with asyncio.timeout(PATIENCE_SECONDS):
        output, problems = await node.communicate()

    updates = [orjson.loads(line) for line in output.splitlines()]
    assert problems == b""
    assert [update["message"]["body"] for update in updates] == ["One", "Two", "Three"]
    assert [update["id"] for update in updates] == sorted({update["id"] for update in updates})
