"""Saved templates and placeholders over GraphQL."""

from typing import Any

import httpx2
import pytest

from app.services import Services
from tests.factories.templates import PLACEHOLDER_FALLBACKS, TEMPLATES
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

FIELDS = "id name body placeholders version creator { kind }"
CREATE = f"""mutation ($name: String!, $body: String!, $key: String) {{
  create_template(name: $name, body: $body, idempotency_key: $key) {{ {FIELDS} }} }}"""
SAVE = f"""mutation ($id: BigInt, $name: String!, $body: String!, $key: String) {{
  save_template(id: $id, name: $name, body: $body, idempotency_key: $key) {{ {FIELDS} }} }}"""
UPDATE = f"""mutation ($id: BigInt!, $changes: TemplateChanges!, $version: Int) {{
  update_template(id: $id, changes: $changes, expected_version: $version) {{ {FIELDS} }} }}"""
DELETE = "mutation ($id: BigInt!, $version: Int) { delete_template(id: $id, expected_version: $version) { id } }"
LIST = "query ($search: String) { templates(search: $search) { nodes { name } total_count } }"
FALLBACK = """mutation ($name: String!, $fallback: String) {
  set_placeholder_fallback(name: $name, fallback: $fallback) { name fallback } }"""
FIELD = 'mutation { create_custom_field(key: "color", type: text) { id } }'


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    [value] = answer["data"].values()
    return value


async def refused(api: httpx2.AsyncClient, query: str, **variables: Any) -> tuple[str, str | None, str]:
    [error] = (await post(api, {"query": query, "variables": variables})).json()["errors"]
    return error["extensions"]["code"], error["extensions"].get("field"), error["message"]


async def names(api: httpx2.AsyncClient, search: str | None = None) -> list[str]:
    return [each["name"] for each in (await ask(api, LIST, search=search))["nodes"]]


async def test_a_template_is_created_changed_and_deleted(api: httpx2.AsyncClient, services: Services) -> None:
    made = await ask(api, CREATE, name=" Ready ", body="Hi {first_name|friend}, {company_name}. {first_name}")
    changed = await ask(api, UPDATE, id=made["id"], changes={"body": "Bye"}, version=1)
    same = await ask(api, UPDATE, id=made["id"], changes={"body": "Bye"})

    assert (made["name"], made["version"], made["creator"]) == ("Ready", 1, {"kind": "key"})
    assert made["placeholders"] == ["first_name", "company_name"]
    assert changed == {**made, "body": "Bye", "placeholders": [], "version": 2}
    assert same == changed
    assert await ask(api, f"query ($id: BigInt!) {{ template(id: $id) {{ {FIELDS} }} }}", id=made["id"]) == changed
    assert await ask(api, DELETE, id=made["id"], version=2) == {"id": made["id"]}
    assert await TEMPLATES.count(services) == 0
    assert codes(await post(api, {"query": DELETE, "variables": {"id": made["id"]}})) == ["not_found"]


async def test_a_change_of_a_version_that_was_changed_is_refused(api: httpx2.AsyncClient, services: Services) -> None:
    made = await ask(api, CREATE, name="A", body="One")
    await ask(api, UPDATE, id=made["id"], changes={"body": "Two"})

    sentence = "The template has version 2, not 1: it was changed. Read it again."
    refusal = ("conflict", "expected_version", sentence)
    assert await refused(api, UPDATE, id=made["id"], changes={"body": "Three"}, version=1) == refusal
    assert await refused(api, DELETE, id=made["id"], version=1) == refusal
    assert await TEMPLATES.read(services, "body", "version") == [("Two", 2)]


async def test_a_repeated_request_with_its_key_creates_one_template(
    api: httpx2.AsyncClient, services: Services
) -> None:
    first = await ask(api, CREATE, name="A", body="One", key="k")
    second = await ask(api, CREATE, name="A", body="One", key="k")

    assert first == second
    code, _, _ = await refused(api, CREATE, name="A", body="Two", key="k")
    assert code == "idempotency_key_reused"
    assert await TEMPLATES.count(services) == 1


async def test_saving_creates_a_template_or_replaces_the_one_with_the_id(
    api: httpx2.AsyncClient, services: Services
) -> None:
    made = await ask(api, SAVE, name="A", body="One", key="k")
    replaced = await ask(api, SAVE, id=made["id"], name="B", body="Two {last_name}")

    assert (replaced["id"], replaced["name"], replaced["version"]) == (made["id"], "B", 2)
    assert await TEMPLATES.read(services, "name", "body") == [("B", "Two {last_name}")]


@pytest.mark.parametrize(
    ("name", "body", "error"),
    [
        (" ", "Hi", ("invalid_input", "name", "name must have 1 to 100 characters.")),
        ("n" * 101, "Hi", ("invalid_input", "name", "name must have 1 to 100 characters.")),
        ("A", " ", ("invalid_input", "body", "body must not be empty.")),
        (
            "A",
            "Hi {firstname}",
            (
                "invalid_input",
                "body",
                "{firstname} at character 4 is not a placeholder. Did you mean {first_name}?",
            ),
        ),
        (
            "A",
            "Hi {",
            ("invalid_input", "body", "The { at character 4 has no }. Write {{ and }} for braces that are sent."),
        ),
    ],
)
async def test_a_template_that_could_not_be_rendered_is_refused(
    api: httpx2.AsyncClient, services: Services, name: str, body: str, error: tuple[str, str, str]
) -> None:
    assert await refused(api, CREATE, name=name, body=body) == error
    assert await TEMPLATES.count(services) == 0


async def test_a_text_that_is_too_long_is_refused(api: httpx2.AsyncClient, services: Services) -> None:
    code, field, _ = await refused(api, CREATE, name="A", body="x" * 1601)

    assert (code, field) == ("message_too_long", "body")
    assert await TEMPLATES.count(services) == 0


async def test_templates_are_listed_newest_first_and_found_by_name_and_text(api: httpx2.AsyncClient) -> None:
    for name, body in (("Ready", "Your table"), ("Bye", "100% thanks"), ("TABLE_1", "Hello")):
        await ask(api, CREATE, name=name, body=body)

    assert await names(api) == ["TABLE_1", "Bye", "Ready"]
    assert await names(api, "table") == ["TABLE_1", "Ready"]
    assert await names(api, " THANKS ") == ["Bye"]
    assert (await names(api, "%"), await names(api, "_"), await names(api, "x")) == (["Bye"], ["TABLE_1"], [])


async def test_a_custom_field_is_a_placeholder(api: httpx2.AsyncClient) -> None:
    unknown = await refused(api, CREATE, name="A", body="{custom.color}")
    await ask(api, FIELD)
    made = await ask(api, CREATE, name="A", body="{custom.color:title|none}")
    listed = await ask(api, "{ placeholders { name description example filters fallback } }")

    assert unknown[:2] == ("invalid_input", "body")
    assert made["placeholders"] == ["custom.color"]
    assert listed[0] == {
        "name": "first_name",
        "description": "The first name of the contact.",
        "example": "Ann",
        "filters": ["title", "upper", "lower", "first_word"],
        "fallback": None,
    }
    assert listed[-1]["name"] == "custom.color"


async def test_the_fallback_of_a_placeholder_is_set_and_removed(api: httpx2.AsyncClient, services: Services) -> None:
    await ask(api, FALLBACK, name="first_name", fallback="you")
    changed = await ask(api, FALLBACK, name="first_name", fallback=" there ")

    assert changed == {"name": "first_name", "fallback": "there"}
    assert await PLACEHOLDER_FALLBACKS.read(services, "name", "fallback") == [("first_name", "there")]
    removed = await ask(api, FALLBACK, name="first_name")
    assert removed == {"name": "first_name", "fallback": None}
    assert await PLACEHOLDER_FALLBACKS.count(services) == 0


@pytest.mark.parametrize(
    ("name", "fallback", "error"),
    [
        ("firstname", "x", ("invalid_input", "name", "firstname is not a placeholder. Did you mean first_name?")),
        ("zzz", "x", ("invalid_input", "name", "zzz is not a placeholder.")),
        ("first_name", "x" * 65, ("invalid_input", "fallback", "fallback must have at most 64 characters.")),
    ],
)
async def test_a_fallback_that_cannot_be_shown_is_refused(
    api: httpx2.AsyncClient, services: Services, name: str, fallback: str, error: tuple[str, str, str]
) -> None:
    assert await refused(api, FALLBACK, name=name, fallback=fallback) == error
    assert await PLACEHOLDER_FALLBACKS.count(services) == 0
