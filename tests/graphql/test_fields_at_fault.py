"""Errors of input name the argument or field at fault, on every surface."""

import ast
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.domain.kernel.errors import DomainError, InvalidInput, catalogue

pytestmark = pytest.mark.anyio

DOMAIN = Path(__file__).parents[2] / "app" / "domain"
UPDATE = 'mutation ($changes: ContactChanges!) { update_contact(phone: "+12025550143", changes: $changes) { id } }'
SEQUENCE = 'mutation ($steps: [NewSequenceStep!]!) { create_sequence(name: "a", steps: $steps) { id } }'


def raised() -> list[tuple[str, str]]:
    """Return each place of the domain that makes an `InvalidInput`, and what it says of the field."""
    kinds = {kind.__name__ for kind in catalogue().values() if issubclass(kind, InvalidInput)}
    return [
        (f"{path.relative_to(DOMAIN)}:{node.lineno}", ast.unparse(field))
        for path in DOMAIN.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
        for field in [next((word.value for word in node.keywords if word.arg == "field"), ast.Constant(None))]
    ]


def test_every_invalid_input_of_the_domain_names_its_field() -> None:
    places = raised()

    assert len(places) > 50
    assert [place for place, field in places if field == "None"] == []


def test_an_error_has_the_field_it_is_about_unless_raised_with_another() -> None:
    known = {kind.__name__: kind.about for kind in catalogue().values() if kind.about}

    assert known == {
        "BriefNotUnderstood": "description",
        "ConsentNotAttested": "consent_attested",
        "ConversationHasChanged": "expected_version",
        "CrmAuthorizationRefused": "code",
        "IdempotencyKeyReused": "idempotency_key",
        "IntegrationSecretReused": "secret",
        "InvalidConfirmation": "confirmation",
        "InvalidPhone": "phone",
        "InvalidUrl": "target_url",
        "LandlinePhone": "phone",
        "MessageTooLong": "body",
        "OverMaxCredits": "max_credits",
        "PreviewOutdated": "preview_id",
    }
    assert DomainError().field is None


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/contacts?limit=0", None, "limit"),
        ("GET", "/contacts?offset=10001", None, "offset"),
        ("GET", "/contacts?after=x", None, "after"),
        ("GET", "/contacts?stage=x", None, "stage"),
        ("POST", "/contacts", {}, "phone"),
        ("POST", "/contacts", {"phone": "7"}, "phone"),
        ("POST", "/contacts", {"phone": "+12025550143", "email": "x"}, "email"),
        ("POST", "/contacts", {"phone": "+12025550143", "tags": ["a" * 65]}, "tags"),
        ("POST", "/contacts", {"phone": "+12025550143", "tags": ["a", 7]}, "tags[1]"),
        ("POST", "/sms/send", {"to": "7", "message": "hi", "consent_attested": True}, "to"),
        ("POST", "/sms/send", {"to": "+12025550143", "message": " ", "consent_attested": True}, "message"),
        ("POST", "/sms/send", {"to": "+12025550143", "message": "a" * 1601, "consent_attested": True}, "message"),
        ("POST", "/sms/send", {"to": "+12025550143", "message": "hi"}, "consent_attested"),
        ("POST", "/automation/subscribe", {"event": "x", "target_url": "https://example.com"}, "event"),
        ("POST", "/automation/actions/add-tag", {"tag": "a"}, "contact_id"),
    ],
)
async def test_an_error_of_rest_names_the_parameter(
    api: httpx2.AsyncClient, method: str, path: str, body: Any, field: str
) -> None:
    answer = await api.request(method, path, json=body)

    assert answer.status_code in (403, 422)
    assert answer.json()["field"] == field


@pytest.mark.parametrize(
    ("query", "variables", "field"),
    [
        ("{ contacts(first: 201) { total_count } }", {}, "first"),
        ('{ contacts(before: "x") { total_count } }', {}, "before"),
        ("query ($n: Int) { contacts(first: $n) { total_count } }", {"n": "x"}, "n"),
        (UPDATE, {"changes": {"email": "x"}}, "changes.email"),
        (UPDATE, {"changes": {"tags": ["a", 7]}}, "changes.tags[1]"),
        (
            SEQUENCE,
            {"steps": [{"delay_minutes": 0, "body": "hi"}, {"delay_minutes": -1, "body": "hi"}]},
            "steps[1].delay_minutes",
        ),
        (SEQUENCE, {"steps": [{"delay_minutes": 0, "body": "{nickname}"}]}, "steps[0].body"),
        (SEQUENCE, {"steps": [{"delay_minutes": "x", "body": "hi"}]}, "steps[0].delay_minutes"),
        ('{ contacts(first: "x") { total_count } }', {}, "first"),
        ("{ contacts(stage: lost_it) { total_count } }", {}, "stage"),
        ("query ($n: Int = true) { contacts(first: $n) { total_count } }", {}, "n"),
        ('mutation { update_contact(id: 1, changes: {tags: ["a", 7]}) { id } }', {}, "changes.tags[1]"),
        ('mutation { update_contact(id: 1, changes: {mail: "x"}) { id } }', {}, "changes.mail"),
        (
            'mutation { create_sequence(name: "n", steps: [{delay_minutes: 0, body: "a"}, '
            '{delay_minutes: "x", body: "b"}]) { id } }',
            {},
            "steps[1].delay_minutes",
        ),
        (
            'mutation { create_ai_agent(name: "A", instructions: "B", details: {mode: shadow}) { id } }',
            {},
            "details.mode",
        ),
        ('mutation { send_message(to: "7", body: "hi", consent_attested: true) { message_id } }', {}, "to"),
    ],
)
async def test_an_error_of_the_contract_names_the_path_of_the_input(
    api: httpx2.AsyncClient, query: str, variables: dict[str, Any], field: str
) -> None:
    await api.post("/contacts", json={"phone": "+12025550143"})

    answer = (await api.post("/graphql", json={"query": query, "variables": variables})).json()

    assert [error["extensions"]["field"] for error in answer["errors"]] == [field]


async def test_an_error_that_no_input_has_caused_names_no_field(api: httpx2.AsyncClient) -> None:
    rest = await api.delete("/contacts/1")
    graphql = (await api.post("/graphql", json={"query": "{ conversation(id: 1) { id } }"})).json()

    assert (rest.status_code, "field" in rest.json()) == (404, False)
    assert "field" not in graphql["errors"][0]["extensions"]
