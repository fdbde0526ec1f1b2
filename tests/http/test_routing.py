"""The short way of requests to plain routes, past the middleware and the routing of the framework."""

from collections.abc import Awaitable, Callable

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.routing import CountedRoute, PlainRoute, ShortWay

pytestmark = pytest.mark.anyio


def answering(name: str) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers its name and the parameters of its path."""

    async def respond(request: Request) -> Response:
        return PlainTextResponse(" ".join([name, *request.path_params.values()]))

    return respond


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
        CountedRoute("/things/{name}", answering("any"), methods=["GET"]),
        PlainRoute("/things/own", answering("own"), methods=["GET", "POST"]),
        PlainRoute("/notes", answering("notes"), methods=["GET"]),
        PlainRoute("/notes/{id}", answering("note"), methods=["GET"]),
        PlainRoute("/places/{id}", answering("place"), methods=["GET"]),
        PlainRoute("/{kind}/{id}/copies", answering("copies"), methods=["GET"]),
        CountedRoute("/others", answering("others"), methods=["GET"]),
        Mount("/places", routes=[CountedRoute("/{id}/keys", answering("keys"), methods=["GET"])]),
        PlainRoute("/places/{id}/keys", answering("late"), methods=["GET"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Marked, "framework")])
    short = ShortWay(app, lambda endpoint: Marked(endpoint, "guard"))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(short), base_url="http://127.0.0.1")


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [("GET", "/notes", "notes"), ("POST", "/things/own", "own"), ("GET", "/notes/7", "note 7")],
)
async def test_a_plain_route_is_served_within_its_guard_only(
    http: httpx2.AsyncClient, method: str, path: str, text: str
) -> None:
    answer = await http.request(method, path)

    assert answer.text == text
    assert ("guard" in answer.headers, "framework" in answer.headers) == (True, False)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/things/own", "any own"),
        ("/others", "others"),
        ("/things/x", "any x"),
        ("/places/7/keys", "keys 7"),
        ("/others/7/copies", "copies others 7"),
    ],
)
async def test_any_other_request_goes_through_the_framework(http: httpx2.AsyncClient, path: str, text: str) -> None:
    answer = await http.get(path)

    assert answer.text == text
    assert ("guard" in answer.headers, "framework" in answer.headers) == (False, True)


@pytest.mark.parametrize(("method", "path", "status"), [("PUT", "/notes/7", 405), ("GET", "/nothing", 404)])
async def test_a_request_that_no_route_serves_is_left_to_the_framework(
    http: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await http.request(method, path)

    assert (answer.status_code, "framework" in answer.headers) == (status, True)
