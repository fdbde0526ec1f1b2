"""The tools, compiled from the operation documents of this folder."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.graphql.schema import FRAGMENTS, contract
from app.operations.arguments import Acceptor
from app.operations.document import Operation, load
from app.operations.json_schema import Json
from app.operations.named_types import map_schema
from app.operations.surface import CATEGORIES, Tool

FOLDER = Path(__file__).parent

OUTPUT_KEYWORDS = frozenset({"anyOf", "items", "properties", "required", "type"})
"""The keywords of an output schema. Descriptions of results would double the list of tools, which assistants read."""


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """One tool: its operation, the check of its arguments, and its entry in the list of tools."""

    operation: Operation
    announcement: Tool
    accept: Acceptor
    entry: Json

    @property
    def name(self) -> str:
        """Return the name of the tool."""
        return self.operation.name

    @property
    def scopes(self) -> frozenset[str]:
        """Return the scopes that a call needs."""
        return self.operation.scopes


class Catalogue:
    """All tools, in the order of their categories."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        compiled = [_compile(operation, operation.tool) for operation in operations if operation.tool]
        self.tools = sorted(compiled, key=lambda tool: CATEGORIES.index(tool.announcement.category))
        self._named = {name: tool for tool in self.tools for name in (tool.name, *tool.announcement.aliases)}

    def find(self, name: str) -> CompiledTool | None:
        """Return the tool with a name or an alias."""
        return self._named.get(name)

    def input_schema(self, name: str) -> Json | None:
        """Return the JSON Schema of a tool's arguments."""
        tool = self.find(name)
        return tool.entry["inputSchema"] if tool else None


@cache
def operations() -> list[Operation]:
    """Return the operations of the tool server; raise `InvalidDocument` for one that does not fit the contract."""
    return load(FOLDER, contract(), FRAGMENTS)


@cache
def catalogue() -> Catalogue:
    """Return the tools of the service."""
    return Catalogue(operations())


def _compile(operation: Operation, tool: Tool) -> CompiledTool:
    return CompiledTool(operation, tool, Acceptor(operation.variables.values(), strict=True), _entry(operation, tool))


def _entry(operation: Operation, tool: Tool) -> Json:
    return {
        "name": operation.name,
        "title": tool.title,
        "description": operation.description,
        "inputSchema": _without_sizes(operation.accepts),
        "outputSchema": _trimmed(operation.answers),
        "annotations": {
            "readOnlyHint": operation.reads_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent or operation.reads_only,
            "openWorldHint": tool.open_world,
        },
    }


def _without_sizes(schema: Json) -> Json:
    """Return a schema without the sizes of its integers, which tell an assistant nothing."""
    kept = {keyword: value for keyword, value in schema.items() if value not in ("int32", "int64")}
    return map_schema(kept, _without_sizes)


def _trimmed(schema: Json) -> Json:
    """Return a schema with the keywords that say of which types a result is."""
    kept = {keyword: value for keyword, value in schema.items() if keyword in OUTPUT_KEYWORDS}
    return map_schema(kept, _trimmed)
