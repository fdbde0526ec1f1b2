"""Named GraphQL documents, checked and compiled once. REST routes and tools are derived from them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from graphql import (
    ArgumentNode,
    DirectiveDefinitionNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    Node,
    NoUnusedFragmentsRule,
    ObjectFieldNode,
    ObjectValueNode,
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
    specified_rules,
    validate,
    visit,
)

from app.operations.directives import directive_values
from app.operations.errors import InvalidDocument
from app.operations.json_schema import Fragments, Json, Schemas, SelectingNode, obj, selected
from app.operations.named_types import map_schema, whole
from app.operations.surface import (
    SURFACE,
    Resource,
    Rest,
    Tool,
    check_resource,
    check_rest,
    check_tool,
    read_command,
    read_completes,
    read_resource,
    read_rest,
    read_tool,
)
from app.operations.variables import Variable, read_variables

_SURFACE_DIRECTIVES = {node.name.value for node in SURFACE.definitions if isinstance(node, DirectiveDefinitionNode)}

_RULES = [rule for rule in specified_rules if rule is not NoUnusedFragmentsRule]
"""The rules of GraphQL; other files may spread a fragment."""

Described = TypeVar("Described", OperationDefinitionNode, VariableDefinitionNode)


@dataclass(frozen=True, slots=True)
class Operation:
    """One document: its variables, its result, its errors and its surfaces.

    `area` is the name of its file, `root` the response key of its one root field, `text` the executed text. `returns`
    is the JSON Schema of the root field's value; an object is never null but beside an error. `types` are the named
    types in it and in the variables.
    """

    name: str
    description: str
    area: str
    reads_only: bool
    root: str
    root_field: str
    text: str
    variables: Mapping[str, Variable]
    returns: Json
    types: Mapping[str, Json]
    scopes: frozenset[str]
    refusals: tuple[str, ...]
    rest: tuple[Rest, ...]
    tool: Tool | None
    command: str | None = None
    resource: Resource | None = None
    completes: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The variable of each argument of the root field, and of each member of one: `contacts.ids`, `ids`."""

    @property
    def accepts(self) -> Json:
        """Return the JSON Schema of a tool's input: an object of the variables, without other members.

        It has no null, which counts as left out, and an attestation is required.
        """
        properties = {variable.name: variable.present for variable in self.variables.values()}
        required = [each.name for each in self.variables.values() if each.required or each.attested]
        return _closed(whole(obj(properties, required), self.types))

    @property
    def answers(self) -> Json:
        """Return the JSON Schema of a tool's result, always an object; see `answer`."""
        returns = self.returns if self.returns.get("type") == "object" else obj({self.root: self.returns}, [self.root])
        return whole(returns, self.types)

    def answer(self, value: object) -> Any:
        """Return the result of a tool as an object; any other value is under the key of the root field."""
        return value if self.returns.get("type") == "object" else {self.root: value}


def load(folder: Path, schema: GraphQLSchema, shared: Path | None = None) -> list[Operation]:
    """Compile every document under a folder against a schema built from SDL; raise `InvalidDocument`.

    The files share their fragments, whose names are therefore unique. Those under `shared` are for several folders.
    """
    parsed = _parse_all(folder)
    fragments = _fragments(parsed | (_parse_all(shared) if shared else {}))
    operations = _compile_all(parsed, fragments, extend_schema(schema, SURFACE))
    used = {name for document in parsed.values() for name in _used(document, fragments)}
    for name in _fragments(parsed).keys() - used:
        raise InvalidDocument(f"{_file_of(fragments[name])}: the fragment {name} is spread nowhere")
    return operations


def _compile_all(parsed: Mapping[Path, DocumentNode], fragments: Fragments, dialect: GraphQLSchema) -> list[Operation]:
    operations: list[Operation] = []
    for path, document in parsed.items():
        try:
            operations.extend(_read(document, fragments, dialect, path.stem))
            _check_unique(operations)
        except (InvalidDocument, GraphQLError) as fault:
            raise InvalidDocument(f"{path}: {fault}") from None
    return operations


def _parse_all(folder: Path) -> dict[Path, DocumentNode]:
    return {path: _parse(path) for path in sorted(folder.rglob("*.graphql"))}


def _parse(path: Path) -> DocumentNode:
    try:
        return parse(Source(path.read_text("utf-8"), str(path)))
    except GraphQLError as fault:
        raise InvalidDocument(f"{path}: {fault}") from None


def _fragments(parsed: Mapping[Path, DocumentNode]) -> dict[str, FragmentDefinitionNode]:
    found: dict[str, FragmentDefinitionNode] = {}
    for path, document in parsed.items():
        for node in document.definitions:
            if isinstance(node, FragmentDefinitionNode) and found.setdefault(node.name.value, node) is not node:
                raise InvalidDocument(f"{path}: the fragment {node.name.value} is defined twice")
    return found


def _file_of(node: Node) -> str:
    return node.loc.source.name if node.loc else ""


def _read(document: DocumentNode, fragments: Fragments, schema: GraphQLSchema, area: str) -> Iterator[Operation]:
    own = [node for node in document.definitions if not isinstance(node, FragmentDefinitionNode)]
    needed = _used(document, fragments) | {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    if faults := validate(schema, DocumentNode(definitions=(*own, *needed.values())), _RULES):
        raise faults[0]
    for node in own:
        if isinstance(node, OperationDefinitionNode):  # pragma: no branch - the rules let nothing else pass
            yield _compile(node, fragments, schema, area)


def _compile(node: OperationDefinitionNode, fragments: Fragments, schema: GraphQLSchema, area: str) -> Operation:
    parent = schema.get_root_type(node.operation)
    if node.name is None or parent is None or node.operation is OperationType.SUBSCRIPTION:
        raise InvalidDocument("an operation is a query or a mutation, and has a name")
    root, selections = _root(node, parent, fragments)
    described = parent.fields[selections[0].name.value]
    used = _used(node, fragments)
    schemas = Schemas(fragments, schema)
    variables = read_variables(node, used.values(), schema, schemas)
    operation = Operation(
        name=node.name.value,
        description=_text_of(node.description) or described.description or "",
        area=area,
        reads_only=node.operation is OperationType.QUERY,
        root=root,
        root_field=selections[0].name.value,
        text=_executable(node, used.values()),
        variables=variables,
        returns=schemas.returns(_answered(described.type), selections),
        types=schemas.types,
        scopes=frozenset(_scopes(parent, node, fragments, schema)),
        refusals=tuple(
            code for said in directive_values("refuses", described.ast_node, schema) for code in said["codes"]
        ),
        rest=read_rest(node, schema),
        tool=read_tool(node, schema),
        command=read_command(node, schema),
        resource=read_resource(node, schema),
        completes=read_completes(node, schema),
        arguments=_arguments(selections[0].arguments or ()),
    )
    _check_surfaces(operation)
    return operation


def _arguments(given: Iterable[ArgumentNode]) -> dict[str, str]:
    """Return the variables by the paths that they fill, and by those within an argument, as the domain names them."""
    paths = dict(_paths(given, ""))
    return {path.partition(".")[2]: variable for path, variable in paths.items() if "." in path} | paths


def _paths(given: Iterable[ArgumentNode | ObjectFieldNode], prefix: str) -> Iterator[tuple[str, str]]:
    for each in given:
        path = prefix + each.name.value
        if isinstance(each.value, VariableNode):
            yield path, each.value.name.value
        if isinstance(each.value, ObjectValueNode):
            yield from _paths(each.value.fields, f"{path}.")


def _check_surfaces(operation: Operation) -> None:
    variables = operation.variables
    if unnamed := {variable.attested for variable in variables.values()} - {None, *operation.refusals}:
        raise InvalidDocument(f"{unnamed.pop()} is no error that {operation.root_field} refuses with")
    check_tool(operation.tool, variables, reads_only=operation.reads_only)
    check_resource(operation.resource, variables)
    for rest in operation.rest:
        check_rest(rest, variables, operation.returns, reads_only=operation.reads_only)


def _root(
    node: OperationDefinitionNode, parent: GraphQLObjectType, fragments: Fragments
) -> tuple[str, list[FieldNode]]:
    roots = selected(parent, [node], fragments)
    if len(roots) != 1:
        raise InvalidDocument("an operation selects exactly one root field: one transaction, one result")
    return next(iter(roots.items()))


def _answered(kind: GraphQLOutputType) -> GraphQLOutputType:
    """Return the type of a root field's result without errors; a look-up without a result raises one."""
    found = get_nullable_type(kind)
    return GraphQLNonNull(found) if isinstance(found, GraphQLObjectType) else kind


def _closed(schema: Json) -> Json:
    """Return the schema of an input whose objects take no other members."""
    closed = map_schema(schema, _closed)
    if "$defs" in schema:
        closed["$defs"] = {name: _closed(inner) for name, inner in schema["$defs"].items()}
    return closed | {"additionalProperties": False} if "properties" in schema else closed


def _scopes(
    parent: GraphQLObjectType, node: SelectingNode, fragments: Fragments, schema: GraphQLSchema
) -> Iterator[str]:
    for selections in selected(parent, [node], fragments).values():
        described = parent.fields[selections[0].name.value]
        yield from (said["requires"] for said in directive_values("scope", described.ast_node, schema))
        kind = get_named_type(described.type)
        if isinstance(kind, GraphQLObjectType):
            for selection in selections:
                yield from _scopes(kind, selection, fragments, schema)


def _used(node: Node, fragments: Fragments) -> dict[str, FragmentDefinitionNode]:
    """Return the fragments that a node spreads, directly and indirectly."""
    found: dict[str, FragmentDefinitionNode] = {}
    waiting = [node]
    while waiting:
        spreads = _Spreads()
        visit(waiting.pop(), spreads)
        new = {name: fragments[name] for name in spreads.names if name in fragments and name not in found}
        found |= new
        waiting += new.values()
    return found


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: Any) -> None:
        self.names.append(node.name.value)


def _executable(node: OperationDefinitionNode, fragments: Iterable[FragmentDefinitionNode]) -> str:
    """Print an operation without the directives of the surfaces and the descriptions."""
    variables = tuple(_bare(definition) for definition in node.variable_definitions or ())
    bare = replace(_bare(node), variable_definitions=variables)
    return print_ast(DocumentNode(definitions=(bare, *fragments)))


def _bare(node: Described) -> Described:
    kept = tuple(directive for directive in node.directives or () if directive.name.value not in _SURFACE_DIRECTIVES)
    return replace(node, description=None, directives=kept)


def _text_of(description: StringValueNode | None) -> str:
    return description.value if description else ""


def _check_unique(operations: list[Operation]) -> None:
    names = Counter(name for operation in operations for name in (operation.name, *_aliases(operation)))
    places = Counter(rest.place for operation in operations for rest in operation.rest)
    commands = Counter(operation.command for operation in operations if operation.command)
    for taken, count in [*names.items(), *places.items(), *commands.items()]:
        if count > 1:
            raise InvalidDocument(f"{taken} is taken by another operation")


def _aliases(operation: Operation) -> tuple[str, ...]:
    return operation.tool.aliases if operation.tool else ()
