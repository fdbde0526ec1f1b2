"""The short way of requests to plain routes, past the middleware and the routing of the framework."""

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.routing import CountedRoute, PlainRoute, ShortWay

pytestmark = pytest.mark.anyio


class Answer:
    """An endpoint that answers its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(self._name)(scope, receive, send)


class Marked:
    """Middleware that adds a header."""

    def __init__(self, app: ASGIApp, name: str) -> None:
        self._app = app
        self._header = (name.encode(), b"1")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def begin(message: Scope) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append(self._header)
            await send(message)

        await self._app(scope, receive, begin if scope["type"] == "http" else send)


@pytest.fixture
def http() -> httpx2.AsyncClient:
    routes = [
        CountedRoute("/things/{name}", Answer("any"), methods=["GET"]),
        PlainRoute("/things/own", Answer("own"), methods=["GET", "POST"]),
        PlainRoute("/notes", Answer("notes"), methods=["GET"]),
        PlainRoute("/notes/{id}", Answer("note"), methods=["GET"]),
        CountedRoute("/others", Answer("others"), methods=["GET"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Marked, "framework")])
    short = ShortWay(app, lambda endpoint: Marked(endpoint, "guard"))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(short), base_url="http://127.0.0.1")


@pytest.mark.parametrize(("method", "path", "name"), [("GET", "/notes", "notes"), ("POST", "/things/own", "own")])
async def test_a_plain_route_with_a_fixed_path_is_served_within_its_guard_only(
    http: httpx2.AsyncClient, method: str, path: str, name: str
) -> None:
    answer = await http.request(method, path)

    assert answer.text == name
    assert ("guard" in answer.headers, "framework" in answer.headers) == (True, False)


@pytest.mark.parametrize(
    ("path", "name"), [("/things/own", "any"), ("/notes/7", "note"), ("/others", "others"), ("/things/x", "any")]
)
async def test_any_other_request_goes_through_the_framework(http: httpx2.AsyncClient, path: str, name: str) -> None:
    answer = await http.get(path)

    assert answer.text == name
    assert ("guard" in answer.headers, "framework" in answer.headers) == (False, True)


@pytest.mark.parametrize(("method", "path", "status"), [("PUT", "/notes", 405), ("GET", "/nothing", 404)])
async def test_a_request_that_no_route_serves_is_left_to_the_framework(
    http: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await http.request(method, path)

    assert (answer.status_code, "framework" in answer.headers) == (status, True)
