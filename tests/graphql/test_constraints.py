"""The limits that the contract states are the ones that are enforced."""

import json
from typing import Any

import httpx2
import pytest

from app.graphql.schema import contract
from app.main import rest_operations
from app.operations.directives import directive_values
from app.services import Services
from tests.factories.contacts import CONTACTS

pytestmark = pytest.mark.anyio

CONTRACT = contract()
OPERATIONS = {operation.name: operation for operation in rest_operations()}
PHONE = "+12025550143"


def limit(operation: str, variable: str, keyword: str) -> int:
    single = OPERATIONS[operation].variables[variable].single
    return single[keyword]


@pytest.mark.parametrize("name", ["first_name", "last_name", "source", "tags"])
async def test_a_text_of_a_contact_is_taken_up_to_its_stated_length(
    api: httpx2.AsyncClient, services: Services, name: str
) -> None:
    longest = "x" * limit("create_contact", name, "maxLength")

    refused = await api.post("/contacts", json={"phone": PHONE, name: f"{longest}x"})
    assert (refused.status_code, refused.json()["error_code"]) == (422, "invalid_input")
    assert await CONTACTS.count(services) == 0

    assert (await api.post("/contacts", json={"phone": PHONE, name: longest})).status_code == 200


@pytest.mark.parametrize(("variable", "keyword", "step"), [("limit", "maximum", 1), ("limit", "minimum", -1)])
async def test_a_page_is_as_large_as_stated(api: httpx2.AsyncClient, variable: str, keyword: str, step: int) -> None:
    bound = limit("list_contacts", variable, keyword)

    assert (await api.get(f"/contacts?{variable}={bound}")).status_code == 200
    assert (await api.get(f"/contacts?{variable}={bound + step}")).status_code == 422


@pytest.mark.parametrize(
    ("operation", "path", "variable", "code", "sent"),
    [
        ("generate_sms", "/sms/generate", "description", "invalid_input", {}),
        ("send_sms", "/sms/send", "message", "message_too_long", {"to": PHONE, "consent_attested": True}),
    ],
)
async def test_a_text_beyond_its_stated_length_is_refused(
    api: httpx2.AsyncClient, operation: str, path: str, variable: str, code: str, sent: dict[str, Any]
) -> None:
    longest = "x" * limit(operation, variable, "maxLength")

    refused = await api.post(path, json={**sent, variable: f"{longest}x"})
    empty = await api.post(path, json={**sent, variable: ""})

    assert (refused.status_code, refused.json()["error_code"]) == (422, code)
    assert (empty.status_code, empty.json()["error_code"]) == (422, "invalid_input")
    assert limit(operation, variable, "minLength") == 1


def excess(field: str, argument: str) -> str:
    """Return a value just beyond the limit that the contract states for an argument of a root field."""
    roots = [kind.fields for kind in (CONTRACT.mutation_type, CONTRACT.query_type) if kind]
    [declared] = [fields[field].args[argument].ast_node for fields in roots if field in fields]
    (stated,) = directive_values("constraint", declared, CONTRACT)
    if stated.get("max_items"):
        return json.dumps([str(number) for number in range(stated["max_items"] + 1)])
    return str(stated["maximum"] + 1) if stated.get("maximum") else f'"{"x" * (stated["max_length"] + 1)}"'


@pytest.mark.parametrize(
    ("field", "argument", "others"),
    [
        ("add_integration", "consent_question", 'kind: "calcom", secret: "c9a1f0"'),
        ("add_integration", "name", 'kind: "calcom", secret: "c9a1f0"'),
        ("add_integration", "secret", 'kind: "calcom"'),
        ("create_contact", "idempotency_key", 'contact: {phone: "+12025550143"}'),
        ("create_custom_field", "choices", 'key: "size", type: choice'),
        ("create_sequence", "re_enroll_after_days", 'name: "Welcome", steps: [{delay_minutes: 0, body: "Hi"}]'),
        ("create_webhook", "description", 'target_url: "https://example.com/hook", events: ["message.sent"]'),
    ],
)
async def test_an_argument_beyond_its_stated_limit_is_refused(
    api: httpx2.AsyncClient, field: str, argument: str, others: str
) -> None:
    query = f"mutation {{ {field}({others}, {argument}: {excess(field, argument)}) {{ id }} }}"

    (error,) = (await api.post("/graphql", json={"query": query})).json()["errors"]

    assert (error["extensions"]["code"], error["extensions"]["field"]) == ("invalid_input", argument)


async def test_more_phones_than_stated_are_not_checked(api: httpx2.AsyncClient) -> None:
    query = f"{{ validate_contacts(phones: {excess('validate_contacts', 'phones')}) {{ phone }} }}"

    (error,) = (await api.post("/graphql", json={"query": query})).json()["errors"]

    assert (error["extensions"]["code"], error["extensions"]["field"]) == ("invalid_input", "phones")


async def test_a_contact_has_as_many_tags_as_stated(api: httpx2.AsyncClient, services: Services) -> None:
    stated = OPERATIONS["create_contact"].variables["tags"].many
    assert stated
    tags = [f"tag {number}" for number in range(stated["maxItems"] + 1)]

    refused = await api.post("/contacts", json={"phone": PHONE, "tags": tags})
    assert (refused.status_code, refused.json()["error_code"], refused.json()["field"]) == (
        422,
        "invalid_input",
        "tags",
    )
    assert await CONTACTS.count(services) == 0

    assert (await api.post("/contacts", json={"phone": PHONE, "tags": tags[1:]})).status_code == 200
