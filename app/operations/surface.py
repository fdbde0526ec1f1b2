"""The surfaces of an operation, and their rules."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphql import EnumTypeDefinitionNode, GraphQLSchema, OperationDefinitionNode, parse

from app.operations.directives import directive_values
from app.operations.errors import InvalidDocument
from app.operations.json_schema import Json
from app.operations.variables import Variable

SURFACE = parse((Path(__file__).parent / "surface.graphql").read_text("utf-8"))

CATEGORIES = tuple(
    value.name.value
    for node in SURFACE.definitions
    if isinstance(node, EnumTypeDefinitionNode) and node.name.value == "ToolCategory"
    for value in node.values or ()
)
"""The categories of tools, in the order of the list."""

_PATH = re.compile(r"(/([a-z0-9._-]+|\{\w+\}))+", re.IGNORECASE)
_TOOL_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_TEXTUAL = ("boolean", "integer", "number", "string")
_COUNTED = {"nodes", "page_info", "total_count", "total_is_exact"}
_PAGED = {"limit", "offset", "after"}


@dataclass(frozen=True, slots=True)
class Rest:
    """One HTTP endpoint. The path is a template of RFC 6570, level 1, such as `/contacts/{id}`.

    With `pick`, only that field of the selection is returned; with `forms`, the values of form tools are accepted.
    `headers` are fields that are answered as headers, as `Header: field`.
    """

    method: str
    path: str
    envelope: str
    pick: str | None = None
    forms: bool = False
    headers: tuple[str, ...] = ()

    @property
    def shown(self) -> dict[str, str]:
        """Return the field of each header."""
        return dict(each.split(": ", 1) for each in self.headers)

    @property
    def placeholders(self) -> list[str]:
        """Return the names of the variables in the path."""
        return _PLACEHOLDER.findall(self.path)

    @property
    def has_body(self) -> bool:
        """Return whether the variables are in the body; those of GET and DELETE are in the query string."""
        return self.method in {"POST", "PUT", "PATCH"}

    @property
    def place(self) -> str:
        """Return method and path, equal for paths that match the same requests."""
        return f"{self.method} {_PLACEHOLDER.sub('{}', self.path)}"


@dataclass(frozen=True, slots=True)
class Tool:
    """The announcement of a tool; its name and description are the operation's.

    `confirmation` is the question to a person before the tool runs, with variables and fields of the query `preview`
    as `{name}`; `confirm` is `always`, or `on_request` of a connection. With `dry_run`, the tool runs in a transaction
    that is rolled back before the question. `reads_only` is for a mutation that makes only the job of its answer.
    `link` is the URI of a resource with members of the answer. `aliases` are names that are called but not listed.
    """

    title: str
    category: str
    destructive: bool = False
    idempotent: bool = False
    reads_only: bool = False
    open_world: bool = False
    confirmation: str | None = None
    confirm: str = "always"
    preview: str | None = None
    dry_run: bool = False
    link: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the tool server. `uri` is a template of RFC 6570, level 1."""

    uri: str
    title: str

    @property
    def placeholders(self) -> list[str]:
        """Return the names of the variables in the address."""
        return _PLACEHOLDER.findall(self.uri)


def read_rest(node: OperationDefinitionNode, schema: GraphQLSchema) -> tuple[Rest, ...]:
    """Return the endpoints of an operation."""
    found = directive_values("rest", node, schema)
    return tuple(Rest(**values | {"headers": tuple(values["headers"])}) for values in found)


def read_tool(node: OperationDefinitionNode, schema: GraphQLSchema) -> Tool | None:
    """Return the tool of an operation."""
    for values in directive_values("tool", node, schema):
        return Tool(**values | {"aliases": tuple(values["aliases"])})
    return None


def read_resource(node: OperationDefinitionNode, schema: GraphQLSchema) -> Resource | None:
    """Return the resource of an operation."""
    return next((Resource(**values) for values in directive_values("resource", node, schema)), None)


def read_completes(node: OperationDefinitionNode, schema: GraphQLSchema) -> tuple[str, ...]:
    """Return the names of the arguments that an operation completes."""
    return tuple(name for values in directive_values("completion", node, schema) for name in values["of"])


def read_command(node: OperationDefinitionNode, schema: GraphQLSchema) -> str | None:
    """Return the name of an operation's command, such as `key list`."""
    return next((values["name"] for values in directive_values("command", node, schema)), None)


def check_tool(tool: Tool | None, variables: Mapping[str, Variable], *, reads_only: bool) -> None:
    """Raise `InvalidDocument` for an invalid tool."""
    if tool is None:
        return
    if (reads_only or tool.reads_only) and (tool.destructive or tool.confirmation):
        raise InvalidDocument("a tool that only reads changes nothing: it is not destructive and asks for nothing")
    unknown = [name for name in _PLACEHOLDER.findall(tool.confirmation or "") if name not in variables]
    if unknown and not tool.preview:
        raise InvalidDocument(f"the confirmation has {{{unknown[0]}}}, but the operation has no variable ${unknown[0]}")
    if tool.preview and not tool.confirmation:
        raise InvalidDocument("a preview is for a confirmation, and the tool has none")
    if invalid := [alias for alias in tool.aliases if not _TOOL_NAME.fullmatch(alias)]:
        raise InvalidDocument(f"the alias {invalid[0]} must be lower-case letters, digits and underscores")


def check_resource(resource: Resource | None, variables: Mapping[str, Variable]) -> None:
    """Raise `InvalidDocument` unless the variables of a resource are those in its address."""
    if resource and set(resource.placeholders) != variables.keys():
        raise InvalidDocument(f"the variables of a resource are those of its address {resource.uri}")


def check_rest(rest: Rest, variables: Mapping[str, Variable], returns: Json, *, reads_only: bool) -> None:
    """Raise `InvalidDocument` for an invalid endpoint."""
    if not _PATH.fullmatch(rest.path):
        raise InvalidDocument(f"the path {rest.path} must be segments such as /contacts/{{id}}")
    if rest.method == "GET" and not reads_only:
        raise InvalidDocument(f"{rest.place} would change something: a GET is a query")
    _check_path(rest, variables)
    _check_texts(rest, variables)
    if rest.envelope == "page":
        _check_page(rest, variables, returns)
    if rest.pick is not None and rest.pick not in returns.get("properties", {}):
        raise InvalidDocument(f"{rest.place} picks {rest.pick}, which the operation does not select")
    for each in rest.headers:
        if each.partition(": ")[2] not in returns.get("properties", {}):
            raise InvalidDocument(f"{rest.place} has the header {each}, whose field the operation does not select")


def _check_path(rest: Rest, variables: Mapping[str, Variable]) -> None:
    for name in rest.placeholders:
        if name not in variables:
            raise InvalidDocument(f"{rest.path} has {{{name}}}, but the operation has no variable ${name}")
        if variables[name].many or variables[name].header:
            raise InvalidDocument(f"${name} stands in the path {rest.path}, so it is one value and no header")


def _check_texts(rest: Rest, variables: Mapping[str, Variable]) -> None:
    """Check that the variables in path, query string and headers can be read from texts."""
    members = variables.keys() - set(rest.placeholders) if rest.has_body else set[str]()
    for variable in variables.values():
        in_body = variable.name in members and variable.header is None
        if not in_body and variable.single["type"] not in _TEXTUAL:
            raise InvalidDocument(
                f"${variable.name} is an object, which {rest.place} cannot read from its query string"
            )


def _check_page(rest: Rest, variables: Mapping[str, Variable], returns: Json) -> None:
    if rest.method != "GET" or not returns.get("properties", {}).keys() >= _COUNTED:
        raise InvalidDocument(f"{rest.place} is a page: it is a GET of a connection, with {_names(_COUNTED)}")
    if not variables.keys() >= _PAGED or "default" not in variables["limit"].schema:
        raise InvalidDocument(f"{rest.place} is a page: it takes $offset, $after, and $limit with a default")


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names))
