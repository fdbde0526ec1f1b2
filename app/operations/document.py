"""Named GraphQL documents, checked and compiled once. A REST route or a tool is one of them, read aloud."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from graphql import (
    DirectiveDefinitionNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    OperationType,
    Source,
    StringValueNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    extend_schema,
    get_named_type,
    get_nullable_type,
    parse,
    print_ast,
    validate,
    visit,
)

from app.operations import json_schema
from app.operations.directives import directive_values
from app.operations.errors import InvalidDocument
from app.operations.json_schema import Fragments, Json, SelectingNode
from app.operations.surface import SURFACE, Rest, Tool, check_rest, read_command, read_rest, read_tool
from app.operations.variables import Variable, read_variables

_SURFACE_DIRECTIVES = {node.name.value for node in SURFACE.definitions if isinstance(node, DirectiveDefinitionNode)}

Described = TypeVar("Described", OperationDefinitionNode, VariableDefinitionNode)


@dataclass(frozen=True, slots=True)
class Operation:
    """One document: what it takes, what it gives, what it may refuse and where it is offered.

    `area` is the name of its file, `root` the response key of its one root field, `text` what is
    executed. `accepts` and `returns` are JSON Schemas of its variables and of the root field's value,
    which is never null: a field that may be null is so beside an error.
    """

    name: str
    description: str
    area: str
    reads_only: bool
    root: str
    root_field: str
    text: str
    variables: Mapping[str, Variable]
    accepts: Json
    returns: Json
    scopes: frozenset[str]
    refusals: tuple[str, ...]
    rest: tuple[Rest, ...]
    tool: Tool | None
    command: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variable that each argument of the root field is given."""


def load(folder: Path, schema: GraphQLSchema) -> list[Operation]:
    """Compile every document under a folder against a schema built from SDL; raise `InvalidDocument` for a fault."""
    dialect = extend_schema(schema, SURFACE)
    operations: list[Operation] = []
    for path in sorted(folder.rglob("*.graphql")):
        try:
            operations.extend(_read(path, dialect))
            _check_unique(operations)
        except (InvalidDocument, GraphQLError) as fault:
            raise InvalidDocument(f"{path}: {fault}") from None
    return operations


def _read(path: Path, schema: GraphQLSchema) -> Iterator[Operation]:
    document = parse(Source(path.read_text("utf-8"), str(path)))
    if faults := validate(schema, document):
        raise faults[0]
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            yield _compile(node, fragments, schema, path.stem)


def _compile(node: OperationDefinitionNode, fragments: Fragments, schema: GraphQLSchema, area: str) -> Operation:
    parent = schema.get_root_type(node.operation)
    if node.name is None or parent is None or node.operation is OperationType.SUBSCRIPTION:
        raise InvalidDocument("an operation is a query or a mutation, and has a name")
    root, selections = _root(node, parent, fragments)
    described = parent.fields[selections[0].name.value]
    used = _used(node, fragments)
    variables = read_variables(node, used.values(), schema)
    operation = Operation(
        name=node.name.value,
        description=_text_of(node.description) or described.description or "",
        area=area,
        reads_only=node.operation is OperationType.QUERY,
        root=root,
        root_field=selections[0].name.value,
        text=_executable(node, used.values()),
        variables=variables,
        accepts=_accepts(variables.values()),
        returns=json_schema.returns(GraphQLNonNull(get_nullable_type(described.type)), selections, fragments),
        scopes=frozenset(_scopes(parent, node, fragments, schema)),
        refusals=tuple(
            code for said in directive_values("refuses", described.ast_node, schema) for code in said["codes"]
        ),
        rest=read_rest(node, schema),
        tool=read_tool(node, schema),
        command=read_command(node, schema),
        arguments={
            given.name.value: given.value.name.value
            for given in selections[0].arguments or ()
            if isinstance(given.value, VariableNode)
        },
    )
    if unnamed := {variable.attested for variable in variables.values()} - {None, *operation.refusals}:
        raise InvalidDocument(f"{unnamed.pop()} is no error that {operation.root_field} refuses with")
    for rest in operation.rest:
        check_rest(rest, variables, operation.returns, reads_only=operation.reads_only)
    return operation


def _root(
    node: OperationDefinitionNode, parent: GraphQLObjectType, fragments: Fragments
) -> tuple[str, list[FieldNode]]:
    roots = json_schema.selected(parent, [node], fragments)
    if len(roots) != 1:
        raise InvalidDocument("an operation selects exactly one root field: one transaction, one result")
    return next(iter(roots.items()))


def _accepts(variables: Collection[Variable]) -> Json:
    properties = {variable.name: variable.schema for variable in variables}
    required = [variable.name for variable in variables if variable.required]
    return json_schema.obj(properties, required) | {"additionalProperties": False}


def _scopes(
    parent: GraphQLObjectType, node: SelectingNode, fragments: Fragments, schema: GraphQLSchema
) -> Iterator[str]:
    for selections in json_schema.selected(parent, [node], fragments).values():
        described = parent.fields[selections[0].name.value]
        yield from (said["requires"] for said in directive_values("scope", described.ast_node, schema))
        kind = get_named_type(described.type)
        if isinstance(kind, GraphQLObjectType):
            for selection in selections:
                yield from _scopes(kind, selection, fragments, schema)


def _used(node: Node, fragments: Fragments) -> dict[str, FragmentDefinitionNode]:
    """Return the fragments that a node spreads, and those which they spread in turn."""
    spreads = _Spreads()
    visit(node, spreads)
    found: dict[str, FragmentDefinitionNode] = {}
    for name in spreads.names:
        found |= {name: fragments[name]} | _used(fragments[name], fragments)
    return found


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: Any) -> None:
        self.names.append(node.name.value)


def _executable(node: OperationDefinitionNode, fragments: Iterable[FragmentDefinitionNode]) -> str:
    """Print an operation without what only the surfaces read: their directives, and the descriptions."""
    variables = tuple(_bare(definition) for definition in node.variable_definitions or ())
    bare = replace(_bare(node), variable_definitions=variables)
    return print_ast(DocumentNode(definitions=(bare, *fragments)))


def _bare(node: Described) -> Described:
    kept = tuple(directive for directive in node.directives or () if directive.name.value not in _SURFACE_DIRECTIVES)
    return replace(node, description=None, directives=kept)


def _text_of(description: StringValueNode | None) -> str:
    return description.value if description else ""


def _check_unique(operations: list[Operation]) -> None:
    names = Counter(operation.name for operation in operations)
    places = Counter(rest.place for operation in operations for rest in operation.rest)
    commands = Counter(operation.command for operation in operations if operation.command)
    for taken, count in [*names.items(), *places.items(), *commands.items()]:
        if count > 1:
            raise InvalidDocument(f"{taken} is taken by another operation")
