"""The tools, compiled from the operation documents of this folder."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.graphql.schema import FRAGMENTS, contract
from app.mcp.confirmations import ARGUMENT, SCHEMA
from app.operations.arguments import Acceptor
from app.operations.document import Operation, load
from app.operations.errors import InvalidDocument
from app.operations.json_schema import NULL, Json
from app.operations.named_types import map_schema
from app.operations.surface import CATEGORIES, Tool

FOLDER = Path(__file__).parent

MAX_QUOTED = 200
"""The number of characters of a text that a question quotes."""

SHOWN = {"Cc": " ", "Cf": "", "Cn": "", "Co": "", "Cs": ""}
"""Replacements for characters of these categories, which are invisible, or change the order of others."""

REFUSED_BY = "refused_by"
"""The member of a preview's result that says why the call would be refused."""

OUTPUT_KEYWORDS = frozenset({"anyOf", "items", "type"})
"""The keywords of the members of an output schema. Those of inner objects, and descriptions, would double the list of
tools, which every assistant reads.
"""


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """One tool: its operation, the check of its arguments, its entry in the list, and the query before its question."""

    operation: Operation
    announcement: Tool
    accept: Acceptor
    entry: Json
    preview: Operation | None = None

    @property
    def name(self) -> str:
        """Return the name of the tool."""
        return self.operation.name

    @property
    def reads_only(self) -> bool:
        """Return whether a call changes nothing, except that it may make the job of its answer."""
        return self.operation.reads_only or self.announcement.reads_only

    @property
    def scopes(self) -> frozenset[str]:
        """Return the scopes that a call needs."""
        return self.operation.scopes | (self.preview.scopes if self.preview else frozenset())

    def question(self, variables: Mapping[str, Any], preview: Mapping[str, Any]) -> str:
        """Return the question to a person, with the variables of a call and the result of its preview.

        Others choose names, such as that of a contact: in the question, which is the first paragraph, they cannot end
        it or look like another sentence of it. The text to send, in the second paragraph, is shown as it is.
        """
        shown = {**variables, **preview}
        question, gap, text = (self.announcement.confirmation or "").partition("\n\n")
        return question.format_map(_quoted(shown)) + gap + text.format_map(shown)

    def shown(self, preview: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of a preview's result that are variables of the tool, such as the id of a preview."""
        return {name: value for name, value in preview.items() if name in self.operation.variables}

    def link_of(self, result: Mapping[str, Any]) -> Json | None:
        """Return the link to the resource of a result, if the tool has one."""
        if self.announcement.link is None:
            return None
        uri = self.announcement.link.format_map(result)
        return {"type": "resource_link", "uri": uri, "name": uri, "mimeType": "application/json"}


class Catalogue:
    """All tools, in the order of their categories."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        named = {operation.name: operation for operation in operations}
        compiled = [_compile(operation, operation.tool, named) for operation in named.values() if operation.tool]
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


def _quoted(value: object) -> Any:
    """Return a value whose texts fit between quotation marks: on one line, and without invisible characters."""
    if isinstance(value, dict):
        return {name: _quoted(member) for name, member in value.items()}
    if not isinstance(value, str):
        return value
    seen = (SHOWN.get(unicodedata.category(each), each) for each in value.replace('"', "'"))
    line = " ".join("".join(seen).split())
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}…"


def _compile(operation: Operation, tool: Tool, operations: Mapping[str, Operation]) -> CompiledTool:
    preview = operations.get(tool.preview) if tool.preview else None
    if tool.preview and (preview is None or not preview.reads_only or preview.tool):
        raise InvalidDocument(f"{operation.name} is previewed by {tool.preview}, which is no query without a tool")
    if tool.confirmation and (late := _refused_late(operation, tool, preview)):
        raise InvalidDocument(f"{operation.name} asks a person, and may answer {late[0]} only after the question")
    accept = Acceptor(operation.variables.values(), strict=True)
    return CompiledTool(operation, tool, accept, _entry(operation, tool), preview)


def _refused_late(operation: Operation, tool: Tool, preview: Operation | None) -> list[str]:
    """Return the refusals of a tool that neither its arguments, its preview nor a dry run find before the question."""
    if tool.dry_run or (preview and REFUSED_BY in preview.answers["properties"]):
        return []
    attested = {variable.attested for variable in operation.variables.values()}
    return sorted({*operation.refusals} - attested - {*(preview.refusals if preview else ())})


def _entry(operation: Operation, tool: Tool) -> Json:
    accepts: Json = {"required": [], **_shortened(operation.accepts)}
    if tool.confirmation:
        accepts["properties"][ARGUMENT] = SCHEMA
    return {
        "name": operation.name,
        "title": tool.title,
        "description": operation.description,
        "inputSchema": accepts,
        "outputSchema": _outlined(operation.answers),
        "annotations": {
            "readOnlyHint": operation.reads_only or tool.reads_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent or operation.reads_only,
            "openWorldHint": tool.open_world,
        },
    }


def _shortened(schema: Json) -> Json:
    """Return a schema without the sizes of its integers, and without null, which counts as left out."""
    kept = {keyword: value for keyword, value in schema.items() if value not in ("int32", "int64", [])}
    options: list[Json] = kept.get("anyOf", [])
    if NULL in options and len(options) == 2:
        kept = {**options[0], **{keyword: value for keyword, value in kept.items() if keyword != "anyOf"}}
    if "$defs" in kept:
        kept["$defs"] = {name: _shortened(each) for name, each in kept["$defs"].items()}
    return map_schema(kept, _shortened)


def _outlined(schema: Json) -> Json:
    """Return the schema of a result with its members and their types."""
    members = {name: _trimmed(member) for name, member in schema["properties"].items()}
    return {"type": "object", "properties": members, "required": schema["required"]}


def _trimmed(schema: Json) -> Json:
    kept = {keyword: value for keyword, value in schema.items() if keyword in OUTPUT_KEYWORDS}
    return map_schema(kept, _trimmed)
