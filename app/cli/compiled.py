"""The compiled operation documents of the commands, stored beside them: compiling them takes longer than most commands.

`messaging generate` writes the file, and `messaging generate --check` finds one that is out of date.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from app.operations.variables import Variable

if TYPE_CHECKING:
    from app.operations.document import Operation

FILE = Path(__file__).parent / "operations.json"


@dataclass(frozen=True, slots=True)
class Command:
    """One operation that is a command, such as `key list`: its text, its variables and the key of its result."""

    name: str
    description: str
    text: str
    root: str
    arguments: Mapping[str, str]
    variables: Mapping[str, Variable]
    is_plain_list: bool
    """Whether the result is a list without pagination."""


def load(group: str) -> list[Command]:
    """Return the commands of a group, such as `key`."""
    stored = orjson.loads(FILE.read_bytes())
    return [_read(each) for each in stored if each["name"].partition(" ")[0] == group]


def as_json(operations: "Iterable[Operation]") -> str:
    """Return the file of operations that are commands, with a line for each."""
    lines = [orjson.dumps(_stored(each)).decode() for each in operations if each.command]
    return "[\n{}\n]\n".format(",\n".join(sorted(lines)))


def _stored(operation: "Operation") -> dict[str, Any]:
    variables = operation.variables.values()
    schemas = orjson.dumps([each.schema for each in variables])
    return {
        "name": operation.command,
        "description": operation.description,
        "text": operation.text,
        "root": operation.root,
        "arguments": operation.arguments,
        "variables": [_stored_variable(each) for each in variables],
        "types": operation.types if b'"$ref"' in schemas else {},
        "is_plain_list": operation.returns.get("type") == "array",
    }


def _stored_variable(variable: Variable) -> dict[str, Any]:
    stored = {"name": variable.name, "schema": variable.schema, "required": variable.required}
    return {**stored, "positional": True} if variable.positional else stored


def _read(stored: dict[str, Any]) -> Command:
    types, variables = stored.pop("types"), stored.pop("variables")
    return Command(**stored, variables={each["name"]: Variable(**each, types=types) for each in variables})
