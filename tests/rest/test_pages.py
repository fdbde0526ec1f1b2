"""Pages about the service itself."""

import re

import httpx2
import pytest

from app.domain.kernel.errors import catalogue
from tests.rest.answers import refusal

pytestmark = pytest.mark.anyio


async def test_the_front_door_leads_to_pages_that_exist(http: httpx2.AsyncClient) -> None:
    front = await http.get("/")

    paths = re.findall(r'href="([^"]+)"', front.text)
    answers = {path: await http.get(path, headers={"Accept": "text/html"}) for path in paths}
    assert front.headers["content-type"] == "text/html; charset=utf-8"
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(
        ["/login", "/graphql", "/openapi.json", "/docs/errors", "/readyz", "/metrics"], 200
    )


async def test_the_openapi_document_describes_the_service_at_its_own_address(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/openapi.json")

    document = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert (document["openapi"], document["servers"]) == ("3.1.0", [{"url": "http://127.0.0.1:8000"}])


async def test_every_error_code_is_explained_at_the_address_that_errors_name(http: httpx2.AsyncClient) -> None:
    docs = (await http.get("/contacts")).json()["docs"]

    page = await http.get(docs)

    assert docs == "http://127.0.0.1:8000/docs/errors#unauthenticated"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert set(re.findall(r'<h2 id="(\w+)">', page.text)) >= set(catalogue())


async def test_pages_are_read_and_not_written(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/openapi.json")

    assert refusal(answer)[:2] == (405, "method_not_allowed")
