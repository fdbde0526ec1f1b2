"""Anonymous requests are counted for their network, on every surface, and refused beyond a limit."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import httpx2
import pytest
from redis.asyncio import Redis

from app.domain.accounts import keys
from app.domain.accounts.keys import KeyKind
from app.domain.onboarding.service import Opened
from app.http.anonymous import count_anonymous
from app.providers import rate_limits
from app.providers.limits import Limits
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.oauth import refused
from tests.oauth.applications import REVOKE, TOKEN, Application
from tests.oauth.browsing import Browsing
from tests.oauth.mailbox import deliver, link
from tests.rest.answers import refusal

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_refill")]

HOME = "127.0.0.1"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BALANCE = {"query": "{ account { id } }"}

Send = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]


async def units(services: Services) -> int:
    """Return how many units this machine's network has used."""
    redis = Redis.from_url(services.settings.redis_url or "")
    seconds, microseconds = await redis.time()
    until = await redis.get(f"share:{services.limits.anonymous.name}:{HOME}/32")
    await redis.aclose()
    cost = rate_limits.WINDOW_SECONDS * 1_000_000 // services.limits.anonymous.quota
    return round((int(until or 0) - seconds * 1_000_000 - microseconds) / cost) if until else 0


async def exhaust(limits: Limits, address: str = HOME) -> None:
    """Use up what a network may ask for."""
    units = limits.anonymous.quota
    while units:
        if await limits.shares.take(limits.anonymous, address, units):
            units //= 2


def unknown_key() -> dict[str, str]:
    return {"X-API-Key": keys.make(KeyKind.svc).text}


REQUESTS: list[tuple[str, Send, int, int]] = [
    ("REST without a key", lambda http: http.get("/contacts"), 401, 1),
    ("REST with an unknown key", lambda http: http.get("/contacts", headers=unknown_key()), 401, 1),
    ("REST with a key cut short", lambda http: http.get("/contacts", headers={"X-API-Key": "svc_x"}), 401, 1),
    ("GraphQL without a key", lambda http: http.post("/graphql", json=BALANCE), 401, 1),
    ("GraphQL with an unknown key", lambda http: http.post("/graphql", json=BALANCE, headers=unknown_key()), 401, 1),
    ("tools without a key", lambda http: http.post("/mcp"), 401, 1),
    ("tools with an unknown key", lambda http: http.post("/mcp", headers=unknown_key()), 401, 1),
    ("tokens", lambda http: http.post(TOKEN, content=b"grant_type=refresh_token&client_id=x", headers=FORM), 401, 1),
    ("tokens without a grant type", lambda http: http.post(TOKEN, content=b"client_id=x", headers=FORM), 400, 1),
    ("revocation", lambda http: http.post(REVOKE, content=b"client_id=x&token=x", headers=FORM), 401, 1),
    ("an unsigned callback", lambda http: http.post("/carriers/sandbox/status", json={}), 403, 1),
    ("the form to sign in", lambda http: http.get("/login"), 200, 1),
    ("a form of another site", lambda http: http.post("/login", data={"email": "a@example.com"}), 403, 1),
    ("an unknown session", lambda http: http.get("/account", headers={"Cookie": "session=x"}), 303, 1),
    ("the page of consent", lambda http: http.get("/automation/oauth/authorize?client_id=x&redirect_uri=x"), 400, 1),
    ("the decision", lambda http: http.post("/automation/oauth/authorize", data={"decision": "deny"}), 403, 1),
    ("a link that is not good", lambda http: http.get("/password/x"), 410, 10),
]


@pytest.mark.parametrize(("send", "status", "expected"), [each[1:] for each in REQUESTS], ids=[r[0] for r in REQUESTS])
async def test_an_unauthenticated_request_is_counted_for_its_network(
    http: httpx2.AsyncClient, services: Services, send: Send, status: int, expected: int
) -> None:
    before = await units(services)

    answer = await send(http)

    assert (answer.status_code, await units(services) - before) == (status, expected), answer.text


async def test_a_key_of_a_suspended_account_is_counted(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await ACCOUNTS.change(services, status="suspended")

    answers = [await api.get("/contacts"), await api.post("/graphql", json=BALANCE), await api.post("/mcp")]

    assert ([answer.status_code for answer in answers], await units(services)) == ([403] * 3, 3)


@pytest.mark.parametrize("path", ["/login", "/forgot", "/password/x", "/account", "/automation/oauth/authorize"])
async def test_beyond_the_limit_a_page_says_how_long_to_wait(
    http: httpx2.AsyncClient, services: Services, path: str
) -> None:
    await exhaust(services.limits)

    answer = await http.get(path)

    assert (answer.status_code, answer.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert int(answer.headers["retry-after"]) >= 1


async def test_beyond_the_limit_of_a_network_only_requests_without_a_key_are_held_back(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await exhaust(services.limits)

    refused, unknown = await http.get("/contacts"), await http.get("/contacts", headers=unknown_key())
    tools = await http.post("/mcp")
    good = await http.get("/contacts", headers={"X-API-Key": account.svc_key})

    assert refusal(refused)[:2] == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1
    assert (unknown.status_code, tools.status_code, good.status_code) == (401, 429, 200)


async def test_a_flood_of_links_that_are_not_good_is_refused_and_other_networks_open_theirs(
    http: httpx2.AsyncClient, services: Services, account: Opened, browsing: Browsing
) -> None:
    await browsing.send(await browsing.form("/forgot"), email=account.email)
    [mail] = await deliver(services)
    await count_anonymous(services.limits, HOME, services.limits.anonymous.quota - 20)

    statuses = [(await http.get(f"/password/{number}")).status_code for number in range(4)]
    transport = httpx2.ASGITransport(http._transport.app, client=("192.0.2.1", 1))
    async with httpx2.AsyncClient(transport=transport, base_url=http.base_url) as elsewhere:
        good = await elsewhere.get(link(mail))

    assert (statuses, good.status_code) == ([410, 429, 429, 429], 200)


async def test_an_exhausted_network_does_not_hold_back_sessions_and_connected_applications(
    services: Services, application: Application, browsing: Browsing, account: Opened
) -> None:
    tokens = await application.connect()
    await exhaust(services.limits)

    assert (await browsing.get("/account")).status_code == 200
    assert (await application.form()).action
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200
    ended = [await application.refresh(token) for token in ("not it", tokens["refresh_token"][:-1])]
    assert [refused.refusal(each) for each in ended] == [(400, "invalid_grant")] * 2
    assert (await application.post(REVOKE, token=tokens["access_token"])).status_code == 200
    assert await refused.revoked_because(services) == ["revoked_by_client"]


async def test_a_few_exhausted_networks_do_not_use_up_the_share_of_others(services: Services) -> None:
    few = replace(services.limits, anonymous=replace(services.limits.anonymous, quota=10))
    for number in range(8):
        await exhaust(few, f"2001:db8:{number:x}::1")

    await count_anonymous(few, "2001:db8:ffff::1")
    await count_anonymous(few, "192.0.2.1")
