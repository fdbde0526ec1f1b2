"""Every place that takes a URL refuses one with control characters, spaces or backslashes, and keeps nothing of it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import ValidationError

from app.cli import setup
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients, documents, redirects
from app.domain.oauth.documents import Fetched
from app.domain.oauth.redirects import InvalidRedirectUri
from app.domain.onboarding.service import Opened
from app.providers.mail.smtp import InvalidMailServer, Smtp
from app.services import Services
from app.settings import Settings
from app.urls import UnsafeUrl, split
from tests.conftest import unit_of
from tests.factories.oauth import OAUTH_CLIENTS
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.oauth.applications import AUTHORIZE, TOKEN, Application
from tests.oauth.browsing import OURS, Browsing

pytestmark = pytest.mark.anyio

CHARACTERS = "\r\n\t\0\x0b\x1f\x7f\x85\xa0\u200b\u2028\u3000 \\"
PLACES = ("{}http://127.0.0.1/callback", "ht{}tp://127.0.0.1/callback", "http:/{}/127.0.0.1/callback")
PLACES += ("http://127.0.0.1{}/callback", "http://127.0.0.1/call{}back", "http://127.0.0.1/callback?a=b{}c")
PLACES += ("http://127.0.0.1/callback{}", "http://127.0.0.1:5000/callback\r{}\nSet-Cookie: session=x")
HOSTILE = [place.format(character) for place in PLACES for character in CHARACTERS]
FOREIGN = ["https://app\uff0eexample.com/x", "https://ex\u0430mple.com/x", "https://example.com\uff0f@evil.example/x"]
FOREIGN += ["https://exam\u2100ple.com/x", "https://\uff11\uff12\uff17.0.0.1/x"]
ENCODED = ["https://evil.example%2f.example.com/x", "https://a%00b.example/x", "https://app.example.com%09/x"]
REFUSALS = (DomainError, UnsafeUrl, ValidationError, InvalidMailServer)

CREATE_CLIENT = 'mutation($url: String!) { create_oauth_client(name: "x", redirect_uris: [$url]) { client_secret } }'
CREATE_WEBHOOK = 'mutation($url: String!) { create_webhook(target_url: $url, events: ["message.sent"]) { id } }'

Take = Callable[[Services, Browsing, str], Awaitable[Any]]
"""Gives a URL to one place, which raises where it is refused."""


async def registration(services: Services, browsing: Browsing, url: str) -> None:
    async with unit_of(services, Actor(0, frozenset())) as unit:
        await clients.register(unit, services.oauth.tokens, {"redirect_uris": [url]})


async def redirect_uri_of_a_document(services: Services, browsing: Browsing, url: str) -> None:
    address = "https://app.example.com/client"

    async def fetch(_: str) -> Fetched:
        return Fetched(json.dumps({"client_id": address, "redirect_uris": [url]}).encode(), None)

    await documents.fetch(fetch, address)


async def page_of_a_client(services: Services, browsing: Browsing, url: str) -> None:
    if not documents.page_of({"client_uri": url.replace("http:", "https:")}):
        raise UnsafeUrl


async def address_of_a_document(services: Services, browsing: Browsing, url: str) -> None:
    if not documents.is_address(url, allow_http=True):
        raise UnsafeUrl


async def client_of_an_account(services: Services, browsing: Browsing, url: str) -> None:
    await graphql(browsing, CREATE_CLIENT, url)


async def webhook(services: Services, browsing: Browsing, url: str) -> None:
    await graphql(browsing, CREATE_WEBHOOK, url)


async def client_by_command(services: Services, browsing: Browsing, url: str) -> None:
    await setup.create_client(services.settings, "x", [url])


async def demo_by_command(services: Services, browsing: Browsing, url: str) -> None:
    await setup.create_demo(services.settings, "x", "x@example.com", 0, url)


async def base_url(services: Services, browsing: Browsing, url: str) -> None:
    Settings(_env_file=None, base_url=url.removesuffix("/callback"))


async def database_url(services: Services, browsing: Browsing, url: str) -> None:
    Settings(_env_file=None, DATABASE_URL=url.replace("http", "postgres"))


async def redis_url(services: Services, browsing: Browsing, url: str) -> None:
    Settings(_env_file=None, REDIS_URL=url.replace("http", "redis"))


async def mail_server(services: Services, browsing: Browsing, url: str) -> None:
    Smtp(url.replace("http", "smtp"), "a@example.com")


async def graphql(browsing: Browsing, query: str, url: str) -> None:
    answer = await browsing.client.post("/graphql", json={"query": query, "variables": {"url": url}}, headers=OURS)
    if "errors" in answer.json():
        raise DomainError


SLOW = {client_by_command: 19, demo_by_command: 19, client_of_an_account: 5, webhook: 5}
"""These send a request, or connect anew: they are given every so many of the texts."""

TAKERS: list[Take] = [registration, redirect_uri_of_a_document, page_of_a_client, address_of_a_document]
TAKERS += SLOW
TAKERS += [base_url, database_url, redis_url, mail_server]


@pytest.mark.parametrize("take", TAKERS, ids=lambda take: take.__name__)
async def test_a_url_with_a_control_character_a_space_or_a_backslash_is_refused_everywhere(
    services: Services, browsing: Browsing, account: Opened, take: Take
) -> None:
    await browsing.enter(account)
    texts = HOSTILE[:: SLOW.get(take, 1)]

    for url in texts:
        with pytest.raises(REFUSALS):
            await take(services, browsing, url)

    assert await OAUTH_CLIENTS.count(services) + await WEBHOOK_SUBSCRIPTIONS.count(services) == 0
    await take(services, browsing, "http://127.0.0.1/callback")


@pytest.mark.parametrize("url", [*FOREIGN, *ENCODED])
def test_a_host_that_readers_could_take_for_another_is_refused(url: str) -> None:
    with pytest.raises(InvalidRedirectUri):
        redirects.check_all([url])
    assert documents.page_of({"client_uri": url}) == ""
    assert not documents.is_address(url, allow_http=True)


def test_a_url_is_split_only_once_it_is_safe() -> None:
    for url in HOSTILE:
        with pytest.raises(UnsafeUrl):
            split(url)


async def test_a_redirect_uri_that_only_resembles_the_registered_one_is_refused(public: Application) -> None:
    for uri in HOSTILE[::2]:
        query = urlencode({"client_id": public.client_id, "redirect_uri": uri, "response_type": "code"})
        answer = await public.browsing.get(f"{AUTHORIZE}?{query}")

        assert (answer.status_code, "location" in answer.headers) == (400, False), repr(uri)
        assert "has not registered this redirect_uri" in answer.text


async def test_a_code_is_exchanged_for_no_uri_that_only_reads_like_its_own(application: Application) -> None:
    code = await application.code()
    for character in "\r\n\t":
        answer = await application.post(
            TOKEN, grant_type="authorization_code", code=code, redirect_uri=f"{application.redirect_uri}{character}"
        )

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
