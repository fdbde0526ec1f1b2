"""Everything that goes wrong leaves in the envelope, and says nothing of its cause."""

from collections.abc import AsyncGenerator
from uuid import UUID

import asyncpg
import pytest
from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from tests.rest.toy import DOCS, client

pytestmark = pytest.mark.anyio


async def test_an_error_names_itself_its_page_and_its_request(app: FastAPI) -> None:
    answer = await client(app).get("/contacts/99")

    body = answer.json()
    request_id = body.pop("request_id")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert UUID(request_id).version == 4
    assert body == {
        "success": False,
        "error": "No contact with id 99.",
        "error_code": "not_found",
        "docs": f"{DOCS}#not_found",
    }


async def test_an_error_bears_the_id_that_its_request_was_given(app: FastAPI) -> None:
    app.add_middleware(Named)

    answers = [await client(app).get(path) for path in ("/contacts/99", "/nowhere", "/broken")]

    assert [answer.json()["request_id"] for answer in answers] == ["request-1"] * 3


class Named:
    """Names every request alike."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"request_id": "request-1"}
        await self.app(scope, receive, send)


async def test_a_path_that_leads_nowhere(app: FastAPI) -> None:
    answer = await client(app).get("/nowhere")

    assert answer.status_code == 404
    assert answer.json()["error_code"] == "not_found"
    assert answer.json()["error"] == "There is no endpoint /nowhere. /openapi.json lists the endpoints."


async def test_a_slash_at_the_end_leads_nowhere_else(app: FastAPI) -> None:
    answer = await client(app).get("/contacts/")

    assert answer.status_code == 404
    assert answer.json()["error_code"] == "not_found"


async def test_a_method_that_a_path_does_not_take(app: FastAPI) -> None:
    answer = await client(app).patch("/contacts/1")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PUT"
    assert answer.json()["error_code"] == "method_not_allowed"
    assert answer.json()["error"] == "/contacts/1 does not support PATCH. It supports DELETE, GET, HEAD, PUT."


async def test_a_missing_key_is_asked_for(app: FastAPI) -> None:
    answer = await client(app, key=None).get("/contacts")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error_code"] == "unauthenticated"


@pytest.mark.parametrize(
    ("code", "status", "seconds"), [("rate_limited", 429, "17"), ("unavailable", 503, "5"), ("conflict", 409, None)]
)
async def test_only_a_temporary_refusal_has_a_retry_after_header(
    app: FastAPI, code: str, status: int, seconds: str | None
) -> None:
    answer = await client(app).get(f"/refused/{code}")

    assert answer.status_code == status
    assert answer.json()["error_code"] == code
    assert answer.headers.get("retry-after") == seconds


async def test_an_unknown_exception_is_logged_once_and_nothing_of_it_is_told(app: FastAPI) -> None:
    with capture_logs() as logs:
        answer = await client(app).get("/broken")

    assert answer.status_code == 500
    assert answer.json()["error_code"] == "internal_error"
    assert answer.json()["error"] == "An unexpected error of the service. Try again."
    assert "hunter2" not in answer.text
    [entry] = logs
    assert (entry["event"], entry["route"]) == ("request_failed", "/broken")
    assert entry["request_id"] == answer.json()["request_id"]
    assert str(entry["exc_info"]) == "the password is hunter2"


async def test_an_exception_after_the_answer_began_is_left_to_the_server(app: FastAPI) -> None:
    async def half() -> AsyncGenerator[bytes]:
        yield b"half"
        raise RuntimeError("torn")

    app.add_api_route("/half", lambda: StreamingResponse(half()))

    with capture_logs() as logs, pytest.raises(RuntimeError, match="torn"):
        await client(app).get("/half")

    assert logs == []


async def test_an_exception_outside_of_everything_still_leaves_in_the_envelope(app: FastAPI) -> None:
    app.add_middleware(Broken)
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    with pytest.raises(RuntimeError, match="outermost"):
        await app({"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}, receive, send)

    assert sent[0]["status"] == 500
    assert b'"error_code":"internal_error"' in sent[1]["body"]
    assert b"outermost" not in sent[1]["body"]


class Broken:
    """Fails before anything is asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("outermost")


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "invalid_json"), (406, "invalid_input"), (413, "body_too_large"), (502, "internal_error")],
)
async def test_an_http_exception_of_a_library_takes_the_nearest_code(app: FastAPI, status: int, code: str) -> None:
    def by_hand() -> None:
        raise HTTPException(status, "Not this way.", {"X-Why": "because"})

    app.add_api_route("/by-hand", by_hand)

    answer = await client(app).get("/by-hand")

    assert answer.status_code == status
    assert (answer.json()["error_code"], answer.json()["error"]) == (code, "Not this way.")
    assert answer.headers["x-why"] == "because"


@pytest.mark.parametrize(
    "cause",
    [
        ConnectionResetError(),
        asyncpg.CannotConnectNowError(),
        asyncpg.InvalidAuthorizationSpecificationError(),
        asyncpg.ObjectNotInPrerequisiteStateError(),
        DBAPIError(None, None, asyncpg.ConnectionDoesNotExistError()),
    ],
    ids=lambda cause: type(cause).__name__,
)
async def test_without_its_database_a_route_is_unavailable(app: FastAPI, cause: Exception) -> None:
    async def away() -> None:
        raise cause

    app.add_api_route("/away", away)

    answer = await client(app).get("/away")

    assert (answer.status_code, answer.json()["error_code"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "5"
