"""Completion of values: a level at a time, each kind of value in a function of its own."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from types import NoneType
from typing import Any

from graphql import GraphQLNonNull
from strawberry.types import get_object_definition

from app.graphql.execution.plans import Column, Complete, Field, Lists, Run, are_texts


def complete_present(complete: Complete, kind: GraphQLNonNull[Any], kept: type | None) -> Complete:
    """Return the completion of a type that is never null, and shows values of the class `kept` as they are."""
    unchanged = {kept}

    def present(values: Column, run: Run) -> Column:
        classes = set(map(type, values))
        if classes == unchanged:
            return values
        if NoneType in classes:
            raise TypeError(f"Cannot return null where {kind} is promised.")
        return complete(values, run)

    return present


def complete_nullable(complete: Complete) -> Complete:
    """Return the completion of a type whose values may be null."""

    def nullable(values: Column, run: Run) -> Column:
        if NoneType not in set(map(type, values)):
            return complete(values, run)
        found = iter(complete([value for value in values if value is not None], run))
        return [None if value is None else next(found) for value in values]

    return nullable


def complete_leaves(write: Callable[[Any], Any], kept: type | None) -> Complete:
    """Return the completion of a leaf, which shows values of the class `kept` as they are."""

    def leaves(values: Column, run: Run) -> Column:
        return values if set(map(type, values)) == {kept} else [write(value) for value in values]

    return leaves


def complete_leaf_lists(complete: Complete) -> Complete:
    """Return the completion of a list of leaves."""

    def leaf_lists(values: Column, run: Run) -> Column:
        done = iter(complete([*chain.from_iterable(values)], run))
        return [[*islice(done, len(value))] for value in values]

    return leaf_lists


def complete_lists(complete: Complete) -> Complete:
    """Return the completion of a list of objects, whose items are completed with those of the level's other lists."""

    def lists(values: Column, run: Run) -> Column:
        answers: Column = [[] for _ in values]
        run.lists.append(Lists(values, answers, complete))
        return answers

    return lists


def complete_objects(fields: Sequence[Field]) -> Complete:
    """Return the completion of an object; fragments of JSON are complete."""
    keys, awaited = [field.key for field in fields], [field for field in fields if field.is_awaited]

    def objects(sources: Column, run: Run) -> Column:
        if are_texts(sources):
            return sources
        columns = [
            [None] * len(sources) if field.is_awaited else field.complete(field.resolve(sources, run), run)
            for field in fields
        ]
        answers = [dict(zip(keys, values, strict=True)) for values in zip(*columns, strict=True)]
        for field in awaited:
            run.postpone(field, sources, answers)
        return answers

    return objects


def complete_interfaces(completions: Mapping[str, Complete]) -> Complete:
    """Return the completion of an interface, whose values are instances of the types of the contract."""

    def interfaces(sources: Column, run: Run) -> Column:
        names = [get_object_definition(source, strict=True).name for source in sources]
        found = {
            name: iter(completions[name]([each for each, its in zip(sources, names, strict=True) if its == name], run))
            for name in set(names)
        }
        return [next(found[name]) for name in names]

    return interfaces
