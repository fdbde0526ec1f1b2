"""Connecting an application in a real browser that runs no JavaScript."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import orjson
import pytest

from app.domain.accounts.scopes import AUTOMATION, Scope
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.graphql.live import serving
from tests.node import BUILD, NODE, install, provide

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).parent
CALLBACK = "http://127.0.0.1/callback"
PATIENCE_SECONDS = 110
DARK, PHONE_WIDTH = "rgb(14, 15, 18)", 390
REFUSED = "The e-mail address or the password is wrong."


async def add_client(services: Services, account: Opened) -> tuple[str, str]:
    """Make an application; return its id and its secret."""
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        made, secret = await clients.create(unit, services.oauth.tokens, NewClient("Pipelines", [CALLBACK]))
    return made.client_id, secret or ""


async def browse(*arguments: str) -> dict[str, Any]:
    """Run the browser; return what it saw."""
    folder = install(SOURCES)
    for program in SOURCES.glob("*.mjs"):
        provide(program, folder)
    node = await asyncio.create_subprocess_exec(
        NODE, folder / "connect.mjs", BUILD / "chromium", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, problems = await node.communicate()
    assert problems == b"", problems.decode()
    return orjson.loads(output)


async def test_a_person_connects_an_application_without_javascript(
    settings: Settings, services: Services, account: Opened
):
    client_id, secret = await add_client(services, account)
    query = {"client_id": client_id, "response_type": "code", "state": "a b&c"}
    async with serving(settings) as served:
        base = served.base_url
        asked = f"{base}/automation/oauth/authorize?{urlencode(query)}"

        seen = await browse(asked, account.email, account.password)

        told = parse_qs(urlsplit(seen["landed"]).query)
        code = {"code": told["code"][0], "redirect_uri": seen["callback"]}
        tokens = await exchange(base, code | {"client_id": client_id, "client_secret": secret})
    assert seen["heading"] == "Pipelines wants to use your account"
    assert (seen["width"], seen["background"]) == (PHONE_WIDTH, DARK)
    assert (seen["alert"], seen["kept"]) == (REFUSED, account.email)
    assert (told["state"], told["iss"]) == (["a b&c"], [base])
    assert set(tokens["scope"].split()) == AUTOMATION - {Scope.messages_send}
    assert sorted(seen["cookies"]) == [["browser", True, "Lax"], ["session", True, "Lax"]]
    assert (seen["choices"], seen["again"]) == (len(AUTOMATION), 0)
    assert "status of 403" in seen["complaints"][0]
    assert "Content Security Policy directive: \"frame-ancestors 'none'\"" in " ".join(seen["complaints"][1:])
    assert seen["framed"] == 0


async def exchange(base: str, fields: dict[str, str]) -> Any:
    """Exchange a code for tokens."""
    async with httpx2.AsyncClient(base_url=base) as http:
        answer = await http.post("/automation/oauth/token", data={"grant_type": "authorization_code", **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()
