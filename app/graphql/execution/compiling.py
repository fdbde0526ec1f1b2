"""Compiles documents into plans."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import iscoroutinefunction
from itertools import repeat
from typing import Any, cast, get_origin

from graphql import (
    ArgumentNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLLeafType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    InlineFragmentNode,
    NamedTypeNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Undefined,
    VariableNode,
    assert_leaf_type,
    coerce_input_literal,
    get_named_type,
    get_operation_ast,
    is_leaf_type,
    is_required_argument,
    type_from_ast,
)
from graphql.execution import VariableValues
from strawberry.schema.schema_converter import CustomGraphQLEnumType
from strawberry.types.arguments import StrawberryArgument, convert_argument
from strawberry.types.field import StrawberryField

from app.graphql.core.context import ALL, Info, PlannedInfo, Reading
from app.graphql.core.loading import Load
from app.graphql.execution.completing import (
    complete_interfaces,
    complete_leaf_lists,
    complete_leaves,
    complete_lists,
    complete_nullable,
    complete_objects,
    complete_present,
)
from app.graphql.execution.plans import (
    Argument,
    Column,
    Complete,
    Field,
    Misfit,
    Plan,
    Resolve,
    Root,
    Run,
    Values,
    Variable,
)
from app.graphql.execution.reading import (
    NODES,
    TYPENAME,
    Shapes,
    attribute_of,
    bind,
    definition_of,
    function_of,
    read_of,
)
from app.graphql.schema import CORE, schema

MAX_FIELDS = 1000
"""The maximum number of fields of a plan: to compile one takes about 4 µs."""

KEPT: Mapping[Any, type] = {GraphQLString: str, GraphQLBoolean: bool, CORE.get_type("BigInt"): int}
"""The classes of values that these scalars show as they are."""

KEPT_INPUTS: Mapping[Any, type] = {GraphQLString: str, GraphQLBoolean: bool}
"""The classes of values that variables of these scalars have unchanged."""

MAX_INT = 2**31 - 1
"""The largest value of the scalar Int."""


class Unplanned(Exception):
    """A document has a part that plans do not support; graphql-core runs it."""


def compile_plan(document: DocumentNode) -> Plan:
    """Compile a valid document of one operation; raise `Unplanned` for a part that plans do not support."""
    operation = get_operation_ast(document)
    if operation is None or operation.operation is OperationType.SUBSCRIPTION:
        raise Unplanned("not one query or mutation")
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    compiler = _Compiler(fragments)
    roots = tuple(compiler.compile_roots(operation))
    return Plan(_variables(operation), tuple(compiler.arguments), roots)


class _Compiler:
    """Compiles the selections of one operation, and collects the arguments of its fields."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self.arguments: list[tuple[Argument, ...]] = []
        self._fragments = fragments
        self._places: dict[FieldNode, int] = {}
        self._shapes = Shapes(self._select, self._places)
        self._fields = 0

    def compile_roots(self, operation: OperationDefinitionNode) -> Iterable[Root]:
        """Yield the root fields of an operation."""
        parent = CORE.get_root_type(operation.operation)
        assert parent
        for key, nodes in self._collect(parent, [operation.selection_set]).items():
            if nodes[0].name.value.startswith("__"):
                raise Unplanned(f"{nodes[0].name.value} is resolved in another way")
            is_nullable = not isinstance(parent.fields[nodes[0].name.value].type, GraphQLNonNull)
            yield Root(self._field(parent, key, nodes), nodes, is_nullable)

    def _field(self, parent: GraphQLObjectType, key: str, nodes: Sequence[FieldNode]) -> Field:
        self._fields += 1
        if self._fields > MAX_FIELDS:
            raise Unplanned("too many fields")
        if nodes[0].name.value == TYPENAME:
            return Field(key, lambda sources, run: [parent.name] * len(sources), _unchanged)
        described = parent.fields[nodes[0].name.value]
        complete, definition = self._completion(described.type, nodes), definition_of(described)
        if definition.base_resolver is None:
            return Field(key, _attribute(attribute_of(definition)), complete)
        return Field(key, self._resolver(described, nodes), complete, _is_awaited(definition))

    def _resolver(self, described: GraphQLField, nodes: Sequence[FieldNode]) -> Resolve:
        definition = definition_of(described)
        call = function_of(definition)
        if described.args:
            return self._with_arguments(definition, call, described, nodes)
        if _takes(definition, "self"):
            return lambda sources, run: [*map(call, sources)]
        if _takes(definition, "self", "info"):
            reading = self._reading(get_named_type(described.type), nodes)
            return lambda sources, run: [*map(call, sources, repeat(_info(definition, run, reading)))]
        raise Unplanned(f"{definition.python_name} is resolved in another way")

    def _with_arguments(
        self, definition: StrawberryField, call: Callable[..., Any], described: GraphQLField, nodes: Sequence[FieldNode]
    ) -> Resolve:
        if not _takes(definition, "self", "info"):
            raise Unplanned(f"{definition.python_name} is resolved in another way")
        place, reading = len(self.arguments), self._reading(get_named_type(described.type), nodes)
        self._places[nodes[0]] = place
        self.arguments.append(tuple(_arguments(nodes[0], described)))

        def resolve(sources: Sequence[Any], run: Run) -> Column:
            call_each = partial(call, info=_info(definition, run, reading), **run.arguments[place])
            return [*map(call_each, sources)]

        return resolve

    def _completion(self, kind: GraphQLOutputType, nodes: Sequence[FieldNode]) -> Complete:
        if isinstance(kind, GraphQLNonNull):
            return complete_present(self._value_completion(kind.of_type, nodes), kind, KEPT.get(kind.of_type))
        return complete_nullable(self._value_completion(kind, nodes))

    def _value_completion(self, kind: GraphQLOutputType, nodes: Sequence[FieldNode]) -> Complete:
        if isinstance(kind, GraphQLList):
            complete = self._completion(kind.of_type, nodes)
            return complete_leaf_lists(complete) if is_leaf_type(get_named_type(kind)) else complete_lists(complete)
        if isinstance(kind, GraphQLObjectType):
            return self._object_completion(kind, nodes)
        if isinstance(kind, GraphQLInterfaceType):
            kinds = CORE.get_possible_types(kind)
            return complete_interfaces({each.name: self._object_completion(each, nodes) for each in kinds})
        leaf = assert_leaf_type(kind)
        return complete_leaves(_writer(leaf), KEPT.get(leaf))

    def _object_completion(self, kind: GraphQLObjectType, nodes: Sequence[FieldNode]) -> Complete:
        return complete_objects([self._field(kind, key, chosen) for key, chosen in self._select(kind, nodes).items()])

    def _reading(self, kind: GraphQLNamedType, nodes: Sequence[FieldNode]) -> Reading:
        """Return the reading of the records that a field leads to, directly or in a list."""
        if not isinstance(kind, GraphQLObjectType):
            return ALL
        if NODES not in kind.fields or "page_info" not in kind.fields:
            return read_of(kind, [self._select(kind, nodes)], self._shapes)
        selected = [(chosen[0].name.value, chosen) for chosen in self._select(kind, nodes).values()]
        if any(name == "edges" for name, _ in selected):
            return ALL
        record = cast("GraphQLObjectType", get_named_type(kind.fields[NODES].type))
        shown = [self._select(record, chosen) for name, chosen in selected if name == NODES]
        return read_of(record, shown, self._shapes)

    def _select(self, kind: GraphQLObjectType, nodes: Sequence[FieldNode]) -> dict[str, list[FieldNode]]:
        """Return the fields that fields with the same key select of an object, by response key."""
        return self._collect(kind, [node.selection_set for node in nodes if node.selection_set])

    def _collect(self, kind: GraphQLObjectType, sets: Iterable[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Return the selected fields of one object, by response key."""
        found: dict[str, list[FieldNode]] = {}
        spread: set[str] = set()
        waiting = [node for each in reversed(list(sets)) for node in reversed(each.selections)]
        while waiting:
            node = waiting.pop()
            if node.directives:
                raise Unplanned("directives")
            if isinstance(node, FieldNode):
                found.setdefault((node.alias or node.name).value, []).append(node)
            elif isinstance(node, FragmentSpreadNode):
                fragment = self._fragments[node.name.value]
                if node.name.value not in spread and _fits(kind, fragment.type_condition):
                    waiting += reversed(fragment.selection_set.selections)
                spread.add(node.name.value)
            elif isinstance(node, InlineFragmentNode) and _fits(kind, node.type_condition):
                waiting += reversed(node.selection_set.selections)
        return found


def _writer(kind: GraphQLLeafType) -> Callable[[Any], Any]:
    """Return the conversion of values of a leaf; graphql-core looks for the name of an enum's member in a list."""
    write = kind.coerce_output_value
    if kind is GraphQLInt:
        return lambda value: value if type(value) is int and -MAX_INT <= value <= MAX_INT else write(value)
    return _Names(write).__getitem__ if isinstance(kind, CustomGraphQLEnumType) else write


class _Names(dict[Any, str]):
    """The names of an enum's members, each looked up once."""

    def __init__(self, write: Callable[[Any], str]) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, value: object) -> str:
        """Look up a name for the first time."""
        name = self[value] = self._write(value)
        return name


def _fits(kind: GraphQLObjectType, condition: NamedTypeNode | None) -> bool:
    return condition is None or condition.name.value in (kind.name, *(each.name for each in kind.interfaces))


def _variables(operation: OperationDefinitionNode) -> tuple[Variable, ...]:
    found: list[Variable] = []
    for node in operation.variable_definitions or ():
        kind: Any = type_from_ast(CORE, node.type)
        default = coerce_input_literal(node.default_value, kind) if node.default_value else Undefined
        required = isinstance(kind, GraphQLNonNull) and default is Undefined
        kept = KEPT_INPUTS.get(kind.of_type if isinstance(kind, GraphQLNonNull) else kind)
        found.append(Variable(node.variable.name.value, kind, default, required, kept))
    return tuple(found)


def _arguments(node: FieldNode, described: GraphQLField) -> Iterable[Argument]:
    known = {argument.python_name: argument for argument in definition_of(described).arguments}
    for given in node.arguments or ():
        name = given.name.value
        if name not in known:
            raise Unplanned(f"{name} has another name in its resolver")
        yield Argument(name, _maker(given, described.args[name], known[name]))


def _maker(node: ArgumentNode, described: GraphQLArgument, definition: StrawberryArgument) -> Callable[[Values], Any]:
    kind, value = described.type, node.value
    convert = _converter(kind, definition)
    if not isinstance(value, VariableNode):
        return lambda values: convert(_fitting(coerce_input_literal(value, kind, VariableValues({}, values))))
    name, required, nullable = value.name.value, is_required_argument(described), not isinstance(kind, GraphQLNonNull)

    def take(values: Values) -> Any:
        if name not in values and not required:
            return Undefined
        if (taken := values.get(name)) is None and not nullable:
            raise Misfit
        return convert(taken)

    return take


def _converter(kind: object, definition: StrawberryArgument) -> Callable[[Any], Any]:
    """Return the converter of values to Strawberry's classes; leaves stay unchanged."""
    if is_leaf_type(kind.of_type if isinstance(kind, GraphQLNonNull) else kind):
        return lambda value: value
    registry = schema.schema_converter.scalar_registry
    return lambda value: convert_argument(
        value, definition.type, registry, schema.config, path=(definition.python_name,)
    )


def _fitting(value: object) -> Any:
    if value is Undefined:
        raise Misfit
    return value


def _unchanged(values: Column, _: Run) -> Column:
    return values


def _attribute(name: str) -> Resolve:
    """Return the resolver of an attribute; those of a record are in its `__dict__`."""

    def read(sources: Sequence[Any], _: Run) -> Column:
        try:
            return [source.__dict__[name] for source in sources]
        except (AttributeError, KeyError):
            return [getattr(source, name) for source in sources]

    return read


def _is_awaited(definition: StrawberryField) -> bool:
    """Return whether a resolver is asynchronous, or returns a value that a loader will read."""
    call = function_of(definition)
    return iscoroutinefunction(call) or get_origin(call.__annotations__.get("return")) is Load


def _takes(definition: StrawberryField, *names: str) -> bool:
    """Return whether a resolver has these parameters first, in this order, and the field has no extensions."""
    resolver = definition.base_resolver
    assert resolver
    own = [
        name
        for name in resolver.signature.parameters
        if name not in {each.python_name for each in definition.arguments}
    ]
    return own == list(names) and not definition.extensions


def _info(definition: StrawberryField, run: Run, reading: Reading = ALL) -> Info:
    """Return the `info` of a resolver; the service's resolvers use only its context and reading."""
    return PlannedInfo(
        _raw_info=run,  # pyrefly: ignore[bad-argument-type]
        _field=definition,
        reading=bind(reading, run.arguments),
    )
