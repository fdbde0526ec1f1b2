"""Pages about the service itself."""

import re

import httpx2
import pytest

from app.domain.kernel.errors import catalogue
from tests.rest.answers import refusal

pytestmark = pytest.mark.anyio


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


async def test_the_page_of_errors_shows_paragraphs_and_code(http: httpx2.AsyncClient) -> None:
    page = await http.get("/docs/errors")

    assert "<p>Everything else works. An owner can withdraw the deletion with the mutation" in page.text
    assert "<code>withdraw_account_deletion</code>" in page.text
    assert "`" not in page.text


PAGE_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@pytest.mark.parametrize("path", ["/docs/errors", "/nowhere"])
async def test_pages_have_the_headers_of_the_other_pages(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path, headers={"Accept": "text/html,*/*;q=0.8"})

    assert {name: answer.headers[name] for name in PAGE_HEADERS} == PAGE_HEADERS
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "set-cookie" not in answer.headers


async def test_a_browser_at_an_address_without_an_endpoint_is_shown_a_page(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/<b>nowhere", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})

    assert answer.status_code == 404
    assert "There is no page at <strong>/&lt;b&gt;nowhere</strong>." in answer.text


@pytest.mark.parametrize(("method", "accept"), [("GET", "*/*"), ("GET", "application/json"), ("POST", "text/html")])
async def test_a_program_at_an_address_without_an_endpoint_is_answered_json(
    http: httpx2.AsyncClient, method: str, accept: str
) -> None:
    answer = await http.request(method, "/nowhere", headers={"Accept": accept})

    assert refusal(answer) == (404, "not_found", "There is no endpoint /nowhere. /openapi.json lists the endpoints.")


async def test_pages_are_read_and_not_written(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/openapi.json")

    assert refusal(answer)[:2] == (405, "method_not_allowed")
