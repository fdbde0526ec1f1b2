"""Arguments of root fields, given what no client means well with: refused or done, never a fault of ours."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import asyncpg
import orjson
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    get_named_type,
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
)

from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.schema import CORE
from app.graphql.transport.requests import GRAPHQL
from app.http.errors import translate
from app.providers.rate_limits import Policy
from app.services import Services
from tests.graphql.calls import URL, serving

pytestmark = pytest.mark.anyio

DIGITS = "9" * 5_000
TEXTS = [r'"a\u0000b"', r'"\ud800"', '"é"', '""', DIGITS, '{"a": [1]}']
INSTANTS = ['"9999-12-31T23:59:59-12:00"', '"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59.999999Z"', DIGITS]
NUMBERS = [DIGITS, "-9223372036854775809", "2147483648", "1e999", r'"a\u0000b"']
HOSTILE = {"DateTime": INSTANTS, "Int": NUMBERS, "BigInt": NUMBERS, "Float": NUMBERS, "Decimal": NUMBERS}

LONG = f'"{"x" * 5_000}"'

GOOD = {
    "DateTime": '"2026-11-21T09:30:00Z"',
    "Int": "1",
    "BigInt": "1",
    "Float": "1",
    "Decimal": "1",
    "Boolean": "true",
}
GOOD |= {"JSON": "{}"}

Slot = GraphQLArgument | GraphQLInputField


def fields() -> Iterator[tuple[str, str, GraphQLField]]:
    for kind, parent in (("query", CORE.query_type), ("mutation", CORE.mutation_type)):
        assert parent
        for name, field in parent.fields.items():
            yield kind, name, field


def good(kind: GraphQLInputType) -> str:
    """Return JSON that an input type takes."""
    named = get_named_type(kind)
    if is_enum_type(named):
        value = f'"{next(iter(named.values))}"'
    elif is_input_object_type(named):
        value = written(needed(named.fields))
    else:
        value = GOOD.get(named.name, '"x"')
    return f"[{value}]" if is_list_type(get_nullable_type(kind)) else value


def needed(slots: dict[str, Any]) -> dict[str, str]:
    return {
        name: good(slot.type)
        for name, slot in slots.items()
        if (is_required_argument if isinstance(slot, GraphQLArgument) else is_required_input_field)(slot)
    }


def written(members: dict[str, str]) -> str:
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def hostile(kind: GraphQLInputType, inside: tuple[GraphQLInputObjectType, ...] = ()) -> Iterator[str]:
    """Yield JSON of values that an input type should not be given, each once for every place in an object.

    A filter, whose members are filters, is not given inside itself.
    """
    named = get_named_type(kind)
    if isinstance(named, GraphQLInputObjectType):
        if named in inside:
            return
        for name, member in named.fields.items():
            for value in hostile(member.type, (*inside, named)):
                yield written(needed(named.fields) | {name: value})
    else:
        yield from HOSTILE.get(named.name, TEXTS)


def document(kind: str, name: str, field: GraphQLField) -> str:
    arguments = [(argument, slot.type) for argument, slot in field.args.items()]
    heads = " ".join(f"${argument}: {slot}" for argument, slot in arguments)
    passed = " ".join(f"{argument}: ${argument}" for argument, _ in arguments)
    answer = "" if is_leaf_type(get_named_type(field.type)) else "{ __typename }"
    return f"{kind} ({heads}) {{ {name}({passed}) {answer} }}"


def requests(kind: str, name: str, field: GraphQLField) -> Iterator[tuple[str, str]]:
    """Yield documents and their variables as JSON."""
    text, least = document(kind, name, field), needed(dict(field.args))
    for argument, slot in field.args.items():
        for value in hostile(slot.type):
            yield text, written(least | {argument: value})


def literals(kind: str, name: str, field: GraphQLField) -> Iterator[str]:
    """Yield documents that hold the values themselves."""
    answer = "" if is_leaf_type(get_named_type(field.type)) else "{ __typename }"
    for argument, slot in field.args.items():
        if isinstance(get_named_type(slot.type), GraphQLInputObjectType):
            continue
        for value in hostile(slot.type):
            if not value.startswith("{"):
                yield f"{kind} {{ {name}({argument}: {value}) {answer} }}"


GIVEN = ("create_contact", "create_api_key", "add_upload_part")
"""The fields that this is held for: they take each kind of value, one takes an object, and one decodes a text."""

WITH_ARGUMENTS = [each for each in fields() if each[1] in GIVEN]


@pytest.fixture
def patient(services: Services) -> Services:
    """Return the services with limits that nothing here reaches."""
    policies = {name: Policy(f"hostile-{name}", 10**6) for name in ("requests", "sends", "documents")}
    return replace(services, limits=replace(services.limits, **policies))


@pytest.mark.parametrize(("kind", "name", "field"), WITH_ARGUMENTS, ids=[name for _, name, _ in WITH_ARGUMENTS])
async def test_no_value_of_an_argument_is_a_fault_of_ours(
    patient: Services, account: Opened, kind: str, name: str, field: GraphQLField
):
    bodies = [
        *(
            f'{{"query": {orjson.dumps(text).decode()}, "variables": {given}}}'
            for text, given in requests(kind, name, field)
        ),
        *(orjson.dumps({"query": text}).decode() for text in literals(kind, name, field)),
    ]
    async with serving(patient, Actor(account.account_id, ALL, "key:1")) as client:
        answers = [
            await client.post(URL, content=body, headers={"Content-Type": "application/json"}) for body in bodies
        ]

    assert answers
    assert [
        (body[:200], answer.text)
        for body, answer in zip(bodies, answers, strict=True)
        if answer.status_code >= 500 or "internal_error" in answer.text
    ] == []


@pytest.mark.parametrize(
    ("text", "variables", "reason"),
    [
        ('{ contacts(search: "a\\u0000b") { total_count } }', {}, "search must not hold the character U+0000."),
        (
            "query ($search: String) { contacts(search: $search) { total_count } }",
            {"search": "a\0"},
            "search must not hold the character U+0000.",
        ),
        (f"{{ contact(id: {DIGITS}) {{ id }} }}", {}, "id must be a number of at most 40 digits."),
        (f"{{ contacts(first: {DIGITS}) {{ total_count }} }}", {}, "first must be a number of at most 40 digits."),
    ],
)
async def test_a_value_that_cannot_be_stored_is_refused_by_the_name_of_its_argument(
    patient: Services, text: str, variables: dict[str, str], reason: str
):
    async with serving(patient, Actor(1, ALL, "key:1")) as client:
        answer = await client.post(URL, json={"query": text, "variables": variables}, headers={"Accept": GRAPHQL})

    [error] = answer.json()["errors"]
    assert (answer.status_code, error["message"], error["extensions"]["code"]) == (422, reason, "invalid_input")


async def test_no_error_repeats_more_than_a_part_of_a_text(patient: Services, account: Opened):
    bodies = [
        f'{{"query": {orjson.dumps(document(*each)).decode()}, "variables": {given}}}'
        for each in fields()
        for given in with_long_texts(each[2])
    ]
    async with serving(patient, Actor(account.account_id, ALL, "key:1")) as client:
        answers = [
            await client.post(URL, content=body, headers={"Content-Type": "application/json"}) for body in bodies
        ]

    errors = [error["message"] for answer in answers for error in answer.json().get("errors", [])]
    assert len(errors) > 100
    assert [error[:300] for error in errors if "x" * 300 in error] == []


def with_long_texts(field: GraphQLField) -> Iterator[str]:
    """Yield variables as JSON with a long text for each argument, and for each member of one, that is a text."""
    least = needed(dict(field.args))
    for argument, slot in field.args.items():
        named = get_named_type(slot.type)
        if named.name == "String":
            yield written(least | {argument: LONG})
        if isinstance(named, GraphQLInputObjectType):
            texts = [name for name, each in named.fields.items() if get_named_type(each.type).name == "String"]
            for name in texts:
                yield written(least | {argument: written(needed(named.fields) | {name: LONG})})


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (asyncpg.InternalClientError("got result for unknown protocol state 3"), "unavailable"),
        (asyncpg.InterfaceError("cannot perform operation: another operation is in progress"), "unavailable"),
        (asyncpg.DataError("invalid input for query argument $1"), "invalid_input"),
    ],
)
def test_a_client_error_of_asyncpg_is_translated_to_an_error_of_the_catalogue(cause: Exception, code: str):
    assert translate(cause).code == code
