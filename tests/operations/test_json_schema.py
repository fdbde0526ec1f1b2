"""What operations accept and return, as JSON Schema."""

from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema

from app.operations.document import Operation, load
from tests.operations.samples import compiled

STRING = {"type": "string"}
NULL = {"type": "null"}
STAGE = {"type": "string", "enum": ["new_lead", "won"]}

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
            },
        ),
    ],
)
def test_a_variable_accepts_what_its_type_takes(tmp_path: Path, kind: str, schema: dict[str, Any]) -> None:
    operation = echoing(tmp_path, kind)

    assert operation.accepts["properties"]["value"] == schema


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
