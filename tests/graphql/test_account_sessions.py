"""Operations allowed to a session, and the origins of its pages."""

import asyncio

import httpx2
import orjson
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from app.domain.onboarding.service import Opened
from app.graphql.transport.websocket import PROTOCOL
from app.services import Services
from tests.factories.accounts import AUDIT_ENTRIES, USERS
from tests.graphql.calls import codes, get, post
from tests.graphql.live import PATIENCE_SECONDS, Served
from tests.graphql.people import OURS, SOFA, change_role

pytestmark = pytest.mark.anyio
VIEWER = {"query": "{ viewer { email } }"}
INVITE = {"query": 'mutation { invite_user(email: "bob@example.com", role: member) { id role } }'}


@pytest.fixture
async def cookie(services: Services, account: Opened) -> str:
    """Give the cookie of a browser that the account's owner is signed in with."""
    _, token = await services.authentication.enter(account.email, account.password, SOFA)
    return f"theme=dark; session={token}; other=1"


@pytest.mark.parametrize(
    "headers",
    [
        OURS,
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
    ],
)
async def test_a_page_of_our_site_acts_for_the_signed_in_user(
    http: httpx2.AsyncClient, account: Opened, cookie: str, headers: dict[str, str]
) -> None:
    answer = await post(http, VIEWER, Cookie=cookie, **headers)

    assert answer.json() == {"data": {"viewer": {"email": account.email}}}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:8000"},
        {"Origin": "http://127.0.0.1:8001"},
    ],
)
async def test_a_page_of_another_site_is_unauthenticated(
    http: httpx2.AsyncClient, services: Services, cookie: str, headers: dict[str, str]
) -> None:
    read = await post(http, VIEWER, Cookie=cookie, **headers)
    changed = await post(http, INVITE, Cookie=cookie, **headers)

    assert (read.status_code, codes(read)) == (401, ["unauthenticated"])
    assert (changed.status_code, codes(changed)) == (401, ["unauthenticated"])
    assert await USERS.count(services) == 1


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_session_takes_json_alone(http: httpx2.AsyncClient, services: Services, cookie: str, kind: str) -> None:
    answer = await http.post("/graphql", json=INVITE, headers={"Cookie": cookie, "Content-Type": kind, **OURS})

    assert answer.status_code == 415
    assert await USERS.count(services) == 1


async def test_a_session_changes_nothing_by_a_get(http: httpx2.AsyncClient, services: Services, cookie: str) -> None:
    http.headers.update({"Cookie": cookie, **OURS})

    assert (await get(http, query=VIEWER["query"])).status_code == 200
    assert (await get(http, query=INVITE["query"])).status_code == 405
    assert await USERS.count(services) == 1


@pytest.mark.parametrize("cookie", ["session=", "session=unknown", 'session="', "session", "form=x"])
async def test_an_unknown_cookie_is_unauthenticated(http: httpx2.AsyncClient, account: Opened, cookie: str) -> None:
    answer = await post(http, VIEWER, Cookie=cookie, **OURS)

    assert codes(answer) == ["unauthenticated"]


async def test_a_key_goes_before_a_session(http: httpx2.AsyncClient, account: Opened, cookie: str) -> None:
    good = await post(http, INVITE, Cookie=cookie, Authorization=f"Bearer {account.svc_key}", **OURS)
    bad = await post(http, VIEWER, Cookie=cookie, Authorization="Bearer svc_unknown", **OURS)

    assert (codes(good), codes(bad)) == (["insufficient_scope"], ["unauthenticated"])


async def test_rest_takes_no_session(http: httpx2.AsyncClient, cookie: str) -> None:
    answer = await http.get("/contacts", headers={"Cookie": cookie, **OURS})

    assert answer.status_code == 401


async def test_a_session_has_the_scopes_that_its_users_role_has_now(
    http: httpx2.AsyncClient, services: Services, cookie: str
) -> None:
    await change_role(services, "member")
    read, refused = [await post(http, each, Cookie=cookie, **OURS) for each in (VIEWER, INVITE)]
    assert (read.status_code, codes(refused)) == (200, ["insufficient_scope"])

    await change_role(services, "owner")
    assert (await post(http, INVITE, Cookie=cookie, **OURS)).status_code == 200


async def test_a_service_user_is_told_that_its_session_connects_applications_only(
    http: httpx2.AsyncClient, services: Services, cookie: str
) -> None:
    await change_role(services, "service")

    answer = await post(http, VIEWER, Cookie=cookie, **OURS)

    assert (answer.status_code, codes(answer)) == (401, ["unauthenticated"])
    assert "signs in to connect applications only" in answer.text


async def test_an_action_of_a_session_is_audited_as_its_user(
    http: httpx2.AsyncClient, services: Services, cookie: str
) -> None:
    answer = await post(http, INVITE, Cookie=cookie, **OURS)

    [user] = await USERS.read(services, "id")
    row = await AUDIT_ENTRIES.last(services, "actor", "request_id")
    assert (row["actor"], row["request_id"]) == (f"user:{user}", answer.headers["x-request-id"])


async def test_a_stream_of_events_takes_a_session(served: Served, account: Opened, cookie: str) -> None:
    headers = {"Accept": "text/event-stream", "Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        answer = await client.get(f"http://{served.address}", params=VIEWER, headers=headers)

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert f'{{"viewer":{{"email":"{account.email}"}}}}' in answer.text


async def test_a_websocket_takes_a_session_from_our_own_pages(served: Served, account: Opened, cookie: str) -> None:
    origin = Origin(f"http://{served.address.partition('/')[0]}")
    async with asyncio.timeout(PATIENCE_SECONDS), _connect(served, cookie, origin) as socket:
        await socket.send('{"type":"connection_init"}')
        assert orjson.loads(await socket.recv()) == {"type": "connection_ack"}
        await socket.send(orjson.dumps({"type": "subscribe", "id": "1", "payload": VIEWER}).decode())
        told = orjson.loads(await socket.recv())

    assert told == {"type": "next", "id": "1", "payload": {"data": {"viewer": {"email": account.email}}}}


async def test_a_websocket_that_names_no_origin_has_no_session(served: Served, cookie: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), _connect(served, cookie, None) as socket:
        await socket.send('{"type":"connection_init"}')
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()

    assert closed.value.rcvd
    assert closed.value.rcvd.code == 4403


def _connect(served: Served, cookie: str, origin: Origin | None) -> connect:
    return connect(
        f"ws://{served.address}",
        origin=origin,
        subprotocols=[Subprotocol(PROTOCOL)],
        additional_headers={"Cookie": cookie},
        open_timeout=PATIENCE_SECONDS,
    )
