"""Clients that others wrote: each discovers the server, has a person sign in on the page, calls and refreshes."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import orjson
import pytest
from authlib.integrations.httpx_client import AsyncOAuth2Client

from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.e2e.processes import free_port
from tests.graphql.live import serving
from tests.node import NODE, install, provide
from tests.oauth.applications import AUTHORIZE, REDIRECT, REVOKE, TOKEN
from tests.oauth.person import Person

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).with_name("oauth_clients")
CONFORMANCE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
CHECKS = ("authorization-server-metadata", "authorization-server-metadata-cimd", "authorization-code-grant")
PATIENCE_SECONDS = 120
LOOPBACK = "http://127.0.0.1:3999/callback"


@pytest.fixture
async def base(settings: Settings) -> AsyncGenerator[str]:
    """Give the address of a service."""
    async with serving(settings) as served:
        yield served.base_url


@pytest.fixture
def person(account: Opened) -> Person:
    return Person(account)


@pytest.fixture(scope="session")
def installed() -> Path:
    """Install the JavaScript clients; return where they are."""
    folder = install(SOURCES)
    provide(SOURCES / "connect.mjs", folder)
    return folder


async def make_client(services: Services, account: Opened, uri: str, *, confidential: bool = True) -> tuple[str, Any]:
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        new = NewClient("Pipelines", [uri], confidential=confidential)
        client, secret = await clients.create(unit, services.oauth.tokens, new)
    return client.client_id, secret


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_authlib_connects(base: str, services: Services, account: Opened, person: Person, method: str):
    client_id, secret = await make_client(services, account, REDIRECT)
    async with AsyncOAuth2Client(
        client_id,
        secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        redirect_uri=REDIRECT,
        scope="account:read contacts:read",
        code_challenge_method="S256",
        token_endpoint=f"{base}{TOKEN}",
    ) as client:
        verifier = "v" * 43
        url, state = client.create_authorization_url(f"{base}{AUTHORIZE}", code_verifier=verifier)
        back = await person.allow(url)

        first = await client.fetch_token(authorization_response=back, state=state, code_verifier=verifier)
        assert (await client.get(f"{base}/contacts")).status_code == 200
        second = await client.refresh_token()

        assert first["scope"] == second["scope"] == "account:read contacts:read"
        assert first["refresh_token"] != second["refresh_token"]
        assert (await client.get(f"{base}/contacts")).status_code == 200
        revoked = await client.revoke_token(f"{base}{REVOKE}", token=second["refresh_token"])
        assert revoked.status_code == 200
        assert (await client.get(f"{base}/contacts")).status_code == 401


@pytest.mark.parametrize("registers", [False, True])
async def test_openid_client_connects(
    base: str, services: Services, account: Opened, person: Person, installed: Path, registers: bool
):
    known = () if registers else await make_client(services, account, LOOPBACK)
    node = await asyncio.create_subprocess_exec(
        NODE,
        installed / "connect.mjs",
        base,
        LOOPBACK,
        *known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert node.stdout
    async with asyncio.timeout(PATIENCE_SECONDS):
        line = await node.stdout.readline()
        assert line, await node.communicate()
        back = await person.allow(orjson.loads(line))
        output, problems = await node.communicate(f"{back}\n".encode())

    assert problems == b""
    assert [orjson.loads(line) for line in output.splitlines()] == [
        {"scope": "account:read contacts:read", "expires_in": 3600, "token_type": "bearer"},
        200,
        {"rotated": True, "status": 200},
        "invalid_token",
    ]


class Storage:
    """The SDK's storage of its connection."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> "OAuthToken | None":
        return self.tokens

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        self.tokens = tokens

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        return self.client

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        self.client = client_info


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
async def test_the_sdk_of_assistants_registers_signs_in_and_refreshes(base: str, person: Person, method: str):
    # Loading it takes a second, which every test process would spend.
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    storage, back = Storage(), ""

    async def open_browser(url: str) -> None:
        nonlocal back
        back = await person.allow(url)

    async def wait_for_browser() -> AuthorizationCodeResult:
        told = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": [LOOPBACK], "client_name": "Assistant", "token_endpoint_auth_method": method}
    )

    def provider() -> OAuthClientProvider:
        return OAuthClientProvider(f"{base}/mcp", metadata, storage, open_browser, wait_for_browser)

    async with httpx2.AsyncClient(auth=provider()) as client:
        answer = await client.post(f"{base}/mcp", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)
    assert storage.client
    assert storage.tokens
    assert storage.tokens.scope
    assert "contacts:write" in storage.tokens.scope.split()
    first, back = storage.tokens, ""

    storage.tokens = first.model_copy(update={"access_token": "expired.expired.expired", "expires_in": -1})
    renewing = provider()
    await renewing._initialize()
    renewing.context.token_expiry_time = 1
    async with httpx2.AsyncClient(auth=renewing) as client:
        answer = await client.post(f"{base}/mcp", json={})

    assert answer.status_code == 400
    assert back == "", "nobody had to sign in again"
    assert storage.tokens.refresh_token != first.refresh_token


async def test_the_conformance_suite_passes(
    base: str, services: Services, account: Opened, person: Person, installed: Path, tmp_path: Path
):
    client_id, _ = await make_client(services, account, LOOPBACK, confidential=False)
    port = free_port()
    node = await asyncio.create_subprocess_exec(
        NODE,
        installed / CONFORMANCE,
        "authorization",
        *("--url", base, "--client-id", client_id, "--resource", f"{base}/mcp", "-p", str(port)),
        *("--output-dir", str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert node.stdout
    said: list[str] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for raw in node.stdout:
            said.append(raw.decode())
            if (found := said[-1].find(f"{base}{AUTHORIZE}?")) >= 0:
                back = await person.allow(said[-1][found:].split()[0])
                async with httpx2.AsyncClient() as browser:
                    await browser.get(back)
        code = await node.wait()

    assert code == 0, "".join(said)
    assert {check["id"]: check["status"] for check in checks_in(tmp_path)} == dict.fromkeys(CHECKS, "SUCCESS")


def checks_in(folder: Path) -> list[Any]:
    return [check for file in folder.rglob("checks.json") for check in orjson.loads(file.read_bytes())]
