"""Every answer of every route carries the headers that keep browsers from guessing, framing and keeping it."""

import re
from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from app.http.headers import DEFAULTS, HTTPS_ONLY, SafeHeaders

NAMES = [name.decode() for name, _ in DEFAULTS]

pytestmark = pytest.mark.anyio


def routes_of(http: httpx2.AsyncClient) -> list[Route]:
    """Return the routes of the application that a client speaks with."""
    transport: Any = http._transport
    app = transport.app
    while not hasattr(app, "routes"):
        app = app._app
    return [route for route in app.routes if isinstance(route, Route)]


async def test_every_route_carries_the_headers_whatever_it_answers(http: httpx2.AsyncClient) -> None:
    routes = routes_of(http)
    for route in routes:
        path = re.sub(r"\{[^}]*\}", "1", route.path)
        for method in sorted(route.methods or ["GET"]):
            answer = await http.request(method, path)
            lacking = [name for name in NAMES if len(answer.headers.get_list(name)) != 1]
            assert lacking == [], (method, path, answer.status_code)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], path
            assert answer.headers["x-content-type-options"] == "nosniff"

    assert len(routes) > 30


@pytest.mark.parametrize("path", ["/no/such/path", "/contacts", "/billing/balance", "/readyz"])
async def test_an_answer_of_the_api_is_not_kept(http: httpx2.AsyncClient, path: str) -> None:
    assert (await http.get(path)).headers["cache-control"] == "no-store"


async def test_an_answer_that_is_refused_for_its_method_carries_them_too(http: httpx2.AsyncClient) -> None:
    refused = await http.patch("/contacts")

    assert refused.status_code == 405
    assert [refused.headers[name.decode()] for name, _ in DEFAULTS] == [value.decode() for _, value in DEFAULTS]


async def test_https_is_asked_for_where_the_service_is_reached_over_it_and_nowhere_else() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    given: list[str | None] = []
    for https in (True, False):
        transport = httpx2.ASGITransport(app=SafeHeaders(app, https=https))
        async with httpx2.AsyncClient(transport=transport, base_url="http://a") as http:
            given.append((await http.get("/")).headers.get(HTTPS_ONLY[0].decode()))

    assert given == ["max-age=31536000", None]
