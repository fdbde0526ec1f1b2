"""GraphQL over HTTP: what is answered, under which status, and what people see."""

from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from structlog.testing import capture_logs

from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.execute import Executor
from app.graphql.transport import endpoint
from app.graphql.transport.requests import GRAPHQL, JSON
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.traps import column_gone
from tests.graphql.calls import BROWSER, DOCS, SEND, TYPENAME, URL, codes, post, serving

pytestmark = pytest.mark.anyio

METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource"'


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"query": "{"}, "invalid_graphql", "Syntax Error: Expected Name, found <EOF>."),
        ({"query": "{ zzzzz }"}, "invalid_graphql", "Cannot query field 'zzzzz' on type 'Query'."),
        (
            {"query": "{ contacts { nodes { fist_name } } }"},
            "invalid_graphql",
            "Cannot query field 'fist_name' on type 'Contact'. Did you mean 'first_name' or 'last_name'?",
        ),
        (
            {"query": "query($id: BigInt!) { __typename @skip(if: false) message(id: $id) { id } }"},
            "invalid_graphql",
            "Variable '$id' has invalid value: Expected a value of non-null type 'BigInt!' to be provided.",
        ),
        (
            {"query": "query($id: BigInt!) { message(id: $id) { id } }", "variables": {"id": "9"}},
            "invalid_graphql",
            "Variable '$id' has invalid value: A BigInt is a whole number of at most 64 bits, not '9'.",
        ),
        (
            {"query": "query a { __typename } query b { __typename }"},
            "invalid_graphql",
            "Must provide operation name if query contains multiple operations.",
        ),
        ({"query": "query a { __typename }", "operationName": "b"}, "invalid_graphql", "Unknown operation named 'b'."),
        (
            {"query": "{ " + " ".join(f"x{n}: __typename" for n in range(31)) + " }"},
            "query_too_complex",
            "A document may have 30 aliases at most.",
        ),
    ],
)
@pytest.mark.parametrize(("accept", "status"), [(GRAPHQL, 400), (JSON, 200)])
async def test_an_invalid_document_is_refused_with_the_reason(
    api: httpx2.AsyncClient, accept: str, status: int, body: dict[str, Any], code: str, message: str
):
    response = await post(api, body, accept)

    [error] = response.json()["errors"]
    assert (response.status_code, error["message"]) == (status, message)
    assert error["extensions"] == {
        "code": code,
        "status": 400,
        "docs": f"{DOCS}#{code}",
        "request_id": response.headers["x-request-id"],
    } | ({"field": "id"} if message.startswith("Variable '$id'") else {})
    assert "data" not in response.json()


async def test_an_error_of_a_document_says_where_it_stands(http: httpx2.AsyncClient):
    response = await post(http, {"query": "{\n  nothing\n}"})

    assert response.json()["errors"][0]["locations"] == [{"line": 2, "column": 3}]


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_no_key_is_answered_401(http: httpx2.AsyncClient, accept: str):
    response = await post(http, {"query": "{ balance { rate } }"}, accept)

    assert (response.status_code, codes(response)) == (401, ["unauthenticated"])
    assert response.headers["www-authenticate"] == f"Bearer {METADATA}"
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    assert "data" not in response.json()


async def test_a_key_that_is_not_good_is_answered_401_whatever_is_asked(http: httpx2.AsyncClient):
    response = await post(http, TYPENAME, Authorization="Bearer nonsense")

    assert (response.status_code, codes(response)) == (401, ["unauthenticated"])
    assert response.headers["www-authenticate"] == (
        'Bearer error="invalid_token", '
        f'error_description="This is not a key: it was cut short or mistyped.", {METADATA}'
    )


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_a_scope_that_is_missing_is_answered_403(http: httpx2.AsyncClient, account: Opened, accept: str):
    response = await post(http, {"query": "{ balance { rate } }"}, accept, **{"X-API-Key": account.auto_key})

    assert (response.status_code, codes(response)) == (403, ["insufficient_scope"])
    told = "This needs the scope billing:read. Use a key or an access token that has it."
    assert response.json()["errors"][0]["message"] == told
    assert response.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="billing:read"'


async def test_only_the_operation_that_is_run_needs_its_scopes(http: httpx2.AsyncClient, account: Opened):
    query = "query mine { account { company_name } } query other { balance { rate } }"
    key = {"X-API-Key": account.auto_key}

    mine = await post(http, {"query": query, "operationName": "mine"}, **key)
    other = await post(http, {"query": query, "operationName": "other"}, **key)

    assert mine.json() == {"data": {"account": {"company_name": "Blue Door"}}}
    assert (other.status_code, codes(other)) == (403, ["insufficient_scope"])


async def test_a_rule_that_refuses_is_answered_200_with_its_own_status_and_path(api: httpx2.AsyncClient):
    response = await post(api, {"query": "{\n  message(id: 1) { id }\n}"})

    assert response.status_code == 200
    assert response.json() == {
        "errors": [
            {
                "message": "No message with id 1.",
                "locations": [{"line": 2, "column": 3}],
                "path": ["message"],
                "extensions": {
                    "code": "not_found",
                    "status": 404,
                    "docs": f"{DOCS}#not_found",
                    "request_id": response.headers["x-request-id"],
                },
            }
        ],
        "data": {"message": None},
    }


async def test_a_mutation_runs_and_its_repetition_says_so(api: httpx2.AsyncClient):
    first = await post(api, {"query": SEND, "variables": {"key": "once"}})
    again = await post(api, {"query": SEND, "variables": {"key": "once"}})

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["data"]["send_message"]["credits_remaining"] == 999
    assert again.content == first.content
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_defect_is_masked_and_can_be_found_by_its_request_id(api: httpx2.AsyncClient, services: Services):
    with capture_logs() as logged:
        async with column_gone(services.database.pool, "phone_numbers", "label"):
            response = await post(api, {"query": "{ phone_numbers { id } }"})

    [error] = response.json()["errors"]
    assert error["message"] == "An unexpected error of the service. Try again."
    assert error["extensions"] == {
        "code": "internal_error",
        "status": 500,
        "docs": f"{DOCS}#internal_error",
        "request_id": response.headers["x-request-id"],
    }
    assert "label" not in response.text
    assert [line["event"] for line in logged if line["log_level"] == "error"] == ["internal_error"]


async def test_a_database_that_is_gone_is_answered_503(services: Services):
    async def identify(_: Request) -> Actor | None:
        raise ConnectionRefusedError("the address is secret")

    routes = endpoint.routes(Executor(services), identify, DOCS)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(Starlette(routes=routes))) as client:
        response = await post(client, TYPENAME)

    assert (response.status_code, codes(response)) == (503, ["unavailable"])
    assert response.headers["retry-after"] == "5"
    assert "secret" not in response.text


async def test_an_operation_that_cannot_be_committed_is_answered_503_without_data(services: Services, account: Opened):
    pool = services.database.pool
    await pool.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RAISE serialization_failure; END $$; "
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON contacts DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    create = 'mutation { create_contact(contact: {phone: "+12025550143"}) { id } }'
    try:
        async with serving(services, Actor(account.account_id, frozenset({"contacts:write"}))) as client:
            response = await post(client, {"query": create})
    finally:
        await pool.execute("DROP TRIGGER refuse ON contacts; DROP FUNCTION refuse()")

    assert (response.status_code, codes(response)) == (503, ["unavailable"])
    assert "data" not in response.json()
    assert await CONTACTS.count(pool) == 0


async def test_a_browser_without_a_document_is_sent_to_the_explorer(services: Services):
    async with serving(services) as client:
        page = await client.get(URL, headers={"Accept": BROWSER})

    assert (page.status_code, page.headers["location"]) == (303, "/docs/graphql")


async def test_a_browser_with_a_document_gets_json(services: Services):
    async with serving(services) as client:
        response = await client.get(URL, headers={"Accept": BROWSER}, params={"query": "{ __typename }"})

    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.json() == {"data": {"__typename": "Query"}}
