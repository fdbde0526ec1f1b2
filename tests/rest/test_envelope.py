"""The specification's chapter on errors: whatever goes wrong, the answer is in the envelope and nothing was done."""

import asyncio
from collections.abc import AsyncGenerator

import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.db.engine import Pool
from app.rest import envelope
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.traps import column_gone
from tests.rest.answers import data, refusal
from tests.waiting import never, within

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
INTERNAL = (500, "internal_error", "An unexpected error of the service. Try again.")


@pytest.fixture
def pool(services: Services) -> Pool:
    return services.database.pool


@pytest.fixture
async def broken(pool: Pool) -> AsyncGenerator[None]:
    """Break the service from within: a column that it reads and writes is gone."""
    async with column_gone(pool, "contacts", "email"):
        yield


@pytest.mark.parametrize("body", [b"{", b"[]", b"7", b'"x"', b"null", b'{"phone":NaN}', b'{"phone":"\xff"}', b"a=b"])
async def test_a_body_that_is_no_json_object_is_refused_with_400(
    api: httpx2.AsyncClient, pool: Pool, body: bytes
) -> None:
    answer = await api.post("/contacts", content=body, headers=JSON)

    assert refusal(answer)[:2] == (400, "invalid_json")
    assert await CONTACTS.count(pool) == 0


async def test_a_body_of_another_media_type_is_refused_with_415(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await api.post("/contacts", data={"phone": "+12025550143"})

    text = "Send the body as application/json in UTF-8, not as application/x-www-form-urlencoded."
    assert refusal(answer) == (415, "unsupported_media_type", text)
    assert await CONTACTS.count(pool) == 0


async def test_a_body_of_more_than_256_kib_is_refused_with_413(api: httpx2.AsyncClient, pool: Pool) -> None:
    body = b'{"phone":"+12025550143","other":"%s"}' % (b"x" * 262_144)

    answer = await api.post("/contacts", content=body, headers=JSON)

    assert refusal(answer) == (413, "body_too_large", "The body is larger than 262144 bytes.")
    assert await CONTACTS.count(pool) == 0


async def test_a_member_that_the_endpoint_does_not_know_is_ignored(api: httpx2.AsyncClient) -> None:
    contact = data(await api.post("/contacts", json={"phone": "+12025550143", "colour": "blue", "id": 7, "score": 99}))

    assert contact["score"] == 10


@pytest.mark.parametrize("path", ["/sms", "/contacts/", "/contacts/1/notes", "/sms/send/", "/v1/contacts"])
async def test_a_path_where_nothing_stands_is_refused_with_404(api: httpx2.AsyncClient, path: str) -> None:
    answer = await api.get(path)

    assert refusal(answer) == (404, "not_found", f"There is no endpoint {path}. /openapi.json lists the endpoints.")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/sms/send", "POST"),
        ("POST", "/sms/logs", "GET, HEAD"),
        ("PATCH", "/contacts", "GET, HEAD, POST"),
        ("POST", "/contacts/1", "DELETE, GET, HEAD, PUT"),
        ("DELETE", "/billing/balance", "GET, HEAD"),
    ],
)
async def test_a_method_that_a_path_does_not_take_is_refused_with_405(
    api: httpx2.AsyncClient, method: str, path: str, allowed: str
) -> None:
    answer = await api.request(method, path)

    text = f"{path} does not support {method}. It supports {allowed}."
    assert refusal(answer) == (405, "method_not_allowed", text)
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(("method", "path"), [("GET", "/contacts"), ("POST", "/contacts"), ("POST", "/sms/send")])
async def test_a_crash_is_told_as_500_with_nothing_of_its_cause(
    api: httpx2.AsyncClient, broken: None, method: str, path: str
) -> None:
    body = {"phone": "+12025550143", "to": "+12025550143", "message": "Hello", "consent_attested": True}

    answer = await api.request(method, path, json=body if method == "POST" else None)

    assert refusal(answer) == INTERNAL


async def test_a_request_that_the_stop_of_the_process_cancels_is_refused_with_503() -> None:
    begun = asyncio.Event()

    async def wait(_: Request) -> Response:
        begun.set()
        await never()
        return Response()

    app = FastAPI(routes=[Route("/", wait)])
    envelope.install(app, "https://example.com/errors")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
        request = asyncio.create_task(client.get("/"))
        await within("the request to begin", begun.wait())
        request.cancel()
        answer = await within("the answer", request)

    assert (answer.status_code, answer.json()["error_code"]) == (503, "unavailable")


async def test_a_request_id_of_the_client_is_echoed(api: httpx2.AsyncClient) -> None:
    good = await api.get("/contacts", headers={"X-Request-Id": "order-4711"})
    bad = await api.get("/contacts?limit=0", headers={"X-Request-Id": "order-4712"})

    assert good.headers["x-request-id"] == "order-4711"
    assert bad.json()["request_id"] == "order-4712"


@pytest.mark.parametrize("sent", ["", "short", "a b c d e f g h", "x" * 65])
async def test_a_request_id_that_could_not_be_searched_for_is_replaced(api: httpx2.AsyncClient, sent: str) -> None:
    answer = await api.get("/contacts", headers={"X-Request-Id": sent})

    assert len(answer.headers["x-request-id"]) == 32
