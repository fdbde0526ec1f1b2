"""The 61 audits of GraphQL over HTTP, by the reference implementation's own tool, against a live server."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import orjson
import pytest
import uvicorn

from app.main import create_app
from app.services import Services
from tests.node import NODE, install, provide
from tests.waiting import within

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).with_name("audits")
AUDITS_SECONDS = 120.0


@pytest.fixture(scope="session")
def audits() -> Path:
    """Install the audits; return their program."""
    return provide(SOURCES / "audit.mjs", install(SOURCES))


@pytest.fixture
async def address(services: Services) -> AsyncGenerator[str]:
    """Serve the whole application on a port of this machine."""
    config = uvicorn.Config(create_app(services.settings), port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    socket.listen()  # who connects before the server has started waits
    serving = asyncio.create_task(server.serve([socket]))
    yield f"http://127.0.0.1:{socket.getsockname()[1]}/graphql"
    server.should_exit = True
    await serving


async def test_all_61_audits_of_graphql_over_http_pass(audits: Path, address: str):
    node = await asyncio.create_subprocess_exec(NODE, audits, address, stdout=subprocess.PIPE)
    output, _ = await within("the client to end", node.communicate(), AUDITS_SECONDS)
    results = orjson.loads(output)

    assert {result["name"]: result["reason"] for result in results if result["status"] != "ok"} == {}
    assert len(results) == 61
