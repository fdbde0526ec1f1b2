"""The contract as a text: it is written down, every part of it is explained, and nothing in it is taken back."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    build_schema,
    find_breaking_changes,
    get_directive_values,
    get_nullable_type,
    is_introspection_type,
    is_list_type,
    is_specified_directive,
    is_specified_scalar_type,
)

from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import catalogue
from app.graphql.execution.documents import SCOPES
from app.graphql.schema import CORE, contract, sdl

ROOT = Path(__file__).parents[2]

Described = tuple[str, str | None]


def described() -> Iterator[Described]:
    for kind in CORE.type_map.values():
        if not is_introspection_type(kind) and not is_specified_scalar_type(kind):
            yield kind.name, kind.description
            yield from described_parts(kind)
    for directive in CORE.directives:
        if not is_specified_directive(directive):
            yield f"@{directive.name}", directive.description
            yield from ((f"@{directive.name}({name})", arg.description) for name, arg in directive.args.items())


def described_parts(kind: GraphQLNamedType) -> Iterator[Described]:
    match kind:
        case GraphQLObjectType() | GraphQLInterfaceType():
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field.description
                yield from ((f"{kind.name}.{name}({arg})", each.description) for arg, each in field.args.items())
        case GraphQLInputObjectType():
            yield from ((f"{kind.name}.{name}", field.description) for name, field in kind.fields.items())
        case GraphQLEnumType():
            yield from ((f"{kind.name}.{name}", value.description) for name, value in kind.values.items())
        case _:
            return


def released() -> str | None:
    """Return the contract of the newest release."""
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*")
    return git("show", f"{tag.strip()}:schema.graphql") if tag else None


def git(*arguments: str) -> str | None:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_every_part_of_the_contract_is_described_by_a_sentence():
    parts = dict(described())

    assert {"Contact.phone", "Query.contacts(first)", "MessageStatus.sent", "Update.at", "@scope(requires)"} <= set(
        parts
    )
    assert [place for place, description in parts.items() if not (description or "").endswith(".")] == []


def test_the_description_of_a_mutation_names_the_object_that_it_returns():
    assert CORE.mutation_type
    silent = [
        name
        for name, field in CORE.mutation_type.fields.items()
        if not re.search(r"\breturn", field.description or "", re.I)
    ]

    assert silent == []


def test_schema_graphql_is_the_contract():
    assert (ROOT / "schema.graphql").read_text() == sdl()


def test_the_contract_takes_nothing_back_that_was_released():
    before = released()
    if before is None:
        pytest.skip("Nothing was released yet.")

    changes = find_breaking_changes(build_schema(before), contract())

    assert [change.description for change in changes] == []


def test_a_field_that_is_taken_back_is_noticed():
    shorter = build_schema(sdl().replace('  """The contact\'s id."""\n  id: BigInt!\n\n', "", 1))

    changes = find_breaking_changes(contract(), shorter)

    assert [change.description for change in changes] == ["Field Contact.id was removed."]


def test_every_root_field_needs_a_scope():
    roots = [kind for kind in (CORE.query_type, CORE.mutation_type, CORE.subscription_type) if kind]

    assert [f"{kind.name}.{name}" for kind in roots for name in kind.fields if (kind.name, name) not in SCOPES] == []


def test_the_scopes_that_are_required_are_those_of_the_contract():
    scope = contract().get_directive("scope")
    assert scope
    stated = {
        (kind.name, name): values["requires"]
        for kind in contract().type_map.values()
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
        for name, field in kind.fields.items()
        if field.ast_node and (values := get_directive_values(scope, field.ast_node))
    }

    assert stated == SCOPES


def test_every_list_that_is_returned_whole_states_how_long_it_is_at_most() -> None:
    assert CORE.query_type
    lists = {
        name: field.description or ""
        for name, field in CORE.query_type.fields.items()
        if is_list_type(get_nullable_type(field.type))
    }

    assert {"users", "sessions", "webhooks"} <= lists.keys()
    assert [name for name, text in lists.items() if not re.search(r"at most [\d,]+\b", text, re.I)] == ["event_samples"]


def test_every_scope_of_the_contract_can_be_given_to_a_key():
    assert set(SCOPES.values()) - set(Scope) == set()


def test_every_code_that_a_field_refuses_with_is_in_the_catalogue():
    refuses = contract().get_directive("refuses")
    assert refuses
    kinds = [
        kind for kind in contract().type_map.values() if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
    ]
    nodes = [field.ast_node for kind in kinds for field in kind.fields.values() if field.ast_node]

    codes = {code for node in nodes if (said := get_directive_values(refuses, node)) for code in said["codes"]}

    assert "contact_opted_out" in codes
    assert codes - set(catalogue()) == set()
