"""Compiles documents into plans."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from inspect import iscoroutinefunction
from operator import attrgetter, itemgetter
from typing import Any, cast

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
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
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
    get_nullable_type,
    get_operation_ast,
    is_leaf_type,
    is_required_argument,
    type_from_ast,
)
from graphql.execution import VariableValues
from strawberry.schema.schema_converter import CustomGraphQLEnumType, GraphQLCoreConverter
from strawberry.types import get_object_definition
from strawberry.types.arguments import StrawberryArgument, convert_argument
from strawberry.types.field import StrawberryField

from app.graphql.core.context import Info
from app.graphql.execution.plans import (
    Argument,
    Complete,
    Items,
    Later,
    Misfit,
    Plan,
    Resolve,
    Root,
    Row,
    Run,
    Values,
    Variable,
)
from app.graphql.schema import CORE, schema

MAX_ROWS = 1000
"""The maximum number of fields of a plan: to compile one takes about 4 µs."""

KEPT: Mapping[Any, type] = {GraphQLString: str, GraphQLBoolean: bool, CORE.get_type("BigInt"): int}
"""The classes of values that these scalars show as they are."""

MAX_SHAPES = 64
"""The number of combinations of classes of an object's values whose completion is kept."""

MAX_INT = 2**31 - 1
"""The largest value of the scalar Int."""

TYPENAME = "__typename"


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
        self._rows = 0

    def compile_roots(self, operation: OperationDefinitionNode) -> Iterable[Root]:
        """Yield the root fields of an operation."""
        parent = CORE.get_root_type(operation.operation)
        assert parent
        for key, nodes in self._collect(parent, [operation.selection_set]).items():
            if nodes[0].name.value.startswith("__"):
                raise Unplanned(f"{nodes[0].name.value} is resolved in another way")
            is_nullable = not isinstance(parent.fields[nodes[0].name.value].type, GraphQLNonNull)
            yield Root(self._row(parent, key, nodes), nodes, is_nullable)

    def _row(self, parent: GraphQLObjectType, key: str, nodes: Sequence[FieldNode]) -> Row:
        self._rows += 1
        if self._rows > MAX_ROWS:
            raise Unplanned("too many fields")
        if nodes[0].name.value == TYPENAME:
            return Row(key, _constant(parent.name), False, _unchanged)
        described = parent.fields[nodes[0].name.value]
        complete, definition = self._completer(described.type, nodes), _definition(described)
        if definition.base_resolver is None:
            name = definition.python_name
            return Row(key, _constant(name), False, complete, name, _kept(described.type))
        return Row(key, *self._resolver(described, nodes), complete)

    def _resolver(self, described: GraphQLField, nodes: Sequence[FieldNode]) -> tuple[Resolve, bool]:
        """Return the resolver of a field, and whether it is asynchronous."""
        definition = _definition(described)
        assert definition.base_resolver
        call = cast("Callable[..., Any]", definition.base_resolver.wrapped_func)
        is_awaited = iscoroutinefunction(call)
        if described.args:
            return self._with_arguments(definition, call, described, nodes[0]), is_awaited
        if _takes(definition, "self"):
            return lambda source, run: call(source), is_awaited
        if _takes(definition, "self", "info"):
            return lambda source, run: call(source, _info(definition, run)), is_awaited
        raise Unplanned(f"{definition.python_name} is resolved in another way")

    def _with_arguments(
        self, definition: StrawberryField, call: Callable[..., Any], described: GraphQLField, node: FieldNode
    ) -> Resolve:
        if not _takes(definition, "self", "info"):
            raise Unplanned(f"{definition.python_name} is resolved in another way")
        place = len(self.arguments)
        self.arguments.append(tuple(_arguments(node, described)))
        return lambda source, run: call(source, _info(definition, run), **run.arguments[place])

    def _completer(self, kind: GraphQLOutputType, nodes: Sequence[FieldNode]) -> Complete:
        if isinstance(kind, GraphQLNonNull):
            return _present(self._value_completer(kind.of_type, nodes), kind)
        complete = self._value_completer(kind, nodes)
        return lambda value, run: None if value is None else complete(value, run)

    def _value_completer(self, kind: GraphQLOutputType, nodes: Sequence[FieldNode]) -> Complete:
        if isinstance(kind, GraphQLList):
            complete = self._completer(kind.of_type, nodes)
            is_leaf = is_leaf_type(get_nullable_type(kind.of_type))
            return _leaves_of(complete, _kept(kind.of_type)) if is_leaf else _list_of(complete)
        if isinstance(kind, GraphQLObjectType):
            return self._object_completer(kind, nodes)
        if isinstance(kind, GraphQLInterfaceType):
            kinds = CORE.get_possible_types(kind)
            return _one_of({each.name: self._object_completer(each, nodes) for each in kinds})
        write = _writer(assert_leaf_type(kind))
        return lambda value, run: write(value)

    def _object_completer(self, kind: GraphQLObjectType, nodes: Sequence[FieldNode]) -> Complete:
        inner = self._collect(kind, [node.selection_set for node in nodes if node.selection_set])
        return _object_of([self._row(kind, key, chosen) for key, chosen in inner.items()])

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

    def __missing__(self, value: Any) -> str:
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
        found.append(Variable(node.variable.name.value, kind, default, required))
    return tuple(found)


def _arguments(node: FieldNode, described: GraphQLField) -> Iterable[Argument]:
    known = {argument.python_name: argument for argument in _definition(described).arguments}
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


def _converter(kind: Any, definition: StrawberryArgument) -> Callable[[Any], Any]:
    """Return the converter of values to Strawberry's classes; leaves stay unchanged."""
    if is_leaf_type(kind.of_type if isinstance(kind, GraphQLNonNull) else kind):
        return lambda value: value
    registry = schema.schema_converter.scalar_registry
    return lambda value: convert_argument(
        value, definition.type, registry, schema.config, path=(definition.python_name,)
    )


def _fitting(value: Any) -> Any:
    if value is Undefined:
        raise Misfit
    return value


def _unchanged(value: Any, _: Run) -> Any:
    return value


def _constant(value: str) -> Resolve:
    return lambda source, run: value


def _kept(kind: GraphQLOutputType) -> type | None:
    """Return the class of the values that a leaf shows as they are."""
    return KEPT.get(get_nullable_type(kind))


def _present(complete: Complete, kind: GraphQLOutputType) -> Complete:
    def present(value: Any, run: Run) -> Any:
        if value is None:
            raise TypeError(f"Cannot return null where {kind} is promised.")
        return complete(value, run)

    return present


def _leaves_of(complete: Complete, kept: type | None) -> Complete:
    """Return the completion of a list of leaves, which needs no pauses."""
    return lambda value, run: [item if type(item) is kept else complete(item, run) for item in value]


def _list_of(complete: Complete) -> Complete:
    def complete_all(value: Any, run: Run) -> Any:
        if run.context.pause is None or len(value) < 2:
            return [complete(item, run) for item in value]
        answer: list[Any] = []
        run.lists.append(Items(answer, value, complete))
        return answer

    return complete_all


def _one_of(completers: Mapping[str, Complete]) -> Complete:
    """Return the completion of an interface, whose values are instances of the types of the contract."""

    def complete(source: Any, run: Run) -> Any:
        definition = get_object_definition(source, strict=True)
        return completers[definition.name](source, run)

    return complete


def _object_of(rows: Sequence[Row]) -> Complete:
    """Return the completion of an object: its plain attributes are read at once, the other fields one by one."""
    plain = [row for row in rows if row.attribute]
    others = [row for row in rows if not row.attribute]
    empty = dict.fromkeys(row.key for row in rows)
    take, keys = _attributes([row.attribute for row in plain]), [row.key for row in plain]

    @lru_cache(MAX_SHAPES)
    def unfinished(classes: tuple[type, ...]) -> Sequence[tuple[str, Complete]]:
        return [(row.key, row.complete) for row, found in zip(plain, classes, strict=True) if found is not row.kept]

    def complete(source: Any, run: Run) -> Values:
        answer: Values = empty.copy()
        values = take(source)
        answer.update(zip(keys, values, strict=True))
        for key, finish in unfinished(tuple(map(type, values))):
            answer[key] = finish(answer[key], run)
        for row in others:
            value = row.resolve(source, run)
            if row.is_awaited:
                run.later.append(Later(answer, row.key, value, row.complete))
            else:
                answer[row.key] = row.complete(value, run)
        return answer

    return complete


def _attributes(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the values of attributes; those of a record are read from its `__dict__`."""
    if len(names) < 2:
        return lambda source: tuple(getattr(source, name) for name in names)
    of_record, of_any = itemgetter(*names), attrgetter(*names)

    def take(source: Any) -> tuple[Any, ...]:
        try:
            return of_record(source.__dict__)
        except (AttributeError, KeyError):
            return of_any(source)

    return take


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


def _definition(described: GraphQLField) -> StrawberryField:
    return described.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]


def _info(definition: StrawberryField, run: Run) -> Info:
    """Return the `info` of a resolver; the service's resolvers read only its context."""
    return Info(_raw_info=cast("GraphQLResolveInfo", run), _field=definition)
