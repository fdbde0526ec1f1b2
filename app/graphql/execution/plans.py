"""Compiled plans of the service's own documents, which run without walking their syntax trees."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from operator import attrgetter
from typing import Any, NamedTuple, cast

from graphql import (
    ArgumentNode,
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLField,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    OperationDefinitionNode,
    OperationType,
    Undefined,
    VariableNode,
    assert_leaf_type,
    coerce_input_literal,
    coerce_input_value,
    get_operation_ast,
    is_leaf_type,
    is_required_argument,
    type_from_ast,
)
from graphql.execution import VariableValues
from strawberry.exceptions import StrawberryInputCoercionError
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.arguments import StrawberryArgument, convert_argument
from strawberry.types.field import StrawberryField

from app.graphql.core.context import Context, Info
from app.graphql.schema import CORE, schema
from app.operations.json_schema import Fragments, selected

Values = dict[str, Any]


class Unplanned(Exception):
    """A document has a part that plans do not support; graphql-core runs it."""


class _Misfit(Exception):
    """A value is invalid for its variable or argument; graphql-core reports the error."""


class Later(NamedTuple):
    """A field whose value is awaited: its place in the result, and its completion."""

    place: Values
    key: str
    value: Awaitable[Any]
    complete: "Complete"


class Items(NamedTuple):
    """A list that is completed item by item, with pauses."""

    place: list[Any]
    items: Iterable[Any]
    complete: "Complete"


@dataclass(slots=True)
class Run:
    """One run of a plan: the context of its resolvers, and the incomplete lists and fields."""

    context: Context
    arguments: Values
    later: list[Later] = field(default_factory=list[Later])
    lists: list[Items] = field(default_factory=list[Items])


Complete = Callable[[Any, Run], Any]
"""Converts a resolver's value to the response."""

Resolve = Callable[[Any, Run], Any]
"""Returns a field of its source."""


class Row(NamedTuple):
    """One field of an object: its key in the response, its resolver and its completion."""

    key: str
    resolve: Resolve
    is_awaited: bool
    complete: Complete


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled operation with one root field: the construction of its variables, arguments and response."""

    variables: "tuple[_Variable, ...]"
    arguments: "tuple[_Argument, ...]"
    complete: Complete

    def bind(self, given: Mapping[str, Any]) -> Values | None:
        """Return the arguments for the resolver; None for an invalid value, which graphql-core reports."""
        values: Values = {}
        try:
            for variable in self.variables:
                variable.read(given, values)
            return {each.name: value for each in self.arguments if (value := each.make(values)) is not Undefined}
        except (_Misfit, StrawberryInputCoercionError):
            return None

    async def run(self, arguments: Values, context: Context) -> ExecutionResult:
        """Run the operation as graphql-core does, except that after an error there is no partial response."""
        try:
            return ExecutionResult(await self._answer(Run(context, arguments)))
        except GraphQLError as error:
            return ExecutionResult(None, [error])
        except Exception as cause:
            return ExecutionResult(None, [GraphQLError("", original_error=cause)])

    async def _answer(self, run: Run) -> Values:
        answer = self.complete(None, run)
        while run.later or run.lists:
            await _complete_lists(run)
            due, run.later = run.later, []
            for each, value in zip(due, await _wait_for_all(due), strict=True):
                if isinstance(value, BaseException):
                    raise value
                each.place[each.key] = each.complete(value, run)
        return answer


async def _wait_for_all(due: Sequence[Later]) -> Sequence[Any]:
    """Return the values of a level, or the exceptions that they raise.

    They run concurrently, so that loaders query once, and completely, so that no task outlives the unit. A single
    value, such as that of a mutation, needs no task.
    """
    if len(due) == 1:
        return [await due[0].value]
    return await asyncio.gather(*(each.value for each in due), return_exceptions=True)


async def _complete_lists(run: Run) -> None:
    while run.lists:
        place, items, complete = run.lists.pop()
        for item in items:
            if run.context.pause:
                await run.context.pause()
            place.append(complete(item, run))


def compile_plan(document: DocumentNode) -> Plan:
    """Compile a valid document; raise `Unplanned` for a part that plans do not support."""
    operation = get_operation_ast(document)
    if operation is None or operation.operation is OperationType.SUBSCRIPTION:
        raise Unplanned("not one query or mutation")
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    parent = CORE.get_root_type(operation.operation)
    assert parent
    chosen = list(selected(parent, [operation], fragments).items())
    if len(chosen) != 1 or len(chosen[0][1]) != 1:
        raise Unplanned("not one root field")
    key, [root] = chosen[0]
    described = parent.fields[root.name.value]
    row = Row(key, *_root_resolver(_definition(described)), _completer(described.type, [root], fragments))
    return Plan(_variables(operation), tuple(_arguments(root, described)), _object_of([row]))


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    kind: GraphQLInputType
    default: Any
    is_required: bool

    def read(self, given: Mapping[str, Any], values: Values) -> None:
        if self.name in given:
            values[self.name] = _fitting(coerce_input_value(given[self.name], self.kind))
        elif self.default is not Undefined:
            values[self.name] = self.default
        elif self.is_required:
            raise _Misfit


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument of the document; omitted ones have the default of the resolver and the contract."""

    name: str
    make: Callable[[Values], Any]


def _variables(operation: OperationDefinitionNode) -> tuple[_Variable, ...]:
    found: list[_Variable] = []
    for node in operation.variable_definitions or ():
        kind = cast("GraphQLInputType", type_from_ast(CORE, node.type))
        default = coerce_input_literal(node.default_value, kind) if node.default_value else Undefined
        required = isinstance(kind, GraphQLNonNull) and default is Undefined
        found.append(_Variable(node.variable.name.value, kind, default, required))
    return tuple(found)


def _arguments(node: FieldNode, described: GraphQLField) -> Iterable[_Argument]:
    known = {argument.python_name: argument for argument in _definition(described).arguments}
    for given in node.arguments or ():
        name = given.name.value
        yield _Argument(name, _maker(given, described.args[name], known[name]))


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
            raise _Misfit
        return convert(taken)

    return take


def _converter(kind: GraphQLInputType, definition: StrawberryArgument) -> Callable[[Any], Any]:
    """Return the converter of values to Strawberry's classes; leaves stay unchanged."""
    if is_leaf_type(kind.of_type if isinstance(kind, GraphQLNonNull) else kind):
        return lambda value: value
    registry = schema.schema_converter.scalar_registry
    return lambda value: convert_argument(
        value, definition.type, registry, schema.config, path=(definition.python_name,)
    )


def _fitting(value: Any) -> Any:
    if value is Undefined:
        raise _Misfit
    return value


def _completer(kind: GraphQLOutputType, nodes: list[FieldNode], fragments: Fragments) -> Complete:
    if isinstance(kind, GraphQLNonNull):
        return _present(_value_completer(kind.of_type, nodes, fragments), kind)
    complete = _value_completer(kind, nodes, fragments)
    return lambda value, run: None if value is None else complete(value, run)


def _present(complete: Complete, kind: GraphQLOutputType) -> Complete:
    def present(value: Any, run: Run) -> Any:
        if value is None:
            raise TypeError(f"Cannot return null where {kind} is promised.")
        return complete(value, run)

    return present


def _value_completer(kind: GraphQLOutputType, nodes: list[FieldNode], fragments: Fragments) -> Complete:
    if isinstance(kind, GraphQLList):
        complete = _completer(kind.of_type, nodes, fragments)
        return _list_of(complete)
    if isinstance(kind, GraphQLObjectType):
        return _object_completer(kind, nodes, fragments)
    if not is_leaf_type(kind):
        raise Unplanned(f"{kind} is not one type")
    write = assert_leaf_type(kind).coerce_output_value
    return lambda value, run: write(value)


def _list_of(complete: Complete) -> Complete:
    def complete_all(value: Any, run: Run) -> Any:
        if run.context.pause is None or len(value) < 2:
            return [complete(item, run) for item in value]
        answer: list[Any] = []
        run.lists.append(Items(answer, value, complete))
        return answer

    return complete_all


def _object_completer(kind: GraphQLObjectType, nodes: list[FieldNode], fragments: Fragments) -> Complete:
    rows: list[Row] = []
    for key, chosen in selected(kind, nodes, fragments).items():
        described = kind.fields[chosen[0].name.value]
        rows.append(Row(key, *_resolver(described, chosen), _completer(described.type, chosen, fragments)))
    return _object_of(rows)


def _object_of(rows: Iterable[Row]) -> Complete:
    def complete(source: Any, run: Run) -> Values:
        answer: Values = {}
        for key, resolve, is_awaited, finish in rows:
            value = resolve(source, run)
            if is_awaited:
                answer[key] = None
                run.later.append(Later(answer, key, value, finish))
            else:
                answer[key] = finish(value, run)
        return answer

    return complete


def _root_resolver(definition: StrawberryField) -> tuple[Resolve, bool]:
    """Return the resolver of the root field, which uses the arguments of the run, and whether it is asynchronous."""
    if definition.base_resolver is None or not _takes(definition, "self", "info"):
        raise Unplanned(f"{definition.python_name} is resolved in another way")
    call = _function(definition)
    return lambda source, run: call(source, _info(definition, run), **run.arguments), iscoroutinefunction(call)


def _resolver(described: GraphQLField, nodes: Iterable[FieldNode]) -> tuple[Resolve, bool]:
    """Return the resolver of a field, and whether it is asynchronous."""
    definition = _definition(described)
    if described.args or any(node.directives for node in nodes):
        raise Unplanned(f"{definition.python_name} has arguments or directives")
    if definition.base_resolver is None:
        take = attrgetter(definition.python_name)
        return lambda source, run: take(source), False
    call = _function(definition)
    if _takes(definition, "self"):
        return lambda source, run: call(source), iscoroutinefunction(call)
    if _takes(definition, "self", "info"):
        return lambda source, run: call(source, _info(definition, run)), iscoroutinefunction(call)
    raise Unplanned(f"{definition.python_name} is resolved in another way")


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


def _function(definition: StrawberryField) -> Callable[..., Any]:
    assert definition.base_resolver
    return cast("Callable[..., Any]", definition.base_resolver.wrapped_func)


def _definition(described: GraphQLField) -> StrawberryField:
    return described.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]


def _info(definition: StrawberryField, run: Run) -> Info:
    """Return the `info` of a resolver; the service's resolvers read only its context."""
    return Info(_raw_info=cast("GraphQLResolveInfo", run), _field=definition)
