"""Limits of documents, to the exact number."""

from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, get_introspection_query, parse
from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel.paging import MAX_SIZE
from app.graphql.execution.documents import measure, prepare
from app.graphql.execution.query_limits import INTROSPECTION, MAX_TOKENS, Scale, Weight, check_limits, fragments_of
from app.graphql.schema import CORE, contract
from app.operations.document import load

REST = Path(__file__).parents[2] / "app" / "rest"

SCHEMA = build_schema("""
  type Query { node: Node, nodes_of(first: Int, last: Int): Page, a: Int, b: Int }
  type Mutation { act: Node, undo: Node }
  type Node { name: String, node: Node, parts: [Node!]!, tags: [String!]!, page(first: Int): Page }
  type Page { nodes: [Node!]!, edges: [Edge!]!, total: Int }
  type Edge { node: Node! }
""")


def weigh(text: str) -> Weight:
    document = parse(text)
    scale = Scale(SCHEMA, fragments_of(document))
    [operation, *_] = document.definitions
    return scale.weigh(operation.selection_set, SCHEMA.query_type)


def refusals(text: str) -> list[str]:
    return [error.message for error in check_limits(SCHEMA, parse(text))]


def nested(depth: int) -> str:
    return "{ " + "node { " * (depth - 1) + "name" + " }" * depth


def costing(fields: int) -> str:
    """Return a document that costs 1 + 200 for each field."""
    return "{ nodes_of(first: 200) { " + "total " * fields + "} }"


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("{ a }", Weight(1, 1)),
        ("{ a b }", Weight(1, 2)),
        ("{ node { name } }", Weight(2, 2)),
        ("{ node { tags } }", Weight(2, 2)),
        ("{ node { parts { name } } }", Weight(3, 1 + 1 + 5)),
        ("{ nodes_of(first: 3) { total nodes { name tags } } }", Weight(3, 1 + 3 * (1 + 1 + 2))),
        ("query($n: Int! = 9) { nodes_of(first: $n) { total } }", Weight(2, 1 + 1)),
        ("{ nodes_of(last: 3) { total edges { node { name } } } }", Weight(4, 1 + 3 * (1 + 1 + 1 + 1))),
        ("{ nodes_of(first: null, last: 3) { total } }", Weight(2, 1 + 3)),
        ("{ nodes_of(first: null) { total } }", Weight(2, 1 + 50)),
        ("{ nodes_of(first: 2, last: 3) { total } }", Weight(2, 1 + 3)),
        ("{ nodes_of(first: 100000) { total } }", Weight(2, 1 + 200)),
        ("{ nodes_of(first: -100000) { total } }", Weight(2, 1 + 1)),
        ("{ nodes_of(first: 2) { nodes { page(first: 3) { total } } } }", Weight(4, 1 + 2 * (1 + 1 + 3 * 1))),
        ("{ ... { a ... on Query { b } } }", Weight(1, 2)),
        ("{ ...f ...f } fragment f on Query { node { name } }", Weight(2, 4)),
        ("{ __schema { types { fields { name } } } a }", Weight(1, INTROSPECTION.cost + 1)),
        ("{ unknown { deeper } ...unknown }", Weight(1, 1)),
    ],
)
def test_a_page_counts_as_often_as_it_has_items(text: str, weight: Weight):
    assert weigh(text) == weight


def test_a_page_without_a_size_has_the_size_of_its_default():
    document = parse("{ balance { rate } transactions { nodes { amount } } messages { nodes { body } } }")
    scale = Scale(CORE, fragments_of(document))

    weight = scale.weigh(document.definitions[0].selection_set, CORE.query_type)

    assert weight == Weight(3, 2 + (1 + 50 * 2) + (1 + 50 * 2))


@pytest.mark.parametrize(
    ("variables", "size"),
    [
        (None, 9),
        ({}, 9),
        ({"n": 3}, 3),
        ({"n": None}, 50),
        ({"n": 3, "m": 7}, 7),
        ({"n": None, "m": 7}, 7),
        ({"n": -4}, 1),
        ({"n": 10**30}, 200),
        ({"n": "many"}, 50),
    ],
)
def test_a_page_counts_by_the_variables_it_is_run_with(variables: dict[str, Any] | None, size: int):
    text = "query ($n: Int = 9, $m: Int) { messages(first: $n, last: $m) { %s } }"
    costly = text % " ".join(f"n{number}: nodes {{ body }}" for number in range(24))

    assert measure(prepare(costly), None, variables).units == 1 + (1 + size * 48) // 100


def test_a_document_is_refused_where_its_variables_make_it_cost_too_much():
    text = "query ($n: Int!) { messages(first: $n) { %s } }"
    prepared = prepare(text % " ".join(f"n{number}: nodes {{ body }}" for number in range(30)))

    fitting, refused = (measure(prepared, None, {"n": size}) for size in (166, 167))

    assert (prepared.errors, fitting.errors) == ((), ())
    assert [error.message for error in refused.errors] == [
        "The document costs 10,021; 10,000 is the most. Ask for fewer fields or smaller pages."
    ]


def test_ten_levels_are_allowed_and_eleven_are_not():
    assert refusals(nested(10)) == []
    assert refusals(nested(11)) == ["The document is 11 levels deep; 10 is the most."]


def test_levels_are_counted_through_fragments():
    text = nested(8).replace("name", "...f") + " fragment f on Node { node { node { node { name } } } }"

    assert refusals(text) == ["The document is 11 levels deep; 10 is the most."]


def test_a_document_may_cost_ten_thousand():
    assert refusals(costing(49)) == []
    assert refusals(costing(50)) == [
        "The document costs 10,001; 10,000 is the most. Ask for fewer fields or smaller pages."
    ]


def test_thirty_aliases_are_allowed_and_thirty_one_are_not():
    aliases = [f"x{number}: name" for number in range(31)]

    assert refusals(f"{{ node {{ {' '.join(aliases[:30])} }} }}") == []
    assert refusals(f"{{ node {{ {' '.join(aliases)} }} }}") == ["A document may have 30 aliases at most."]


def test_sixty_blocks_are_allowed_and_sixty_one_are_not():
    assert refusals("{" + "node { name }" * 60 + "}") == []
    assert refusals("{" + "node { name }" * 61 + "}") == [
        "A document may have 60 fields with a selection of their own at most."
    ]


def test_ten_root_fields_are_allowed_and_eleven_are_not():
    roots = [f"x{number}: a" for number in range(11)]

    assert refusals(f"{{ {' '.join(roots[:10])} __typename }}") == []
    assert refusals(f"{{ {' '.join(roots)} }}") == ["An operation may have 10 root fields at most; this one has 11."]


@pytest.mark.parametrize(
    "text",
    [
        "mutation { act { name } undo { name } }",
        "mutation { act { name } again: act { name } }",
        "mutation { act { name } __typename: undo { name } }",
        "mutation { ...f undo { name } } fragment f on Mutation { act { name } }",
        "mutation { ... @include(if: false) { act { name } } undo { name } }",
    ],
)
def test_a_mutation_has_one_root_field(text: str):
    assert refusals(text) == ["A mutation has one root field, since an operation is one transaction. Send each alone."]


@pytest.mark.parametrize("text", ["mutation { __typename act { name } }", "mutation { act { name } act { tags } }"])
def test_merged_selections_count_as_one_root_field(text: str):
    assert refusals(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "{ ...f } fragment f on Query { ...f }",
        "{ ...f } fragment f on Query { node { ...g } } fragment g on Node { node { ...g } }",
        "mutation { ...f } fragment f on Mutation { ...f act { name } }",
    ],
)
def test_fragments_that_go_in_circles_are_weighed_once(text: str):
    assert refusals(text) == []


def test_fragments_that_double_one_another_are_weighed_without_being_spread():
    doubling = [f"fragment f{n} on Node {{ node {{ ...f{n + 1} }} x: node {{ ...f{n + 1} }} }}" for n in range(25)]
    text = "{ node { ...f0 } } " + " ".join(doubling) + " fragment f25 on Node { name }"

    found = refusals(text)

    assert f"The document costs {3 * 2**25 - 1:,}; 10,000 is the most." in found[0] + found[1]


@given(
    st.lists(st.sampled_from(["a", "node { name }", "...f", "... { b }", "nodes_of(first: 2) { total }"]), min_size=1)
)
def test_more_fields_never_cost_less(parts: list[str]):
    fragment = "fragment f on Query { node { parts { name } } }"

    smaller, larger = (weigh(f"{{ {' '.join(some)} }} {fragment}") for some in (parts, [*parts, "a"]))

    assert larger.cost == smaller.cost + 1
    assert larger.depth == smaller.depth


def test_the_introspection_of_common_tools_is_allowed():
    whole = get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )

    assert prepare(whole).errors == ()


def test_two_introspections_in_one_document_are_too_many():
    part = '__type(name: "Contact") { name }'

    errors = prepare(f"{{ a: {part} b: {part} }}").errors

    assert [error.message.partition(";")[0] for error in errors] == ["The document costs 18,000"]


def test_a_document_has_a_limited_number_of_tokens():
    errors = prepare("{" + "a " * MAX_TOKENS + "}").errors

    assert [error.message for error in errors] == [
        f"Syntax Error: Document contains more than {MAX_TOKENS} tokens. Parsing aborted."
    ]


def test_our_own_documents_are_within_the_limits():
    operations = load(REST, contract())

    assert operations
    largest = {
        operation.name: measure(prepare(operation.text), None, {"limit": MAX_SIZE}).errors for operation in operations
    }
    assert largest == {operation.name: () for operation in operations}
