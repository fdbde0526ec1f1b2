"""Compile filters to conditions of SQL on the contact `c`. Texts of callers are parameters, never SQL."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from app.domain.messages import sql as messages
from app.domain.quiet_hours.area_codes import STATES
from app.domain.segments import fields
from app.domain.segments.fields import CUSTOM, NEGATED, Field, Kind, Operator
from app.domain.segments.filters import Condition, Group, Match, Messages, Node, Value

TYPES = {
    Kind.text: "text",
    Kind.tags: "text",
    Kind.choice: "text",
    Kind.state: "text",
    Kind.number: "numeric",
    Kind.date: "text",
    Kind.time: "timestamptz",
    Kind.boolean: "boolean",
    Kind.id: "bigint",
    Kind.ids: "bigint",
}
"""The type of the parameters of each kind. Dates are stored as texts, whose order is that of the dates."""

COMPARISONS = {
    Operator.gt: ">",
    Operator.gte: ">=",
    Operator.lt: "<",
    Operator.lte: "<=",
    Operator.before: "<",
    Operator.after: ">",
}

TAGS = {Operator.has_any: "&&", Operator.has_all: "@>"}

Mark = Callable[[int], str]
"""Returns the text of the parameter with a number, such as `$3`."""


def numbered(first: int) -> Mark:
    """Return the marks `$n` of asyncpg, from a number on."""
    return lambda number: f"${first + number}"


def named(number: int) -> str:
    """Return the name of a parameter of SQLAlchemy."""
    return f":segment_{number}"


@dataclass(slots=True)
class Compiler:
    """Compiles one filter. Relative times end at `now`; `values` are the parameters in the order of their numbers."""

    now: datetime
    mark: Mark = named
    values: list[Any] = field(default_factory=list)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters by their names in SQLAlchemy."""
        return {named(number)[1:]: value for number, value in enumerate(self.values)}

    def compile(self, node: Node) -> str:
        """Return the condition of a node."""
        if isinstance(node, Condition):
            return self._condition(node)
        parts = [f"({self.compile(each)})" for each in node.nodes]
        joined = (" AND " if node.match is Match.all else " OR ").join(parts)
        return f"({joined}) IS NOT TRUE" if node.match is Match.none else joined

    def _condition(self, condition: Condition) -> str:
        found = fields.stored(condition.field, condition.kind)
        positive = NEGATED.get(condition.operator)
        sql = self._around(found, positive or condition.operator, condition)
        return f"({sql}) IS NOT TRUE" if positive else sql

    def _around(self, found: Field, operator: Operator, condition: Condition) -> str:
        value = self.expression(condition)
        if found.kind is not Kind.ids or operator is not Operator.has_all:
            return found.around(self._compare(found.kind, value, operator, condition.values))
        # The first id has the contacts found by an index. A condition for each id would take seconds to plan.
        ids = self._bind("bigint[]", list(condition.values))
        first, is_there = self._in(found.kind, value, condition.values[:1]), found.around(f"{value} = wanted.id")
        missing = f"SELECT FROM unnest({ids}) AS wanted(id) WHERE NOT {is_there}"
        return f"{found.around(first)} AND NOT EXISTS ({missing})"

    def _compare(self, kind: Kind, value: str, operator: Operator, values: Sequence[Value]) -> str:
        match operator:
            case Operator.is_set:
                return _is_set(kind, value)
            case Operator.within_last:
                return self._between(kind, value, _since(kind, self.now, str(values[0])))
            case Operator.between:
                return self._between(kind, value, values)
            case _ if operator in COMPARISONS:
                return f"{value} {COMPARISONS[operator]} {self._typed(kind, values[0])}"
            case _ if kind is Kind.tags:
                return f"{value} {TAGS[operator]} {self._bind('text[]', list(values))}"
            case _:
                return self._match(kind, value, operator, values)

    def _match(self, kind: Kind, value: str, operator: Operator, values: Sequence[Value]) -> str:
        match operator:
            case Operator.contains:
                return f"strpos(lower({value}), {self._lower(values[0])}) > 0"
            case Operator.starts_with:
                return f"starts_with(lower({value}), {self._lower(values[0])})"
            case _:
                return self._in(kind, value, values)

    def _in(self, kind: Kind, value: str, values: Sequence[Value]) -> str:
        if kind is Kind.text:  # the comparison with the empty text is for partial indexes
            return f"{value} <> '' AND lower({value}) = ANY(ARRAY[{', '.join(map(self._lower, values))}])"
        if kind is Kind.state:
            values = [code for state in values for code in STATES[str(state)].split()]
        if kind is Kind.boolean:
            return f"{value} = {self._typed(kind, values[0])}"
        return f"{value} = ANY({self._bind(f'{TYPES[kind]}[]', [_sent(kind, each) for each in values])})"

    def _between(self, kind: Kind, value: str, ends: Sequence[Value]) -> str:
        first, last = (self._typed(kind, each) for each in ends)
        return f"{value} BETWEEN {first} AND {last}"

    def expression(self, condition: Condition) -> str:
        """Return the value of the field of a condition."""
        found = fields.stored(condition.field, condition.kind)
        if found.counts_messages:
            return messages.count_of("c.account_id", "c.id", self._which(condition.messages))
        if not found.name.startswith(CUSTOM):
            return found.expression
        return f"({found.expression.format(key=self._bind('text', found.name.removeprefix(CUSTOM)))})"

    def _which(self, counted: Messages) -> Iterator[str]:
        """Yield the conditions on the messages that are counted."""
        if counted.direction:
            yield f"{messages.DIRECTION} = {self._bind('text', counted.direction.value)}"
        if counted.status:
            yield f"{messages.STATUS} = {self._bind('text', counted.status.value)}"
        if counted.within:
            since, _ = _since(Kind.time, self.now, counted.within)
            yield f"{messages.CREATED_AT} >= {self._bind('timestamptz', since)}"

    def _lower(self, text: Value) -> str:
        return f"lower({self._bind('text', text)})"

    def _typed(self, kind: Kind, value: Value) -> str:
        return self._bind(TYPES[kind], _sent(kind, value))

    def _bind(self, type: str, value: object) -> str:
        self.values.append(value)
        return f"CAST({self.mark(len(self.values) - 1)} AS {type})"


def compile_numbered(node: Group | Condition, now: datetime, first: int) -> tuple[str, list[Any]]:
    """Return a condition for asyncpg, whose parameters begin with the number `first`, and their values."""
    compiler = Compiler(now, numbered(first))
    return compiler.compile(node), compiler.values


def _sent(kind: Kind, value: Value) -> Any:
    """Return a value in the type of its parameter."""
    return Decimal(str(value)) if kind is Kind.number else value


def _is_set(kind: Kind, value: str) -> str:
    match kind:
        case Kind.tags:
            return f"cardinality({value}) > 0"
        case Kind.ids:
            return "true"
        case Kind.text:
            return f"{value} <> ''"
        case _:
            return f"{value} IS NOT NULL"


def _since(kind: Kind, now: datetime, duration: str) -> tuple[Value, Value]:
    """Return the two ends of a duration that ends now. Dates are those of UTC."""
    number, unit = duration.split()
    start = now - timedelta(**{unit: int(number)})
    return (start.date().isoformat(), now.date().isoformat()) if kind is Kind.date else (start, now)
