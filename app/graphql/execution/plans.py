"""Compiled plans of operations, which run level by level without walking syntax trees."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
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
from orjson import Fragment
from strawberry.exceptions import StrawberryInputCoercionError

from app.db.engine import UNSTORABLE, find_fault
from app.graphql.core.context import Context
from app.graphql.core.loading import Load

Values = dict[str, Any]

Column = list[Any]
"""The values of one field, of every object of a level."""

PART = 20
"""The number of items of lists that a large operation completes without a pause."""


class Misfit(Exception):
    """A value is invalid for its variable or argument; graphql-core reports the error."""


class InnerFault(Exception):
    """A field below the root fields failed, or one of several root fields; graphql-core states its place."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(slots=True)
class Run:
    """One run of a plan: the context of its resolvers, their arguments, and the incomplete lists and fields."""

    context: Context
    arguments: Sequence[Values]
    lists: list["Lists"] = dataclasses.field(default_factory=list)
    levels: dict["Field", "Level"] = dataclasses.field(default_factory=dict)

    def postpone(self, field: "Field", sources: Sequence[Any], answers: Sequence[Values]) -> None:
        """Leave an awaited field of objects until all lists of the level are complete."""
        level = self.levels.setdefault(field, Level([], []))
        level.sources.extend(sources)
        level.answers.extend(answers)


Complete = Callable[[Column, Run], Column]
"""Converts the values of a level to the response."""

Resolve = Callable[[Sequence[Any], Run], Column]
"""Returns a field of each source; of an awaited field, the awaitables."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of an object: its key in the response, its resolver and its completion."""

    key: str
    resolve: Resolve
    complete: Complete
    is_awaited: bool = False


class Level(NamedTuple):
    """The objects with an awaited field, and their answers, which lack it."""

    sources: list[Any]
    answers: list[Values]


class Lists(NamedTuple):
    """The lists that one field has in a level, and their answers, which lack the items."""

    values: Sequence[Sequence[Any]]
    answers: Sequence[list[Any]]
    complete: Complete


class Root(NamedTuple):
    """One root field, and the nodes that its errors name."""

    field: Field
    nodes: Sequence[FieldNode]
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of an operation. Values of the class `kept` need no coercion."""

    name: str
    kind: GraphQLInputType
    default: Any
    is_required: bool
    kept: type | None = None

    def read(self, given: Mapping[str, Any], values: Values) -> None:
        """Add the coerced value; raise `Misfit`."""
        if self.name in given:
            value = given[self.name]
            if type(value) is not self.kept:
                value = coerce_input_value(value, self.kind)
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
        run, fields = Run(context, arguments), [root.field for root in self.roots]
        try:
            columns = await _resolve([(field, [None]) for field in fields], run)
        except Exception as cause:
            if context.as_text and isinstance(find_fault(cause), UNSTORABLE):
                raise InnerFault(cause) from cause  # a linked record may have the value that cannot be shown
            return self._refuse(cause)
        try:
            answer = {field.key: field.complete(column, run)[0] for field, column in zip(fields, columns, strict=True)}
            await _complete(run)
        except Exception as cause:
            raise InnerFault(cause) from cause
        return ExecutionResult(answer)

    def _refuse(self, cause: Exception) -> ExecutionResult:
        """Return the result of an operation whose only root field failed."""
        root = self.roots[0]
        if len(self.roots) > 1:
            raise InnerFault(cause) from cause
        error = located_error(cause, root.nodes, [root.field.key])
        return ExecutionResult({root.field.key: None} if root.is_nullable else None, [error])


def _bound(arguments: Iterable[Argument], values: Values) -> Values:
    return {each.name: value for each in arguments if (value := each.make(values)) is not Undefined}


async def _complete(run: Run) -> None:
    """Complete the levels below the root fields, each before the next one is resolved."""
    while run.lists or run.levels:
        await _complete_lists(run)
        levels = run.levels
        run.levels = {}
        columns = await _resolve([(field, level.sources) for field, level in levels.items()], run)
        for (field, level), column in zip(levels.items(), columns, strict=True):
            if run.context.pause:
                await run.context.pause()
            for answer, value in zip(level.answers, field.complete(column, run), strict=True):
                answer[field.key] = value


async def _complete_lists(run: Run) -> None:
    while run.lists:
        values, answers, complete = run.lists.pop()
        done = iter(await _complete_items(list(chain.from_iterable(values)), complete, run))
        for answer, value in zip(answers, values, strict=True):
            answer.extend(islice(done, len(value)))


async def _complete_items(items: Column, complete: Complete, run: Run) -> Column:
    """Complete the items of lists: all of them at once, or with pauses; fragments of JSON need none."""
    pause = run.context.pause
    if pause is None or are_texts(items):
        return complete(items, run)
    done: Column = []
    for start in range(0, len(items), PART):
        await pause()
        done += complete(items[start : start + PART], run)
    return done


def are_texts(values: Column) -> bool:
    """Tell whether all values are fragments of JSON."""
    return set(map(type, values)) == {Fragment}


async def _resolve(asked: Sequence[tuple[Field, Sequence[Any]]], run: Run) -> list[Column]:
    """Return the values of the fields of a level, or raise the first exception of a resolver."""
    columns = _start(asked, run)
    if len(asked) == 1 and asked[0][0].is_awaited and len(columns[0]) == 1:  # such as the root field of a mutation
        return [[await columns[0][0]]]
    awaited = [column for (field, _), column in zip(asked, columns, strict=True) if field.is_awaited]
    loads = [_load(column) for column in awaited]
    pending = [[load] if load else column for load, column in zip(loads, awaited, strict=True)]
    found = iter(await _wait_for_all([*chain.from_iterable(pending)]))
    for load, column in zip(loads, awaited, strict=True):
        column[:] = next(found) if load else islice(found, len(column))
    return columns


def _load(column: Column) -> Awaitable[Column] | None:
    """Return all values of a column from the one loader that reads them; None if they are awaited one by one."""
    if len(column) < 2 or set(map(type, column)) != {Load} or len({each.loader for each in column}) > 1:
        return None
    return column[0].loader.load([each.key for each in column])


def _start(asked: Sequence[tuple[Field, Sequence[Any]]], run: Run) -> list[Column]:
    """Call the resolvers of fields; after one has failed, end those that are not awaited."""
    columns: list[Column] = []
    try:
        for field, sources in asked:
            columns.append(field.resolve(sources, run))
    except Exception:
        for value in chain.from_iterable(columns):
            if isinstance(value, CoroutineType):
                value.close()
        raise
    return columns


async def _wait_for_all(values: Sequence[Awaitable[Any]]) -> Column:
    """Return the values of a level, or raise the first exception.

    They run concurrently, so that loaders query once, and completely, so that no task outlives the unit. A single
    value, such as that of a mutation, needs no task.
    """
    if len(values) == 1:
        return [await values[0]]
    found = await asyncio.gather(*values, return_exceptions=True)
    if failed := next((each for each in found if isinstance(each, BaseException)), None):
        raise failed
    return found
