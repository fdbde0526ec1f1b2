"""Clients that others wrote, in TypeScript: the SDKs in both eras, their sign-in, and the Inspector."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from subprocess import PIPE
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.graphql.live import serving
from tests.node import NODE, install, provide
from tests.oauth.person import Person

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).with_name("assistants")
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REDIRECT = "http://127.0.0.1:3999/callback"
PATIENCE_SECONDS = 120
LOAD = [
    "--method",
    "tools/call",
    "--tool-name",
    "get_balance",
    "--load",
    "--load-requests",
    "40",
    "--load-concurrency",
    "4",
]
REFUSED = 5
"""The exit code of the Inspector for a tool that answers an error."""


@pytest.fixture(scope="session")
def installed() -> Path:
    """Install the clients; return their folder."""
    folder = install(SOURCES)
    for script in SOURCES.glob("*.mjs"):
        provide(script, folder)
    return folder


@pytest.fixture
async def address(settings: Settings, services: Services) -> AsyncGenerator[str]:
    """Provide the address of a tool server with sessions."""
    async with serving(settings.model_copy(update={"mcp_sessions": "on"})) as served:
        yield f"{served.base_url}/mcp"


async def run(*command: Path | str) -> tuple[int, str, str]:
    """Run a script of Node; return its exit code, its output and its errors."""
    process = await asyncio.create_subprocess_exec(NODE, *command, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, errors = await process.communicate()
    return process.returncode or 0, output.decode(), errors.decode()


@pytest.mark.parametrize("client", ["v1", "legacy", "auto"])
async def test_the_sdks_of_typescript_use_the_tools(address: str, account: Opened, installed: Path, client: str):
    code, output, errors = await run(installed / "call.mjs", address, account.svc_key, client)

    assert (code, errors) == (0, "")
    tools, *results = [orjson.loads(line) for line in output.splitlines()]
    assert tools > 20
    assert results == [["vip"], 1000, [True, "not_found"], -32602, "Blue Door", 1]


async def test_the_sdk_signs_in_and_asks_again_for_the_scope_of_a_tool(address: str, account: Opened, installed: Path):
    process = await asyncio.create_subprocess_exec(
        NODE, installed / "sign_in.mjs", address, REDIRECT, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert process.stdout
    async with asyncio.timeout(PATIENCE_SECONDS):
        first = await answer_for(process, account)
        added = await process.stdout.readline()
        second = await answer_for(process, account)
        output, errors = await process.communicate()

    assert errors.decode() == ""
    assert (added, output) == (b'"+12025550143"\n', b'"confirmation_required"\n')
    assert "contacts:delete" not in first
    assert second == first | {"contacts:delete"}


async def answer_for(process: asyncio.subprocess.Process, account: Opened) -> set[str]:
    """Allow what a client asks a person for, and send it the redirect address; return the scopes."""
    assert process.stdin
    assert process.stdout
    async with asyncio.timeout(PATIENCE_SECONDS):
        line = await process.stdout.readline()
        assert line, await process.communicate()
        process.stdin.write(f"{await Person(account).allow(orjson.loads(line))}\n".encode())
    return set(parse_qs(urlsplit(orjson.loads(line)).query)["scope"][0].split())


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_inspector_finds_no_fault(address: str, account: Opened, installed: Path, era: str):
    inspect = [
        installed / INSPECTOR, "--cli", address, "--transport", "http", "--protocol-era", era,
        "--header", f"Authorization: Bearer {account.svc_key}",
    ]  # fmt: skip

    listed = await run(*inspect, "--method", "tools/list", "--strict")
    called = await run(*inspect, "--method", "tools/call", "--tool-name", "get_balance")
    refused = await run(*inspect, "--method", "tools/call", "--tool-name", "get_contact", "--tool-arg", "contact_id=0")
    loaded = await run(*inspect, *LOAD)

    assert (listed[0], listed[2]) == (0, "")
    assert called[0] == 0, called
    assert refused[0] == REFUSED, refused
    counts = orjson.loads(loaded[1])
    assert (counts["ok"], counts["toolErrors"], counts["errorRate"]) == (40, 0, 0)
