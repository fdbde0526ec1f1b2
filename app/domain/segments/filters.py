"""Filters of segments: trees of conditions on a contact."""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from app.domain.kernel.events import timestamp
from app.domain.messages.models import Direction, MessageStatus
from app.domain.segments.fields import Kind, Operator

Value = str | int | float | bool | datetime


class Match(enum.StrEnum):
    """The nodes of a group that must be true."""

    all = enum.auto()
    any = enum.auto()
    none = enum.auto()


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages that a condition counts: of a direction, of a status, within a duration; None for any."""

    direction: Direction | None = None
    status: MessageStatus | None = None
    within: str | None = None

    def given(self) -> dict[str, str]:
        """Return the values that are not None, as texts."""
        found = {"direction": self.direction, "status": self.status, "within": self.within}
        return {name: str(value) for name, value in found.items() if value is not None}

    @staticmethod
    def of(given: Mapping[str, str]) -> "Messages":
        """Return the messages of texts by their names."""
        direction, status = given.get("direction"), given.get("status")
        return Messages(
            Direction(direction) if direction else None, MessageStatus(status) if status else None, given.get("within")
        )


ALL_MESSAGES = Messages()


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a field of a contact with values, which have the type of its kind."""

    field: str
    kind: Kind
    operator: Operator
    values: tuple[Value, ...] = ()
    messages: Messages = ALL_MESSAGES


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of which all, any or none must be true."""

    match: Match
    nodes: "tuple[Node, ...]"


Node = Condition | Group


class GivenFilter(TypedDict, total=False):
    """A filter as callers write it: a condition, or a group with one of three lists. Members may be null."""

    all: "Sequence[GivenFilter] | None"
    any: "Sequence[GivenFilter] | None"
    none: "Sequence[GivenFilter] | None"
    field: str | None
    op: str | None
    value: Sequence[str] | None
    direction: str | None
    status: str | None
    within: str | None


def store(node: Node) -> dict[str, Any]:
    """Return a filter as JSON. A condition keeps its kind, so that no later change of fields changes its sense."""
    if isinstance(node, Group):
        return {str(node.match): [store(each) for each in node.nodes]}
    values = [timestamp(each) if isinstance(each, datetime) else each for each in node.values]
    stored = {"field": node.field, "kind": str(node.kind), "op": str(node.operator), "value": values}
    return stored | node.messages.given()


def load(stored: Mapping[str, Any]) -> Node:
    """Return a stored filter."""
    if "field" not in stored:
        [(match, nodes)] = stored.items()
        return Group(Match(match), tuple(load(each) for each in nodes))
    kind, values = Kind(stored["kind"]), stored["value"]
    if kind is Kind.time and Operator(stored["op"]) not in DURATIONS:
        values = [datetime.fromisoformat(each) for each in values]
    return Condition(stored["field"], kind, Operator(stored["op"]), tuple(values), Messages.of(stored))


DURATIONS = frozenset({Operator.within_last, Operator.not_within_last})
"""The operators whose value is a duration such as `30 days`."""


def show(node: Node) -> dict[str, Any]:
    """Return a filter as callers write it: values are texts."""
    if isinstance(node, Group):
        return {str(node.match): [show(each) for each in node.nodes]}
    shown = {"field": node.field, "op": str(node.operator), **node.messages.given()}
    return shown | {"value": [show_value(each) for each in node.values]} if node.values else shown


def show_value(value: Value) -> str:
    """Return a value as the text that callers write."""
    if isinstance(value, datetime):
        return timestamp(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def conditions(node: Node) -> Iterator[Condition]:
    """Yield the conditions of a filter."""
    if isinstance(node, Condition):
        yield node
    else:
        for each in node.nodes:
            yield from conditions(each)
