"""GraphQL over HTTP: what is read of a request, and which are refused."""

import httpx2
import orjson
import pytest

from app.graphql.execution.errors import NotAcceptable
from app.graphql.transport.requests import GRAPHQL, JSON, MAX_BODY, choose_media_type
from app.services import Services
from tests.factories.messages import MESSAGES
from tests.graphql.calls import BROWSER, SEND, TYPENAME, URL, codes, get, post

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("APPLICATION/JSON; charset=utf-8", JSON),
        ("application/graphql-response+json", GRAPHQL),
        ("application/graphql-response+json;charset=utf-8", GRAPHQL),
        ("application/json, application/graphql-response+json", GRAPHQL),
        ("application/graphql-response+json, application/json;q=0.9", GRAPHQL),
        ("application/graphql-response+json;q=0.8, application/json;q=0.9", JSON),
        ("application/graphql-response+json; q=0.5, */*", JSON),
        ("application/json;q=0.5, */*", GRAPHQL),
        ("application/json;q=0, */*", GRAPHQL),
        (BROWSER, JSON),
        ("application/json;q=high", JSON),
    ],
)
def test_the_media_type_is_the_one_that_the_client_likes_best(accept: str, media_type: str):
    assert choose_media_type(accept) == media_type


@pytest.mark.parametrize("accept", ["text/html", "text/*", "application/xml", "application/json;q=0", "*/*;q=0.000"])
def test_a_client_that_takes_neither_media_type_is_refused(accept: str):
    with pytest.raises(NotAcceptable):
        choose_media_type(accept)


async def test_a_request_with_an_unacceptable_answer_type_is_not_executed(api: httpx2.AsyncClient, services: Services):
    response = await post(api, {"query": SEND}, accept="application/xml")

    assert response.status_code == 406
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert codes(response) == ["not_acceptable"]
    assert await MESSAGES.count(services) == 0


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_the_answer_bears_its_media_type_and_charset(http: httpx2.AsyncClient, accept: str):
    response = await post(http, TYPENAME, accept)

    assert response.status_code == 200
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    assert response.content == b'{"data":{"__typename":"Query"}}'


async def test_a_query_by_get_reads_its_parameters_from_the_url(http: httpx2.AsyncClient):
    response = await get(
        http,
        query="query a { __typename } query b($name: String!) { __type(name: $name) { name } }",
        operationName="b",
        variables='{"name": "Contact"}',
        extensions='{"any": "thing"}',
    )

    assert (response.status_code, response.json()) == (200, {"data": {"__type": {"name": "Contact"}}})


async def test_empty_parameters_are_none(http: httpx2.AsyncClient):
    response = await get(http, query="{ __typename }", operationName="", variables="", extensions="")

    assert response.json() == {"data": {"__typename": "Query"}}


async def test_a_mutation_by_get_is_refused(api: httpx2.AsyncClient, services: Services):
    response = await get(api, query=SEND)

    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert codes(response) == ["method_not_allowed"]
    assert response.json()["errors"][0]["message"] == "A mutation does not support GET. It supports POST."
    assert await MESSAGES.count(services) == 0


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_another_method_is_refused_by_name(http: httpx2.AsyncClient, method: str):
    response = await http.request(method, URL)

    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"", "invalid_json", "The body must be a JSON object: Input is a zero-length, empty document"),
        (b'{"query": ', "invalid_json", "The body must be a JSON object: unexpected end of data"),
        (b'\xff{"query": "{ a }"}', "invalid_json", "The body must be a JSON object: "),
        (b"[" * 2000, "invalid_json", "The body must be a JSON object: "),
        (b"[]", "invalid_json", "The body must be a JSON object: this is an array, and a request has one operation."),
        (b'[{"query": "{ __typename }"}]', "invalid_json", "The body must be a JSON object: this is an array"),
        (b'"{ __typename }"', "invalid_json", "The body must be a JSON object: this is not an object."),
        (b"null", "invalid_json", "The body must be a JSON object: this is not an object."),
        (b"{}", "invalid_graphql", "The request has no `query`."),
        (b'{"query": null}', "invalid_graphql", "The request has no `query`."),
        (b'{"query": ""}', "invalid_graphql", "The request has no `query`."),
        (b'{"query": 1}', "invalid_graphql", "`query` must be a string."),
        (b'{"query": "{ a }", "variables": []}', "invalid_graphql", "`variables` must be an object."),
        (b'{"query": "{ a }", "variables": "{}"}', "invalid_graphql", "`variables` must be an object."),
        (b'{"query": "{ a }", "operationName": 1}', "invalid_graphql", "`operationName` must be a string."),
        (b'{"query": "{ a }", "extensions": false}', "invalid_graphql", "`extensions` must be an object."),
    ],
)
@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_an_invalid_body_is_refused_with_the_reason(
    http: httpx2.AsyncClient, accept: str, body: bytes, code: str, message: str
):
    headers = {"Content-Type": "application/json", "Accept": accept}

    response = await http.post(URL, content=body, headers=headers)

    assert (response.status_code, codes(response)) == (400, [code])
    assert response.json()["errors"][0]["message"].startswith(message)
    assert "data" not in response.json()


@pytest.mark.parametrize("parameters", [{"variables": "[]"}, {"variables": '"a"'}, {"extensions": "3"}])
async def test_maps_in_a_url_must_be_objects(http: httpx2.AsyncClient, parameters: dict[str, str]):
    response = await get(http, query="{ __typename }", **parameters)

    assert (response.status_code, codes(response)) == (400, ["invalid_graphql"])


async def test_maps_in_a_url_must_be_json(http: httpx2.AsyncClient):
    response = await get(http, query="{ __typename }", variables="{a: 1}")

    assert (response.status_code, codes(response)) == (400, ["invalid_json"])


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json;charset=UTF-8",
        'Application/JSON; charset="utf-8"',
        "application/json; a=b",
    ],
)
async def test_json_in_utf_8_is_read(http: httpx2.AsyncClient, content_type: str):
    query = '{ __type(name: "Run🏃Swim🏊") { name } }'

    response = await http.post(URL, content=orjson.dumps({"query": query}), headers={"Content-Type": content_type})

    assert (response.status_code, response.json()) == (200, {"data": {"__type": None}})


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/graphql", "application/x-www-form-urlencoded", "application/json; charset=utf-16"],
)
async def test_any_other_body_is_refused(http: httpx2.AsyncClient, content_type: str):
    headers = {"Content-Type": content_type} if content_type else {}

    response = await http.post(URL, content=b'{"query": "{ __typename }"}', headers=headers)

    assert (response.status_code, codes(response)) == (415, ["unsupported_media_type"])


async def test_a_mebibyte_is_read_and_a_byte_more_is_not(http: httpx2.AsyncClient):
    frame = len(b'{"query":"{ __typename }","extensions":{"a":""}}')
    body = {**TYPENAME, "extensions": {"a": "x" * (MAX_BODY - frame)}}
    headers = {"Content-Type": "application/json"}

    full = await http.post(URL, content=orjson.dumps(body), headers=headers)
    over = await http.post(URL, content=orjson.dumps(body) + b" ", headers=headers)

    assert len(full.request.content) == 1024 * 1024
    assert full.status_code == 200
    assert (over.status_code, codes(over)) == (413, ["body_too_large"])


async def test_a_document_that_is_too_long_is_refused_before_it_is_parsed(http: httpx2.AsyncClient):
    response = await post(http, {"query": "{ __typename }".ljust(32_769)})

    assert (response.status_code, codes(response)) == (400, ["query_too_complex"])
    assert response.json()["errors"][0]["message"] == "The document has 32,769 characters; 32,768 is the most."
