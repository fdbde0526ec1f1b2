"""Check the filters that callers write; each error names the place in the tree, and the values that it takes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from typing import NoReturn

from app.domain.contacts.custom_fields import BOOLEANS, NUMBER
from app.domain.kernel import instants
from app.domain.kernel.errors import InvalidInput
from app.domain.messages.models import Direction, MessageStatus
from app.domain.segments.fields import MANY_VALUES, NO_VALUES, Field, Kind, Operator
from app.domain.segments.filters import DURATIONS, Condition, GivenFilter, Group, Match, Messages, Node, Value

MAX_DEPTH, MAX_CONDITIONS, MAX_VALUES, MAX_VALUE, MAX_NAME = 5, 50, 100, 200, 60
DURATION = re.compile(r"([1-9][0-9]{0,4}) (minute|hour|day|week)s?")
COUNTED = ("direction", "status", "within")
"""The members of a condition that say which messages it counts."""

FORMS = "Give either one of all, any and none, or field and op."


@dataclass(slots=True)
class Checker:
    """Checks one filter by the fields of its account."""

    fields: Mapping[str, Field]
    conditions: int = 0

    def check(self, given: GivenFilter, place: str = "filter", depth: int = 1) -> Node:
        """Return the filter of a tree whose absent members are null; raise `InvalidInput`."""
        lists = {Match.all: given.get("all"), Match.any: given.get("any"), Match.none: given.get("none")}
        groups = [(match, nodes) for match, nodes in lists.items() if nodes is not None]
        if len(groups) + (given.get("field") is not None) != 1:
            _refuse(FORMS, place)
        if not groups:
            return self._condition(given, place)
        if any(given.get(name) is not None for name in ("op", "value", *COUNTED)):
            _refuse(FORMS, place)
        return self._group(*groups[0], place, depth)

    def _group(self, match: Match, nodes: Sequence[GivenFilter], place: str, depth: int) -> Group:
        if depth > MAX_DEPTH:
            _refuse(f"A filter has at most {MAX_DEPTH} groups within one another.", place)
        if not nodes:
            _refuse(f"{match} must have at least one condition.", f"{place}.{match}")
        checked = (self.check(each, f"{place}.{match}[{index}]", depth + 1) for index, each in enumerate(nodes))
        return Group(match, tuple(checked))

    def _condition(self, given: GivenFilter, place: str) -> Condition:
        self.conditions += 1
        if self.conditions > MAX_CONDITIONS:
            _refuse(f"A filter has at most {MAX_CONDITIONS} conditions.", place)
        field = self._field(given.get("field") or "", f"{place}.field")
        operator = _operator(field, given.get("op"), f"{place}.op")
        texts = given.get("value") or ()
        _require_number(operator, len(texts), f"{place}.value")
        values = tuple(_value(field, operator, text, f"{place}.value") for text in texts)
        if operator is Operator.between and values[0] > values[1]:  # pyrefly: ignore[unsupported-operation] - of one type
            _refuse("The first value of between must not be greater than the second.", f"{place}.value")
        return Condition(field.name, field.kind, operator, values, _messages(field, given, place))

    def _field(self, name: str, place: str) -> Field:
        if name not in self.fields:
            nearest = get_close_matches(name, self.fields, n=1)
            hint = f"Did you mean {nearest[0]}?" if nearest else f"There are: {', '.join(self.fields)}."
            _refuse(f"{name[:MAX_NAME]} is not a field. {hint}", place)
        return self.fields[name]


def _refuse(reason: str, place: str) -> NoReturn:
    raise InvalidInput(reason=reason, field=place)


def _messages(field: Field, given: GivenFilter, place: str) -> Messages:
    named = {name: str(value) for name, value in given.items() if name in COUNTED and value is not None}
    for name in named:
        if not field.counts_messages:
            _refuse(f"{name} says which messages are counted: {field.name} counts none.", f"{place}.{name}")
    read = dict[str, str]()
    for name, choices in (("direction", Direction), ("status", MessageStatus)):
        if (value := named.get(name)) is not None:
            if value not in list(choices):
                _refuse(f"{name} must be one of {', '.join(choices)}, not '{value[:MAX_NAME]}'.", f"{place}.{name}")
            read[name] = value
    if (within := named.get("within")) is not None:
        read["within"] = _duration(field.kind, "within", within.strip(), f"{place}.within")
    return Messages.of(read)


def _operator(field: Field, given: str | None, place: str) -> Operator:
    if given not in field.operators:
        _refuse(f"{field.name} takes one of these operators: {', '.join(field.operators)}.", place)
    return Operator(given)


def _require_number(operator: Operator, given: int, place: str) -> None:
    """Raise `InvalidInput` unless an operator takes so many values."""
    if operator in NO_VALUES:
        if given:
            _refuse(f"{operator} takes no value.", place)
    elif operator in MANY_VALUES:
        if not 1 <= given <= MAX_VALUES:
            _refuse(f"{operator} takes 1 to {MAX_VALUES} values.", place)
    elif given != (wanted := 2 if operator is Operator.between else 1):
        _refuse(f"{operator} takes {'two values' if wanted == 2 else 'one value'}.", place)


def _value(field: Field, operator: Operator, text: str, place: str) -> Value:
    text = text.strip()
    if operator in DURATIONS:
        return _duration(field.kind, f"A value of {field.name}", text, place)
    read, expected = READERS[field.kind]
    value = read(field, text) if 1 <= len(text) <= MAX_VALUE and "\0" not in text else None
    if value is None:
        took = f"one of {', '.join(field.choices)}" if field.choices else expected
        _refuse(f"A value of {field.name} must be {took}, not '{text[:MAX_NAME]}'.", place)
    return value


def _duration(kind: Kind, subject: str, text: str, place: str) -> str:
    found = DURATION.fullmatch(text)
    if not found or (kind is Kind.date and found[2] in ("minute", "hour")):
        units = "days or weeks" if kind is Kind.date else "minutes, hours, days or weeks"
        _refuse(f"{subject} must be a number of {units}, such as 30 days, not '{text[:60]}'.", place)
    return f"{found[1]} {found[2]}s"


def _text(_: Field, text: str) -> str:
    return text


def _choice(field: Field, text: str) -> str | None:
    return next((each for each in field.choices if each.casefold() == text.casefold()), None)


def _number(_: Field, text: str) -> int | float | None:
    if not NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def _date(_: Field, text: str) -> str | None:
    try:
        return date.fromisoformat(text).isoformat() if len(text) == len("2026-11-21") else None
    except ValueError:
        return None


def _time(_: Field, text: str) -> datetime | None:
    try:
        return instants.read(text)
    except ValueError:
        return None


def _boolean(_: Field, text: str) -> bool | None:
    return BOOLEANS.get(text.lower())


def _id(_: Field, text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


READERS: Mapping[Kind, tuple[Callable[[Field, str], Value | None], str]] = {
    Kind.text: (_text, f"a text of 1 to {MAX_VALUE} characters"),
    Kind.tags: (_text, f"a tag of 1 to {MAX_VALUE} characters"),
    Kind.choice: (_choice, ""),
    Kind.state: (_choice, ""),
    Kind.number: (_number, "a number such as 12 or -3.5"),
    Kind.date: (_date, "a date such as 2026-11-21"),
    Kind.time: (_time, "a time such as 2026-11-21T09:30:00Z, or a date"),
    Kind.boolean: (_boolean, "true or false"),
    Kind.id: (_id, "a number"),
    Kind.ids: (_id, "an id, a number"),
}
"""The reader of the values of each kind, and the values that it takes."""
