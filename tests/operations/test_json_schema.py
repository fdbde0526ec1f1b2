"""JSON Schemas of the inputs and outputs of operations."""

from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema
from jsonschema import Draft202012Validator

from app.operations.document import Operation, load
from tests.operations.samples import compiled

STRING = {"type": "string"}
NULL = {"type": "null"}
STAGE = {"type": "string", "enum": ["new_lead", "won"], "title": "Stage"}

SDL = """
scalar BigInt
scalar DateTime
scalar Decimal
scalar JSON

enum Stage {{ new_lead won }}

input Point {{ x: Float!, y: Float! = 0, labels: [String] }}

type Query {{ echo(value: {kind}): String }}
"""


def echoing(folder: Path, kind: str, default: str = "") -> Operation:
    (folder / "echo.graphql").write_text(f"query echo($value: {kind}{default}) {{ echo(value: $value) }}")
    [operation] = load(folder, build_schema(SDL.format(kind=kind)))
    return operation


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("String!", STRING),
        ("ID!", STRING),
        ("Boolean!", {"type": "boolean"}),
        ("Int!", {"type": "integer", "format": "int32"}),
        ("BigInt!", {"type": "integer", "format": "int64"}),
        ("Float!", {"type": "number"}),
        ("Decimal!", {"type": "number"}),
        ("DateTime!", {"type": "string", "format": "date-time"}),
        ("JSON!", {"type": ["array", "boolean", "number", "object", "string"]}),
        ("JSON", {"type": ["array", "boolean", "number", "object", "string", "null"]}),
        ("Stage!", STAGE),
        ("Stage", {"anyOf": [STAGE, NULL]}),
        ("String", {"anyOf": [STRING, NULL]}),
        ("[String!]!", {"anyOf": [STRING, {"type": "array", "items": STRING}]}),
        ("[String]", {"anyOf": [STRING, {"type": "array", "items": {"anyOf": [STRING, NULL]}}, NULL]}),
        (
            "Point!",
            {
                "type": "object",
                "properties": {
                    "x": {"type": "number"},
                    "y": {"type": "number"},
                    "labels": {"anyOf": [STRING, {"type": "array", "items": {"anyOf": [STRING, NULL]}}, NULL]},
                },
                "required": ["x"],
                "title": "Point",
            },
        ),
    ],
)
def test_the_schema_of_a_variable_follows_its_type(tmp_path: Path, kind: str, schema: dict[str, Any]) -> None:
    operation = echoing(tmp_path, kind)

    assert operation.variables["value"].schema == schema


@pytest.mark.parametrize(
    ("kind", "default", "value"),
    [("Int", "= 50", 50), ("Stage", "= won", "won"), ("[String!]", '= ["a"]', ["a"]), ("String", "= null", None)],
)
def test_a_default_is_told(tmp_path: Path, kind: str, default: str, value: object) -> None:
    operation = echoing(tmp_path, kind, default)

    assert operation.variables["value"].schema["default"] == value


def test_the_parts_of_a_list_and_of_a_single_value_are_told_apart(tmp_path: Path) -> None:
    many = echoing(tmp_path, "[Stage!]").variables["value"]
    one = echoing(tmp_path, "Stage").variables["value"]

    assert (many.single, many.many) == (STAGE, {"type": "array", "items": STAGE})
    assert (one.single, one.many) == (STAGE, None)


def test_an_operation_returns_the_shape_of_its_selection(tmp_path: Path) -> None:
    [operation] = compiled(
        tmp_path,
        """
        fragment Person on Contact { id label: name friend { id } }

        query get_contact {
          contact(id: 1) {
            ...Person
            ... on Contact { friend { nickname } }
            tags
            stage
            score
            created_at
          }
        }
        """,
    )

    integer = {"type": "integer", "format": "int64"}
    friend = {
        "type": "object",
        "properties": {"id": integer, "nickname": {"anyOf": [STRING, NULL]}},
        "required": ["id", "nickname"],
    }
    assert operation.returns == {
        "type": "object",
        "properties": {
            "id": integer,
            "label": {"type": "string", "description": "The first name."},
            "friend": {"anyOf": [friend, NULL]},
            "tags": {"type": "array", "items": STRING},
            "stage": STAGE,
            "score": {"type": "number"},
            "created_at": {"type": "string", "format": "date-time"},
        },
        "required": ["id", "label", "friend", "tags", "stage", "score", "created_at"],
    }


CONTRACT = """
directive @constraint(
  minimum: Int, maximum: Int, min_length: Int, max_length: Int, pattern: String, min_items: Int, max_items: Int
) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION

"Where a contact stands."
enum Stage {
  "Not talked to yet."
  new_lead
  won
}

"A condition."
input Filter {
  "All of these."
  all: [Filter!]
  not: Filter
  group: Group
  tag: String @constraint(max_length: 64)
}

input Group { filters: [Filter!]! }

type Query {
  find(
    filter: Filter
    stage: Stage!
    tags: [String!] @constraint(min_length: 1, max_length: 64, min_items: 1, max_items: 20)
    limit: Int! = 20 @constraint(minimum: 1, maximum: 200)
    code: String @constraint(pattern: "^[a-z]+$")
  ): [String!]!
}
"""

FIND = """
query find($filter: Filter, "The stage." $stage: Stage!, $tags: [String!], $limit: Int! = 20, $code: String) {
  names: find(filter: $filter, stage: $stage, tags: $tags, limit: $limit, code: $code)
}
"""


@pytest.fixture
def finding(tmp_path: Path) -> Operation:
    [operation] = compiled(tmp_path, FIND, sdl=CONTRACT)
    return operation


def test_a_tool_takes_an_object_in_which_lists_are_arrays(finding: Operation) -> None:
    accepts = finding.accepts

    Draft202012Validator.check_schema(accepts)
    assert accepts["additionalProperties"] is False
    assert accepts["required"] == ["stage"]
    assert accepts["properties"]["tags"] == {
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 64},
        "minItems": 1,
        "maxItems": 20,
    }


def test_the_limits_of_the_contract_are_told(finding: Operation) -> None:
    properties = finding.accepts["properties"]

    assert properties["limit"] == {
        "type": "integer",
        "format": "int32",
        "minimum": 1,
        "maximum": 200,
        "default": 20,
    }
    assert properties["code"] == {"type": "string", "pattern": "^[a-z]+$"}


def test_the_values_of_an_enum_are_described_where_a_tool_takes_them(finding: Operation) -> None:
    words = "Where a contact stands.\n- `new_lead`: Not talked to yet."

    assert finding.types["Stage"]["description"] == words
    assert finding.accepts["properties"]["stage"] == {
        "type": "string",
        "enum": ["new_lead", "won"],
        "description": "The stage.\n- `new_lead`: Not talked to yet.",
    }


def test_an_input_type_that_holds_itself_is_defined_once(finding: Operation) -> None:
    accepts = finding.accepts
    reference = {"type": "object", "$ref": "#/$defs/Filter"}
    checker = Draft202012Validator(accepts)

    assert set(accepts["$defs"]) == {"Filter"}
    assert accepts["$defs"]["Filter"]["additionalProperties"] is False
    assert accepts["$defs"]["Filter"]["properties"]["not"] == {"anyOf": [reference, NULL]}
    assert accepts["$defs"]["Filter"]["properties"]["tag"] == {"anyOf": [{"type": "string", "maxLength": 64}, NULL]}
    deep = {"not": {"all": [{"tag": "a"}, {"group": {"filters": [{"tag": "b"}]}}]}}
    assert checker.is_valid({"stage": "won", "filter": deep})
    assert not checker.is_valid({"stage": "won", "filter": {"not": {"all": [{"tag": 5}]}}})
    assert not checker.is_valid({"stage": "won", "filter": {"not": {"tags": "b"}}})


def test_a_tool_answers_an_object_whatever_the_root_field_returns(finding: Operation, tmp_path: Path) -> None:
    [one, maybe, page] = compiled(
        tmp_path,
        """
        query one { contact(id: 1) { id } }
        query maybe { at }
        query page { contacts { total_count } }
        """,
    )

    assert finding.answers == {
        "type": "object",
        "properties": {"names": {"type": "array", "items": STRING}},
        "required": ["names"],
    }
    assert finding.answer(["Ann"]) == {"names": ["Ann"]}
    assert one.answers == one.returns
    assert one.answer({"id": 1}) == {"id": 1}
    assert maybe.answers["properties"] == {"at": {"anyOf": [STRING, NULL]}}
    assert maybe.answer(None) == {"at": None}
    assert page.answers["required"] == ["total_count"]
