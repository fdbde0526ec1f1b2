"""A plan answers any query as graphql-core does: the same JSON, in the same order, and the same errors."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from graphql import (
    ExecutionResult,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.graphql.schema import CORE
from app.services import Services
from tests.graphql.test_statements_of_lists import IDS, add, leaves, lists, rows_of

pytestmark = pytest.mark.anyio

ROOTS = [
    *("account", "automations", "bookings", "campaigns", "contact", "contacts", "conversation", "conversations"),
    *("jobs", "message", "messages", "sequence", "sequences", "timeline", "transactions", "viewer", "webhooks"),
    "webhook_deliveries",
]
RECORDS = {"contact": "contacts", "conversation": "conversations", "message": "messages", "sequence": "sequences"}
"""The tables of the records that root fields name."""

UNKNOWN_ID = 10**12
PAGES = ["(first: 2)", "(first: 1, offset: 1)", "(last: 2)", "(first: 0)", '(after: "x")']
"""The arguments of lists; the last two are refused."""

DEPTH = 3
DIRECTIVES = ["@include(if: $yes)", "@include(if: $no)", "@skip(if: $no)", "@skip(if: true)"]
VARIABLES = "query ($yes: Boolean! = true, $no: Boolean = false)"


class Writer:
    """Writes a query over fragments, aliases and repeated fields; one in five has directives."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.fragments: list[str] = []
        self.draw = draw
        self.directives = ["", *DIRECTIVES] if draw(st.integers(0, 4)) == 0 else []

    def write(self) -> str:
        """Return the document."""
        body = self.selection(CORE.query_type, DEPTH)
        uses = " a: __typename @include(if: $yes) b: __typename @skip(if: $no) }"
        return " ".join([f"{VARIABLES} {body[:-1]}{uses}" if self.directives else body, *self.fragments])

    def selection(self, kind: Any, depth: int) -> str:
        names = self.draw(st.lists(st.sampled_from(fields_of(kind, depth)), min_size=1, max_size=5))
        return f"{{ {' '.join(self.wrapped(kind, self.field(kind, name, depth)) for name in names)} }}"

    def field(self, kind: Any, name: str, depth: int) -> str:
        if name == "__typename":
            return name
        choices, inner = arguments_of(kind, name), get_named_type(kind.fields[name].type)
        choice = self.draw(st.integers(0, len(choices) - 1))
        key = f"{name}_{choice}: " if choice else ""
        below = "" if is_leaf_type(inner) else self.selection(inner, depth - 1)
        return f"{key}{name}{choices[choice]}{self.directive()} {below}"

    def wrapped(self, kind: Any, text: str) -> str:
        """Return a field, in a fragment or not; for an interface perhaps a fragment of one of its types instead."""
        match self.draw(st.integers(0, 7)):
            case 0:
                return f"... on {kind.name}{self.directive()} {{ {text} }}"
            case 1:
                return f"...{self.directive()} {{ {text} }}"
            case 2:
                self.fragments.append(f"fragment F{len(self.fragments)} on {kind.name} {{ {text} }}")
                return f"...F{len(self.fragments) - 1}{self.directive()}"
            case 3 if isinstance(kind, GraphQLInterfaceType):
                part = self.draw(st.sampled_from(CORE.get_possible_types(kind)))
                return f"... on {part.name} {self.selection(part, 1)}"
            case _:
                return text

    def directive(self) -> str:
        return f" {self.draw(st.sampled_from(self.directives))}" if self.directives else ""


@st.composite
def documents(draw: Callable[..., Any]) -> str:
    return Writer(draw).write()


def fields_of(kind: Any, depth: int) -> list[str]:
    """Return the fields of a type that a selection of this depth can have; leaves are more likely."""
    if kind is CORE.query_type:
        return ROOTS
    leaves = ["__typename"] + [name for name, field in kind.fields.items() if is_leaf_type(get_named_type(field.type))]
    others = [name for name, field in kind.fields.items() if name not in leaves and is_free(field)]
    return leaves + (2 * others if depth else [])


def is_free(field: Any) -> bool:
    kind = get_named_type(field.type)
    needed = any(map(is_required_argument, field.args.values()))
    return isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) and not needed


def arguments_of(kind: Any, name: str) -> list[str]:
    """Return the arguments that a field can have."""
    if kind is CORE.query_type and name in RECORDS:
        return [f"(id: <{RECORDS[name]}>)", f"(id: {UNKNOWN_ID})"]
    if name == "timeline":
        return ["(conversation_id: <conversations>)", f"(conversation_id: {UNKNOWN_ID})"]
    return PAGES if "after" in kind.fields[name].args else [""]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(document=documents())
async def test_a_plan_answers_any_query_as_graphql_core_does(
    document: str, services: Services, account: Opened
) -> None:
    executor, actor = Executor(services), Actor(account.account_id, ALL, "test")
    for table, id in (await _ids(services, account)).items():
        document = document.replace(f"<{table}>", str(id))
    prepared = prepare(document)
    assume(not prepared.errors)
    event(f"planned: {prepared.plan is not None}")

    run = Run(prepared, {}, actor)
    oracle, *answers = [
        (await executor.run(each))[0]
        for each in (replace(run, prepared=replace(prepared, plan=None)), run, replace(run, as_text=True))
    ]

    event(f"errors: {bool(oracle.errors)}")
    for answer in answers:
        assert orjson.dumps(answer.data) == orjson.dumps(oracle.data), document
        assert answer.formatted.get("errors") == oracle.formatted.get("errors"), document
        assert _originals(answer) == _originals(oracle), document


def _originals(answer: ExecutionResult) -> list[type]:
    return [error.original_error.__class__ for error in answer.errors or ()]


_IDS: dict[int, dict[str, int]] = {}


async def _ids(services: Services, account: Opened) -> dict[str, int]:
    """Add records to every table of the account once; return the ids of the last ones by table."""
    if account.account_id not in _IDS:
        _IDS[account.account_id] = await add(services, account, [1, 2, 3])
    return _IDS[account.account_id]


async def test_a_list_of_one_field_alone_is_as_graphql_core_answers_it(services: Services, account: Opened) -> None:
    executor, actor = Executor(services), Actor(account.account_id, ALL, "test")
    ids = await add(services, account, [1, 2])
    assert CORE.query_type
    for name in lists():
        field = CORE.query_type.fields[name]
        found = rows_of(field)
        assert found
        needed = [f"{arg}: {ids[table]}" for arg, table in IDS.items() if arg in field.args]
        links = [f"{link} {{ __typename }}" for link, each in found[1].fields.items() if is_free(each)]
        for part in leaves(found[1]) + links:
            document = f"{{ {name}{f'({needed[0]})' if needed else ''} {found[0] % f'{{ {part} }}'} }}"
            prepared = prepare(document)
            by_plan, _ = await executor.run(Run(prepared, {}, actor))
            as_text, _ = await executor.run(Run(prepared, {}, actor, as_text=True))
            plain, _ = await executor.run(Run(replace(prepared, plan=None), {}, actor))

            assert prepared.plan
            assert (by_plan.data, by_plan.errors) == (plain.data, None), document
            assert orjson.dumps(as_text.data) == orjson.dumps(plain.data), document
