"""Clients whose id is the address of the document that describes them."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients, documents
from app.domain.oauth.documents import Description
from app.main import create_app
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS
from tests.factories.tables import ago
from tests.oauth.applications import REDIRECT, TOOLS, Application, Pkce
from tests.oauth.browsing import Browsing
from tests.providers.peers import Peer, say, serve
from tests.shared import running

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def describing(application: Application, **members: Any) -> AsyncGenerator[Peer]:
    """Serve the document of an application at the address that is its id; None leaves a member out."""
    usual = {"client_name": "Assistant", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    peer: Peer

    async def answering(*streams: Any) -> None:
        described = {"client_id": peer.url} | usual | members
        body = json.dumps({name: value for name, value in described.items() if value is not None}).encode()
        await say(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)(*streams)

    async with serve(answering) as peer:
        application.client_id, application.secret = peer.url, None
        yield peer


async def rows(services: Services) -> list[str]:
    return await OAUTH_CLIENTS.read(services, "name")


async def test_a_client_is_known_by_its_document(application: Application, services: Services):
    pkce = Pkce()
    async with describing(application):
        page = await application.ask(**pkce.asked)
        code = await application.code(resource=TOOLS, **pkce.asked)
        answer = await application.exchange(code, code_verifier=pkce.verifier)

    assert "Assistant wants to use your account" in page.text
    assert f"This application registered itself from <strong>{application.client_id}</strong>" in page.text
    assert answer.status_code == 200, answer.text
    assert (await application.refresh(answer.json()["refresh_token"])).status_code == 200
    assert await rows(services) == ["Pipelines", "Assistant"]


async def test_the_document_of_a_connected_client_is_read_once_and_again_when_it_is_old(
    application: Application, services: Services
):
    pkce = Pkce()
    async with describing(application) as peer:
        await application.code(**pkce.asked)
        await application.ask(**pkce.asked)
        assert len(peer.requests) == 1

        await OAUTH_CLIENTS.change(services, fetched_until=ago(), name="Old")
        page = await application.ask(**pkce.asked)
        assert (len(peer.requests), await rows(services)) == (2, ["Old", "Old"])
        await application.code(**pkce.asked)

    assert "Assistant wants" in page.text
    assert await rows(services) == ["Old", "Assistant"]


async def test_a_page_loaded_before_the_document_was_read_again_keeps_nothing_older(
    application: Application, services: Services
):
    pkce = Pkce()
    async with describing(application, client_name="Older"):
        older = await application.form(**pkce.asked)
        client_id = application.client_id
    person = {"email": application.account.email, "password": application.account.password, "decision": "allow"}
    async with unit_of(services, Actor(0, frozenset())) as unit:
        newer = Description(client_id, "Newer", "", [REDIRECT], timedelta(hours=1))
        await clients.remember(unit, newer, unit.clock.now() + timedelta(seconds=5))

    assert (await application.browsing.send(older, **person)).status_code == 302

    assert await rows(services) == ["Pipelines", "Newer"]


async def test_a_page_whose_redirect_uri_the_document_has_given_up_meanwhile_connects_nothing(
    application: Application, services: Services
):
    pkce = Pkce()
    async with describing(application):
        older = await application.form(**pkce.asked)
        client_id = application.client_id
    person = {"email": application.account.email, "password": application.account.password, "decision": "allow"}
    async with unit_of(services, Actor(0, frozenset())) as unit:
        newer = Description(client_id, "Newer", "", ["https://elsewhere.example.com/"], timedelta(hours=1))
        await clients.remember(unit, newer, unit.clock.now() + timedelta(seconds=5))

    answer = await application.browsing.send(older, **person)

    assert "location" not in answer.headers
    assert await OAUTH_GRANTS.count(services) == 0


@pytest.mark.usefixtures("no_refill")
async def test_the_stored_document_of_a_known_client_is_used_beyond_the_limit_of_registrations(
    application: Application, services: Services
):
    pkce = Pkce()
    async with describing(application) as peer:
        await application.code(**pkce.asked)
        await OAUTH_CLIENTS.change(services, fetched_until=ago())
        assert await exhaust(application) == 429
        page = await application.ask(**pkce.asked)
        stranger = await application.ask(client_id=peer.url.replace("http://", "https://"), **pkce.asked)
        assert len(peer.requests) == 1

    assert page.status_code == 200
    assert "Assistant wants" in page.text
    assert stranger.status_code == 429
    assert "Too many attempts. Try again in" in stranger.text


async def exhaust(application: Application) -> int:
    """Register clients until no more may be; return what the last one is told."""
    status = 0
    while status != 429:
        answer = await application.http.post("/oauth/register", json={"redirect_uris": [REDIRECT]})
        status = answer.status_code
    return status


@pytest.mark.parametrize(
    "uri", ["https://\ud800", "https://a.example/\x00", "https://a.example/\u20ac", "http://a.example"]
)
async def test_a_page_about_a_client_that_cannot_be_shown_is_left_out(
    application: Application, services: Services, uri: str
):
    async with describing(application, client_uri=uri):
        await application.code(**Pkce().asked)

    kept = await OAUTH_CLIENTS.where(kind="document").only(services, "client_uri")
    assert kept == ""


async def test_a_redirect_uri_that_the_document_does_not_name_is_never_redirected_to(application: Application):
    async with describing(application):
        answer = await application.ask(redirect_uri="https://evil.example.com/callback", **Pkce().asked)

    assert answer.status_code == 400
    assert "location" not in answer.headers


async def test_such_a_client_needs_pkce(application: Application):
    async with describing(application):
        answer = await application.ask()

    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "A code_challenge with the method S256 is needed." in answer.text


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"client_id": "https://elsewhere.example.com/client.json"}, "its client_id is not its own URL"),
        ({"client_id": None}, "its client_id is not its own URL"),
        ({"redirect_uris": None}, "A client has a list of 1 to 20 redirect URIs."),
        ({"redirect_uris": ["javascript:alert(1)"]}, "A redirect URI begins with https://"),
        ({"token_endpoint_auth_method": "client_secret_post"}, "its token_endpoint_auth_method is not none."),
        ({"client_secret": "x"}, "its token_endpoint_auth_method is not none."),
        ({"logo": "x" * documents.MAX_BYTES}, "it is larger than 10240 bytes."),
    ],
)
async def test_a_document_that_cannot_be_used_is_told_to_the_person(
    application: Application, services: Services, members: dict[str, Any], said: str
):
    async with describing(application, **members):
        answer = await application.ask(**Pkce().asked)

    assert answer.status_code == 400
    assert said in answer.text
    assert await rows(services) == ["Pipelines"]


@pytest.mark.parametrize(
    ("client_id", "said"),
    [
        ("https://10.0.0.1/client.json", "its address could not be read (refused_address)."),
        ("https://169.254.169.254/latest/meta-data", "its address could not be read (refused_address)."),
        ("http://example.com/client.json", "No application has this client_id."),
        ("https://example.com/", "No application has this client_id."),
        ("https://example.com", "No application has this client_id."),
        ("https://user@example.com/x", "No application has this client_id."),
        ("https://example.com/a/../b", "No application has this client_id."),
        ("https://example.com/x#y", "No application has this client_id."),
    ],
)
async def test_an_address_that_may_not_be_read_is_not(application: Application, client_id: str, said: str):
    answer = await application.ask(client_id=client_id, **Pkce().asked)

    assert answer.status_code == 400
    assert said in answer.text


async def test_outside_of_development_a_document_on_this_machine_is_not_read(
    settings: Settings, application: Application
):
    public = settings.model_copy(update={"environment": "production", "base_url": "https://sms.example.com"})
    async with describing(application) as peer, running(create_app(public)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="https://sms.example.com") as client:
            plain = await Browsing(client).get(application.path(**Pkce().asked))
            secure = await Browsing(client).get(
                application.path(client_id=peer.url.replace("http:", "https:"), **Pkce().asked)
            )

    assert (plain.status_code, secure.status_code) == (400, 400)
    assert peer.connections == 0
