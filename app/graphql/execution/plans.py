"""Compiled plans of operations, which run level by level without walking syntax trees."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any, NamedTuple

from graphql import (
    ExecutionResult,
    FieldNode,
    GraphQLInputType,
    Undefined,
    coerce_input_value,
    located_error,
)
from strawberry.exceptions import StrawberryInputCoercionError

from app.graphql.core.context import Context

Values = dict[str, Any]


class Misfit(Exception):
    """A value is invalid for its variable or argument; graphql-core reports the error."""


class InnerFault(Exception):
    """A field below the root fields failed, or one of several root fields; graphql-core states its place."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


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
    """One run of a plan: the context of its resolvers, their arguments, and the incomplete lists and fields."""

    context: Context
    arguments: Sequence[Values]
    later: list[Later] = field(default_factory=list[Later])
    lists: list[Items] = field(default_factory=list[Items])

    def close(self) -> None:
        """End the resolvers that were not started, after another one failed."""
        for each in self.later:
            if isinstance(each.value, CoroutineType):
                each.value.close()


Complete = Callable[[Any, Run], Any]
"""Converts a resolver's value to the response."""

Resolve = Callable[[Any, Run], Any]
"""Returns a field of its source."""


class Row(NamedTuple):
    """One field of an object: its key in the response, its resolver and its completion.

    One without a resolver is an `attribute` of its source, whose values of the class `kept` need no completion.
    """

    key: str
    resolve: Resolve
    is_awaited: bool
    complete: Complete
    attribute: str = ""
    kept: type | None = None


class Root(NamedTuple):
    """One root field, and the nodes that its errors name."""

    row: Row
    nodes: Sequence[FieldNode]
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of an operation."""

    name: str
    kind: GraphQLInputType
    default: Any
    is_required: bool

    def read(self, given: Mapping[str, Any], values: Values) -> None:
        """Add the coerced value; raise `Misfit`."""
        if self.name in given:
            value = coerce_input_value(given[self.name], self.kind)
            if value is Undefined:
                raise Misfit
            values[self.name] = value
        elif self.default is not Undefined:
            values[self.name] = self.default
        elif self.is_required:
            raise Misfit


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a field; omitted ones have the default of the resolver and the contract."""

    name: str
    make: Callable[[Values], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query or mutation: the construction of its variables, its arguments by field, and its response."""

    variables: tuple[Variable, ...]
    arguments: tuple[tuple[Argument, ...], ...]
    roots: tuple[Root, ...]

    def bind(self, given: Mapping[str, Any]) -> list[Values] | None:
        """Return the arguments of each field; None for an invalid value, which graphql-core reports."""
        values: Values = {}
        try:
            for variable in self.variables:
                variable.read(given, values)
            return [_bound(arguments, values) for arguments in self.arguments]
        except (Misfit, StrawberryInputCoercionError):
            return None

    async def run(self, arguments: Sequence[Values], context: Context) -> ExecutionResult:
        """Run the operation as graphql-core does; raise `InnerFault` for errors whose path a plan cannot give."""
        run = Run(context, arguments)
        try:
            answer = _object(self.roots, run)
        except Exception as cause:
            run.close()
            return self._refuse(cause)
        due, run.later = run.later, []
        values = await _wait_for_all(due)
        if failed := next((each for each in values if isinstance(each, BaseException)), None):
            return self._refuse(failed)
        try:
            _fill(due, values, run)
            await _complete(run)
        except Exception as cause:
            run.close()
            raise InnerFault(cause) from cause
        return ExecutionResult(answer)

    def _refuse(self, cause: BaseException) -> ExecutionResult:
        """Return the result of an operation whose only root field failed."""
        if not isinstance(cause, Exception):
            raise cause
        root = self.roots[0]
        if len(self.roots) > 1:
            raise InnerFault(cause) from cause
        error = located_error(cause, root.nodes, [root.row.key])
        return ExecutionResult({root.row.key: None} if root.is_nullable else None, [error])


def _bound(arguments: Iterable[Argument], values: Values) -> Values:
    return {each.name: value for each in arguments if (value := each.make(values)) is not Undefined}


def _object(roots: Iterable[Root], run: Run) -> Values:
    answer: Values = {}
    for key, resolve, is_awaited, complete, *_ in (root.row for root in roots):
        value = resolve(None, run)
        if is_awaited:
            answer[key] = None
            run.later.append(Later(answer, key, value, complete))
        else:
            answer[key] = complete(value, run)
    return answer


async def _complete(run: Run) -> None:
    """Complete the levels below the root fields."""
    while run.later or run.lists:
        await _complete_lists(run)
        due, run.later = run.later, []
        values = await _wait_for_all(due)
        if failed := next((each for each in values if isinstance(each, BaseException)), None):
            raise failed
        if run.context.pause:
            await run.context.pause()
        _fill(due, values, run)


def _fill(due: Sequence[Later], values: Sequence[Any], run: Run) -> None:
    for each, value in zip(due, values, strict=True):
        each.place[each.key] = each.complete(value, run)


async def _wait_for_all(due: Sequence[Later]) -> Sequence[Any]:
    """Return the values of a level, or the exceptions that they raise.

    They run concurrently, so that loaders query once, and completely, so that no task outlives the unit. A single
    value, such as that of a mutation, needs no task.
    """
    if len(due) != 1:
        return await asyncio.gather(*(each.value for each in due), return_exceptions=True)
    try:
        return [await due[0].value]
    except Exception as cause:
        return [cause]


async def _complete_lists(run: Run) -> None:
    while run.lists:
        place, items, complete = run.lists.pop()
        for item in items:
            if run.context.pause:
                await run.context.pause()
            place.append(complete(item, run))
