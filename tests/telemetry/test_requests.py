"""Requests: each has an id and a time."""

import re
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket
from structlog.testing import capture_logs

from app.telemetry.logs import configure
from app.telemetry.metrics import REGISTRY
from app.telemetry.requests import REQUEST_ID, RequestTelemetry

pytestmark = pytest.mark.anyio


async def show(request: Request) -> Response:
    """Answer with the id, as the code below a request sees it."""
    return JSONResponse({"state": request.state.request_id, "bound": REQUEST_ID.get()})


async def fail(request: Request) -> Response:
    """Raise what nobody expected."""
    raise RuntimeError("broken")


SHARED = PlainTextResponse("always the same")


async def share(request: Request) -> Response:
    """Answer with one response object for all requests."""
    return SHARED


async def greet(socket: WebSocket) -> None:
    """Send the id over a socket."""
    await socket.accept()
    await socket.send_text(socket.state.request_id)
    await socket.close()


async def enumerate(request: Request) -> Response:
    """Answer with a status of an enum."""
    return PlainTextResponse(status_code=HTTPStatus.IM_A_TEAPOT)


ROUTES = [
    Route("/enum", enumerate),
    Route("/show/{number}", show, methods=["GET", "POST"]),
    Route("/fail", fail),
    Route("/share", share),
    Mount("/mounted", SHARED),
    WebSocketRoute("/greet", greet),
]


@pytest.fixture
def debugging() -> None:
    """Log all there is, from before the application is made."""
    configure("json", "debug")


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    """Speak to an application behind the middleware."""
    application: Any = RequestTelemetry(Starlette(routes=ROUTES))
    transport = httpx2.ASGITransport(application, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client


def counted(method: str, route: str, status: int) -> float:
    """Return how many requests were timed."""
    labels = {"method": method, "route": route, "status": str(status)}
    return REGISTRY.get_sample_value("messaging_request_seconds_count", labels) or 0.0


@pytest.mark.parametrize(
    "given",
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "0193b6a4-8c1e-7d2f-9a3b-5c6d7e8f9012", "job_12-a", "a" * 64],
)
async def test_an_acceptable_id_is_kept_and_echoed(client: httpx2.AsyncClient, given: str) -> None:
    response = await client.get("/show/1", headers={"X-Request-Id": given})

    assert response.headers["X-Request-Id"] == given
    assert response.json() == {"state": given, "bound": given}


@pytest.mark.parametrize("given", ["", "short12", "a" * 65, "with space", "semi;colon", "line\tfeed", "naïve-id"])
async def test_any_other_id_is_replaced(client: httpx2.AsyncClient, given: str) -> None:
    response = await client.get("/show/1", headers=[(b"X-Request-Id", given.encode())])

    assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])
    assert response.json()["state"] == response.headers["X-Request-Id"]


async def test_requests_without_an_id_get_different_ones_that_sort_by_time(client: httpx2.AsyncClient) -> None:
    first = (await client.get("/show/1")).headers["X-Request-Id"]
    second = (await client.get("/show/1")).headers["X-Request-Id"]

    assert first != second
    assert first[:12] <= second[:12]


@pytest.mark.parametrize(
    ("method", "path", "route", "status"),
    [
        ("GET", "/show/1", "/show/{number}", 200),
        ("POST", "/show/2", "/show/{number}", 200),
        ("DELETE", "/show/3", "/show/{number}", 405),
        ("GET", "/mounted/deep/down", "/mounted", 200),
        ("GET", "/nowhere/at/all", "unmatched", 404),
        ("GET", "/fail", "/fail", 500),
    ],
)
async def test_a_request_is_timed_under_the_template_of_its_route(
    client: httpx2.AsyncClient, method: str, path: str, route: str, status: int
) -> None:
    before = counted(method, route, status)

    response = await client.request(method, path)

    assert response.status_code == status
    assert "X-Request-Id" in response.headers
    assert counted(method, route, status) == before + 1


@pytest.mark.usefixtures("debugging")
async def test_a_status_of_an_enum_is_logged_as_a_number(client: httpx2.AsyncClient) -> None:
    with capture_logs() as logs:
        await client.get("/enum")

    assert [repr(each["status"]) for each in logs if each["event"] == "request"] == ["418"]


async def test_an_invented_method_makes_no_figure_of_its_own(client: httpx2.AsyncClient) -> None:
    before = counted("other", "unmatched", 404)

    await client.request("INVENTED", "/nowhere")

    assert counted("other", "unmatched", 404) == before + 1
    assert counted("INVENTED", "unmatched", 404) == 0


async def test_a_response_object_that_is_used_twice_carries_one_id_each_time(client: httpx2.AsyncClient) -> None:
    await client.get("/share")

    response = await client.get("/share", headers={"X-Request-Id": "second-time"})

    assert response.headers.get_list("X-Request-Id") == ["second-time"]


@pytest.mark.usefixtures("debugging")
async def test_a_failure_is_logged_as_a_warning_and_a_success_for_debugging(client: httpx2.AsyncClient) -> None:
    with capture_logs() as logs:
        await client.get("/show/1")
        await client.get("/fail")

    assert [(entry["log_level"], entry["route"], entry["status"]) for entry in logs if "status" in entry] == [
        ("debug", "/show/{number}", 200),
        ("warning", "/fail", 500),
    ]


async def test_a_socket_has_an_id_too() -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": "/greet",
        "headers": [(b"x-request-id", b"socket-1")],
        "query_string": b"",
        "subprotocols": [],
    }
    application: Any = Starlette(routes=ROUTES)

    await RequestTelemetry(application)(scope, receive, send)

    assert [message.get("text") for message in sent] == [None, "socket-1", None]
