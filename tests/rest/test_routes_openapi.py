"""The OpenAPI document says what the endpoints do, and they do what it says."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31

from app.operations.errors import InvalidDocument
from app.rest import openapi
from tests.operations.samples import compiled as compiled_samples
from tests.rest.toy import compiled

GOLDEN = Path(__file__).parents[2] / "docs" / "openapi.json"
INTEGER = {"type": "integer", "format": "int64"}
STRING = {"type": "string"}
NULL = {"type": "null"}


@pytest.fixture
def document() -> dict[str, Any]:
    return openapi.document(compiled(), version="1.2.3", server_url="https://sms.example")


def test_the_document_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert list(Draft202012Validator(OPENAPI_31).iter_errors(document)) == []


def test_the_document_names_the_service_its_areas_and_its_keys(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {"title": "Messaging API", "version": "1.2.3"}
    assert document["servers"] == [{"url": "https://sms.example"}]
    assert document["tags"] == [{"name": "contacts"}, {"name": "sms"}, {"name": "system"}]
    assert set(document["components"]["securitySchemes"]) == {"bearer", "api_key"}


def test_every_place_of_an_operation_is_an_endpoint_of_its_own(document: dict[str, Any]) -> None:
    ids = {
        (method, path): endpoint["operationId"]
        for path, methods in document["paths"].items()
        for method, endpoint in methods.items()
    }

    assert ids == {
        ("get", "/auth/test"): "whoami",
        ("get", "/oauth/test"): "whoami_2",
        ("get", "/broken"): "broken",
        ("get", "/refused/{code}"): "refused",
        ("post", "/echo"): "echo",
        ("post", "/ping"): "ping",
        ("get", "/contacts"): "list_contacts",
        ("post", "/contacts"): "create_contact",
        ("get", "/contacts/tags"): "list_tags",
        ("get", "/contacts/{id}"): "get_contact",
        ("put", "/contacts/{id}"): "update_contact",
        ("delete", "/contacts/{id}"): "delete_contact",
        ("post", "/sms/send"): "send_sms",
    }


def test_an_endpoint_is_described_tagged_and_locked_by_its_operation(document: dict[str, Any]) -> None:
    send, whoami = document["paths"]["/sms/send"]["post"], document["paths"]["/auth/test"]["get"]

    assert send["summary"] == "Send one message."
    assert send["description"] == "Needs `messages:send`."
    assert send["tags"] == ["sms"]
    assert send["security"] == [{"bearer": ["messages:send"]}, {"api_key": ["messages:send"]}]
    assert "security" not in whoami


def test_parameters_are_variables_without_the_nulls_and_single_values_of_json(document: dict[str, Any]) -> None:
    listing, showing = document["paths"]["/contacts"]["get"], document["paths"]["/contacts/{id}"]["get"]

    assert showing["parameters"] == [{"name": "id", "in": "path", "required": True, "schema": INTEGER}]
    assert {parameter["name"]: parameter["schema"] for parameter in listing["parameters"]} == {
        "search": {"type": "string", "description": "Matches the name."},
        "tags": {"type": "array", "items": STRING, "description": "Has one of these tags."},
        "stage": {"$ref": "#/components/schemas/Stage"},
        "limit": {"type": "integer", "format": "int32", "default": 2, "description": "How many to list."},
        "offset": {"type": "integer", "format": "int32", "default": 0},
        "after": {"type": "string"},
    }
    assert {(parameter["in"], parameter["required"]) for parameter in listing["parameters"]} == {("query", False)}


def test_a_header_is_a_parameter_and_no_member_of_the_body(document: dict[str, Any]) -> None:
    send = document["paths"]["/sms/send"]["post"]

    assert send["parameters"] == [{"name": "Idempotency-Key", "in": "header", "required": False, "schema": STRING}]
    assert send["requestBody"] == {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"to": STRING, "message": STRING},
                    "required": ["to", "message"],
                }
            }
        },
    }


def test_a_body_of_which_nothing_is_required_may_be_left_out(document: dict[str, Any]) -> None:
    update = document["paths"]["/contacts/{id}"]["put"]

    assert update["requestBody"]["required"] is False
    assert set(update["requestBody"]["content"]["application/json"]["schema"]["properties"]) == {"name", "tags"}
    assert "requestBody" not in document["paths"]["/ping"]["post"]


def response(document: dict[str, Any], method: str, path: str, status: str) -> dict[str, Any]:
    reference = document["paths"][path][method]["responses"][status]["$ref"]
    return document["components"]["responses"][reference.removeprefix("#/components/responses/")]


def answered(document: dict[str, Any], method: str, path: str) -> tuple[dict[str, Any], set[str]]:
    answer = response(document, method, path, "200")
    return answer["content"]["application/json"]["schema"], set(answer["headers"])


def test_answers_stand_in_their_envelope_with_their_headers(document: dict[str, Any]) -> None:
    page, page_headers = answered(document, "get", "/contacts")
    sent, sent_headers = answered(document, "post", "/sms/send")
    user, user_headers = answered(document, "get", "/auth/test")
    bare, _ = answered(document, "get", "/contacts/tags")

    assert page["required"] == ["success", "data"]
    assert page["properties"]["success"] == {"const": True}
    assert page["properties"]["data"]["items"] == {"$ref": "#/components/schemas/Shown"}
    assert document["components"]["schemas"]["Shown"]["required"] == ["id", "name", "tags", "stage"]
    limits = {"RateLimit", "RateLimit-Policy"}
    assert page_headers == {"X-Request-Id", "X-Total-Count", "X-Total-Is-Exact", "Link", *limits}
    assert sent["properties"]["data"]["required"] == ["message_id", "segments"]
    assert sent_headers == {"X-Request-Id", "Idempotent-Replayed", *limits}
    assert user["required"] == ["success", "user"]
    assert user_headers == {"X-Request-Id", *limits}
    assert bare == {"type": "array", "items": STRING}


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("get", "/auth/test", {"200", "401", "429", "500", "503"}),
        ("get", "/contacts", {"200", "401", "403", "422", "429", "500", "503"}),
        ("get", "/contacts/{id}", {"200", "401", "403", "404", "422", "429", "500", "503"}),
        ("post", "/contacts", {"200", "400", "401", "403", "409", "413", "415", "422", "429", "500", "503"}),
    ],
)
def test_an_endpoint_names_every_status_it_answers(
    document: dict[str, Any], method: str, path: str, statuses: set[str]
) -> None:
    assert set(document["paths"][path][method]["responses"]) == statuses


def test_a_refusal_describes_its_error_codes(document: dict[str, Any]) -> None:
    refusal = response(document, "post", "/contacts", "409")

    assert refusal["description"] == ("`conflict`: The record already exists, or its state does not allow the change.")
    assert refusal["content"]["application/json"]["schema"] == {
        "allOf": [
            {"$ref": "#/components/schemas/Error"},
            {"properties": {"error_code": {"enum": ["conflict"]}}},
        ]
    }


def test_a_refusal_with_an_unknown_code_is_refused(tmp_path: Path) -> None:
    operations = compiled_samples(
        tmp_path,
        'query q @rest(method: GET, path: "/x") { nonsense }',
        sdl="""
        directive @refuses(codes: [String!]!) on FIELD_DEFINITION
        type Query { nonsense: Int @refuses(codes: ["no"]) }
        """,
    )

    with pytest.raises(InvalidDocument, match="q refuses with no, which no error has"):
        openapi.document(operations, version="1", server_url="https://sms.example")


def test_a_shared_response_is_described_once_under_a_name(document: dict[str, Any]) -> None:
    responses = document["components"]["responses"]
    schemas = document["components"]["schemas"]
    creating, showing = document["paths"]["/contacts"]["post"], document["paths"]["/contacts/{id}"]["get"]

    assert creating["responses"]["409"] == {"$ref": "#/components/responses/Conflict"}
    assert creating["responses"]["503"] == {"$ref": "#/components/responses/Unavailable"}
    assert creating["responses"]["200"] == showing["responses"]["200"]
    assert creating["responses"]["200"] == {"$ref": "#/components/responses/CreateContact200"}
    assert len({orjson.dumps(each) for each in responses.values()}) == len(responses)
    assert set(schemas) == {"Error", "Shown", "Stage"}
    assert schemas["Shown"]["properties"]["stage"] == {"$ref": "#/components/schemas/Stage"}


def test_a_type_that_may_be_null_has_both_types(document: dict[str, Any]) -> None:
    body = document["paths"]["/contacts/{id}"]["put"]["requestBody"]["content"]["application/json"]["schema"]

    assert body["properties"]["name"] == {"type": ["string", "null"]}


def test_one_name_may_not_stand_for_two_types(tmp_path: Path) -> None:
    operations = compiled_samples(
        tmp_path,
        """
        fragment Stage on Contact { id }
        query a @rest(method: GET, path: "/a") { contact(id: 1) { ...Stage } }
        query b @rest(method: GET, path: "/b") { contact(id: 1) { stage } }
        """,
    )

    with pytest.raises(InvalidDocument, match="b gives the name Stage to another type than others do"):
        openapi.document(operations, version="1", server_url="https://sms.example")


def test_a_refusal_that_several_operations_share_has_the_name_of_its_codes() -> None:
    document = orjson.loads(GOLDEN.read_bytes())
    used = defaultdict[str, set[str]](set)
    for endpoint in (endpoint for path in document["paths"].values() for endpoint in path.values()):
        for status, response in endpoint["responses"].items():
            if status != "200":
                used[response["$ref"].rpartition("/")[2]].add(endpoint["operationId"])

    operations = {id.title().replace("_", "") for ids in used.values() for id in ids}
    shared = [name for name, ids in used.items() if len(ids) > 1]

    assert [name for name in shared if name[:-3] in operations] == []
    assert {"InvalidPhone422", "ContactOptedOutInvalidPhone422"} <= set(shared)
