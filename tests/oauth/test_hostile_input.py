"""Malicious input is refused with the matching error, and never causes an internal error."""

import base64
from collections.abc import Awaitable, Callable

import httpx2
import orjson
import pytest

from app.domain.onboarding.service import Opened
from tests.oauth.applications import REGISTER, REVOKE, TOKEN, Application
from tests.oauth.browsing import OURS, Browsing

pytestmark = pytest.mark.anyio

Send = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def unsigned(header: str) -> str:
    """Return a text in the form of a JWT, with a header as it is given."""
    parts = (header.encode(), b"{}", b"x")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


JWTS = [
    unsigned('{"alg":"RS256","typ":"at+jwt","kid":"\\ud800"}'),
    unsigned('{"alg":"RS256","typ":"at+jwt","kid":"\\u0000"}'),
    unsigned('{"alg":"RS256","typ":"at+jwt","kid":["x"]}'),
    unsigned('{"alg":"\\ud800","typ":"\\ud800","kid":"x"}'),
    unsigned('{"alg":"RS256","typ":"at+jwt","kid":"x","crit":["\\ud800"]}'),
    unsigned('{"alg":"RS256","typ":"at+jwt","kid":"x","b64":false}'),
    unsigned("[" * 3000),
    unsigned("1e400"),
    unsigned('{"exp":' + "9" * 5000 + "}"),
    ".." + "é",
]


@pytest.mark.parametrize("token", JWTS)
async def test_a_token_that_cannot_be_one_is_refused(http: httpx2.AsyncClient, token: str):
    headers = {"Authorization": f"Bearer {token}".encode("latin-1")}

    answers = [await http.get("/contacts", headers=headers), await http.post("/mcp", headers=headers)]

    assert [answer.status_code for answer in answers] == [401, 401]


@pytest.mark.parametrize("token", JWTS)
async def test_a_token_that_cannot_be_one_is_revoked_already(application: Application, token: str):
    assert (await application.post(REVOKE, token=token)).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"grant_type=refresh_token&client_id=%00&refresh_token=%00",
        b"grant_type=refresh_token&client_id=%ed%a0%80&refresh_token=%ed%a0%80",
        b"grant_type=refresh_token&client_id=\xff&refresh_token=\xff",
        b"grant_type=%ed%a0%80",
        b"grant_type=authorization_code&client_id=x&code=x&redirect_uri=http://[&resource=http://[",
    ],
)
async def test_a_token_request_that_cannot_be_meant_is_refused(http: httpx2.AsyncClient, body: bytes):
    for path in (TOKEN, REVOKE):
        answer = await http.post(path, content=body, headers=FORM)

        assert answer.status_code in (400, 401)


@pytest.mark.parametrize("user", ["nul\x00", "x:\x00", "\ud7ff"])
async def test_credentials_that_cannot_be_stored_are_wrong(http: httpx2.AsyncClient, user: str):
    basic = base64.b64encode(f"{user}:secret".encode()).decode()

    answer = await http.post(
        TOKEN,
        content=b"grant_type=refresh_token&refresh_token=x",
        headers=FORM | {"Authorization": f"Basic {basic}"},
    )

    assert answer.status_code in (400, 401)


@pytest.mark.parametrize(
    "body",
    [
        b'{"redirect_uris":["https://a.example/\\ud800"]}',
        b'{"redirect_uris":["https://a.example/\\u0000"]}',
        b'{"redirect_uris":["http://["]}',
        b'{"redirect_uris":["https://a.example:99999999999/"]}',
        b'{"redirect_uris":["https://a.example/"],"client_name":"\\ud800"}',
        b'{"redirect_uris":["https://a.example/"],"client_uri":"https://\\ud800"}',
        b'{"redirect_uris":["https://a.example/"],"scope":"\\u0000"}',
        b'{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":{"a":1}}',
        b'{"redirect_uris":["https://a.example/"],"grant_types":' + b"9" * 5000 + b"}",
    ],
)
async def test_a_registration_that_cannot_be_stored_is_refused(http: httpx2.AsyncClient, body: bytes):
    assert (await http.post(REGISTER, content=body)).status_code == 400


async def test_a_name_and_a_page_that_cannot_be_stored_are_left_out(http: httpx2.AsyncClient):
    body = orjson.dumps({"redirect_uris": ["https://a.example/"], "client_name": "\x00", "client_uri": "https://\x00"})

    told = (await http.post(REGISTER, content=body)).json()

    assert told["client_name"] == "An application without a name"
    assert "client_uri" not in told


@pytest.mark.parametrize("name", ["session", "form"])
@pytest.mark.parametrize("value", ['"\\012x"', '"\\000"', "\u00e9\u00ff", '"\\777"', "a b", ",", '"', "x" * 6000])
async def test_an_unknown_cookie_is_unauthenticated(http: httpx2.AsyncClient, name: str, value: str):
    headers = OURS | {"Cookie": f"{name}={value}".encode("latin-1")}

    answers = [
        await http.get("/login", headers=headers),
        await http.get("/account", headers=headers),
        await http.post("/login", data={"form_token": "x"}, headers=headers),
        await http.post("/graphql", json={"query": "{ account { id } }"}, headers=headers),
    ]

    assert [answer.status_code for answer in answers] == [200, 303, 403, 401]


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//", "\u00ff", "http://a]b", "http://[x]/"])
async def test_an_origin_that_cannot_be_one_is_foreign(
    browsing: Browsing, http: httpx2.AsyncClient, account: Opened, origin: str
):
    await browsing.enter(account)

    answer = await http.post(
        "/graphql", json={"query": "{ account { id } }"}, headers={"Origin": origin.encode("latin-1")}
    )

    assert answer.status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/password/%00",
        "/password/%ed%a0%80",
        "/password/" + "x" * 8000,
        "/login?next=%ed%a0%80",
        "/login?notice=%00&next=%00",
        "/automation/oauth/authorize?client_id=%00&redirect_uri=%00",
        "/automation/oauth/authorize?client_id=https://[&redirect_uri=http://[",
        "/automation/oauth/authorize?client_id=https://a.example:x/y&redirect_uri=http://[",
        "/automation/oauth/authorize?client_id=https://%ed%a0%80.example/y&redirect_uri=x",
    ],
)
async def test_an_address_that_leads_nowhere_is_told_on_a_page(http: httpx2.AsyncClient, path: str):
    answer = await http.get(path)

    assert answer.status_code in (200, 400, 410)
    assert answer.headers["content-type"].startswith("text/html")
