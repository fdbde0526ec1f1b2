"""Plans do what graphql-core does: it is the oracle here, on every document of ours."""

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

import pytest
from graphql import FieldNode, GraphQLError, GraphQLField, OperationDefinitionNode, get_operation_ast, parse
from graphql.execution import get_argument_values, get_variable_values
from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.types.arguments import convert_arguments

from app.domain.accounts.scopes import ALL
from app.domain.contacts import service as contacts
from app.domain.contacts.models import ContactFields
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.webhooks import service as webhooks
from app.graphql.execution import execute
from app.graphql.execution.compiling import Unplanned, compile_plan
from app.graphql.execution.documents import Prepared, prepare
from app.graphql.execution.errors import refusal
from app.graphql.execution.execute import Executor, Run
from app.graphql.schema import CORE, schema
from app.main import rest_operations
from app.operations.document import Operation
from app.operations.variables import Variable
from app.services import Services
from tests.conftest import unit_of
from tests.factories.contacts import CONTACTS

pytestmark = pytest.mark.anyio

name_of = attrgetter("name")
OPERATIONS = rest_operations()
READING = [operation for operation in OPERATIONS if operation.reads_only]
PHONE = "+12025550143"

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.sampled_from(["won", "active", "pending", "inbound", "2026-01-31T09:30:00Z", "12", "", "name_asc"]),
)
VALUES = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=4), LEAVES, max_size=2)

_LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=8),
    "integer": st.integers(-5, 500),
    "boolean": st.booleans(),
    "array": st.lists(st.text(max_size=8), max_size=3),
}


def likely(variable: Variable) -> st.SearchStrategy[Any]:
    """Return values of which most fit a variable."""
    schema = variable.schema
    fitting = st.sampled_from(schema["enum"]) if "enum" in schema else st.nothing()
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        fitting |= _LIKELY.get(kind, st.none())
    return fitting | VALUES


def prepared_of(operation: Operation) -> Prepared:
    return execute._read_own(operation.text)


def root_of(text: str) -> tuple[OperationDefinitionNode, FieldNode, GraphQLField]:
    """Return the operation of a document, its root field, and what the contract says about that."""
    node = get_operation_ast(parse(text))
    assert node
    [root] = node.selection_set.selections
    assert isinstance(root, FieldNode)
    parent = CORE.get_root_type(node.operation)
    assert parent
    return node, root, parent.fields[root.name.value]


def oracle(text: str, sent: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments that graphql-core and Strawberry make of variables, or None where they refuse them."""
    node, root, described = root_of(text)
    values = get_variable_values(CORE, node.variable_definitions or (), dict(sent))
    if isinstance(values, list):
        return None
    definition = described.extensions["strawberry-definition"]
    try:
        arguments = get_argument_values(described, root, values)
        registry = schema.schema_converter.scalar_registry
        return convert_arguments(arguments, definition.arguments, registry, schema.config)
    except GraphQLError:
        return None


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_every_document_of_ours_has_a_plan(operation: Operation) -> None:
    assert prepared_of(operation).plan


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
@settings(max_examples=30)
@given(chosen=st.data())
def test_a_plan_makes_the_arguments_that_graphql_core_makes(operation: Operation, chosen: st.DataObject) -> None:
    strategies = {name: likely(variable) for name, variable in operation.variables.items()}
    sent = chosen.draw(st.fixed_dictionaries({}, optional=strategies))
    plan = prepared_of(operation).plan
    assert plan

    assert whole(operation.text, plan.bind(sent)) == oracle(operation.text, sent)


def whole(text: str, bound: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """Return the arguments with those that a resolver has by its own defaults."""
    definition = root_of(text)[2].extensions["strawberry-definition"]
    parameters = definition.base_resolver.signature.parameters
    defaults = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
    return None if bound is None else defaults | (bound[0] if bound else {})


PAGE = "{ page_info { end_cursor } }"


@pytest.mark.parametrize(
    ("document", "sent"),
    [
        (f"query ($size: Int = 7) {{ contacts(first: $size) {PAGE} }}", {}),
        (f"query ($size: Int = 7) {{ contacts(first: $size) {PAGE} }}", {"size": 8}),
        (f"query ($size: Int = 7) {{ contacts(first: $size) {PAGE} }}", {"size": None}),
        (f"query ($size: Int! = 7) {{ contacts(first: $size) {PAGE} }}", {"size": None}),
        (f"query ($size: Int!) {{ contacts(first: $size) {PAGE} }}", {}),
        (f"query ($size: Int) {{ contacts(first: $size) {PAGE} }}", {}),
        (f"query ($size: Int) {{ contacts(first: $size) {PAGE} }}", {"size": None}),
        (f"query ($tag: String) {{ contacts(tag: $tag) {PAGE} }}", {"tag": None}),
        (f"query {{ contacts(first: 7, sort: name_asc, tag: null) {PAGE} }}", {}),
        ("mutation ($c: NewContact!) { create_contact(contact: $c) { id } }", {"c": {"phone": "1", "email": None}}),
        ("mutation ($c: NewContact!) { create_contact(contact: $c) { id } }", {"c": {"email": "x"}}),
        ("mutation ($c: NewContact!) { create_contact(contact: $c) { id } }", {"c": {"phone": "1", "other": 1}}),
        ("mutation ($p: String!) { create_contact(contact: {phone: $p, tags: []}) { id } }", {"p": "1"}),
        ("mutation ($p: String!) { create_contact(contact: {phone: $p, tags: []}) { id } }", {}),
        ("mutation ($p: String) { update_contact(id: 1, changes: {phone: $p}) { id } }", {"p": None}),
    ],
)
def test_a_plan_knows_defaults_and_nulls_as_graphql_core_does(document: str, sent: dict[str, Any]) -> None:
    assert whole(document, compile_plan(parse(document)).bind(sent)) == oracle(document, sent)


@pytest.fixture
async def actor(services: Services, account: Opened) -> Actor:
    """Give the actor of an account in which there is one of everything that documents read."""
    actor = Actor(account.account_id, ALL, "test")
    async with unit_of(services, actor) as unit:
        for number in range(3):
            fields = {"phone": f"+1202555014{number}", "first_name": "Ann", "tags": ["vip", f"{number}"]}
            await contacts.create(unit, ContactFields(**fields))
        await sequences.create(unit, "Welcome", [NewStep(0, "Hello")])
        await webhooks.subscribe(unit, services.webhooks, "new_message", "https://example.com/hook")
    for number in range(3):
        await services.acceptor.accept(actor, Send(f"+1202555014{number}", "Hi", consent_attested=True))
    return actor


GIVEN: dict[str, list[dict[str, Any]]] = {
    "get_contact": [{"id": 0}, {"id": 10**12}, {}],
    "sample_event": [{"event": "new_message"}, {"event": "nothing"}, {}],
    "automation_search_contact": [{"phone": PHONE}, {"email": "ann@example.com"}, {}],
    "list_contacts": [{}, {"limit": 2, "offset": 1}, {"limit": 0}, {"search": "ann"}, {"stage": "won"}],
    "list_messages": [{}, {"limit": 1}, {"offset": -1}, {"status": "pending", "direction": "outbound"}, {"limit": "1"}],
    "automation_contacts": [{}, {"q": "555"}],
}


@pytest.mark.parametrize("operation", READING, ids=name_of)
async def test_a_plan_answers_as_graphql_core_does(operation: Operation, services: Services, actor: Actor) -> None:
    executor, prepared = Executor(services), prepared_of(operation)
    any_contact = await CONTACTS.last(services, "id")

    for sent in GIVEN.get(operation.name, [{}]):
        variables = sent | ({"id": any_contact} if sent.get("id") == 0 else {})
        answers = [await outcome(executor, each, variables, actor) for each in (prepared, replace(prepared, plan=None))]
        assert answers[0] == answers[1]


async def outcome(executor: Executor, prepared: Prepared, variables: dict[str, Any], actor: Actor) -> Any:
    """Return the data of an operation, or the code and text of its refusal."""
    result, _ = await executor.run(Run(prepared, variables, actor))
    if not result.errors:
        assert result.data
        return result.data
    refused = refusal(result.errors[0])
    return refused.code, str(refused)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("subscription { updates { id } }", "not one query or mutation"),
        ("{ __schema { description } }", "__schema is resolved in another way"),
        ("{ balance { balance @skip(if: false) } }", "directives"),
        ("{ balance { balance } ... @include(if: true) { viewer { email } } }", "directives"),
    ],
)
def test_a_document_without_a_plan_is_left_to_graphql_core(document: str, reason: str) -> None:
    with pytest.raises(Unplanned, match=reason):
        compile_plan(parse(document))


@pytest.mark.parametrize(
    "document",
    [
        "{ contact(id: 99) { phone } }",
        '{ contacts(after: "no cursor") { nodes { phone } } }',
        "{ contact(id: 99) { phone } balance { balance } }",
        "{ one: contact(id: 99) { phone } two: conversation(id: 99) { id } balance { balance } }",
        '{ contacts(first: 9) { nodes { id conversation { messages(after: "x") { nodes { id } } } } total_count } }',
        "{ contacts { ...Page } } fragment Page on ContactConnection { __typename nodes { ... on Contact { id } } }",
        "{ a: balance { x: balance } b: balance { balance rate x: balance } a: balance { rate } }",
        "query ($n: Int = 1) { conversations(first: $n) { nodes { messages(first: $n) { nodes { body } } } } }",
    ],
)
async def test_a_plan_answers_a_client_as_graphql_core_does(document: str, services: Services, actor: Actor) -> None:
    executor, prepared = Executor(services), prepare(document)
    assert prepared.plan

    answers = [(await executor.run(Run(each, {}, actor)))[0] for each in (prepared, replace(prepared, plan=None))]

    assert answers[0].data == answers[1].data
    assert answers[0].formatted.get("errors") == answers[1].formatted.get("errors")
    originals = [[error.original_error.__class__ for error in each.errors or ()] for each in answers]
    assert originals[0] == originals[1]
