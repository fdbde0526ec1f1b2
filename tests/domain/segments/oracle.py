"""Evaluates a filter, as callers write it, on a contact in plain Python: the judge of the compiled SQL."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from app.domain.quiet_hours.area_codes import STATES

Person = Mapping[str, Any]
"""The values of a contact by the names of fields; absent ones are missing, empty or None."""

NEGATED = {"ne": "in", "not_in": "in", "has_none": "has_any", "not_within_last": "within_last", "is_empty": "is_set"}


def satisfies(filter: Mapping[str, Any], person: Person, now: datetime) -> bool:
    """Return whether a person satisfies a filter."""
    if "field" in filter:
        return satisfies_condition(filter["op"], find(person, filter, now), filter.get("value", []), now)
    [(match, inner)] = filter.items()
    results = [satisfies(each, person, now) for each in inner]
    return {"all": all(results), "any": any(results), "none": not any(results)}[match]


def find(person: Person, filter: Mapping[str, Any], now: datetime) -> Any:
    field = filter["field"]
    if field == "message_count":
        return sum(is_counted(message, filter, now) for message in person["messages"])
    if field != "state":
        return person.get(field)
    code = person["phone"][2:5] if person["phone"].startswith("+1") else ""
    return next((state for state, codes in STATES.items() if code in codes.split()), None)


def is_counted(message: Mapping[str, Any], filter: Mapping[str, Any], now: datetime) -> bool:
    """Return whether a condition counts a message."""
    named = all(message[name] == filter[name] for name in ("direction", "status") if name in filter)
    return named and ("within" not in filter or is_within(message["created_at"], filter["within"], now))


def satisfies_condition(op: str, value: Any, texts: list[str], now: datetime) -> bool:
    if op in NEGATED:
        return not satisfies_condition(NEGATED[op], value, texts, now)
    if value is None or value in ("", []):
        return False
    if op == "within_last":
        return is_within(value, texts[0], now)
    if op in ("is_set", "has_any", "has_all", "contains", "starts_with"):
        return matches(op, value, texts)
    return compare(op, value.lower() if isinstance(value, str) else value, [read(value, text) for text in texts])


def matches(op: str, value: Any, texts: list[str]) -> bool:
    results: dict[str, Callable[[], bool]] = {
        "is_set": lambda: True,
        "has_any": lambda: bool(set(texts) & set(value)),
        "has_all": lambda: set(texts) <= set(value),
        "contains": lambda: texts[0].lower() in value.lower(),
        "starts_with": lambda: value.lower().startswith(texts[0].lower()),
    }
    return results[op]()


def compare(op: str, value: Any, others: list[Any]) -> bool:
    first, last = others[0] if others else None, others[-1] if others else None
    results = {
        "eq": lambda: value in others,
        "in": lambda: value in others,
        "gt": lambda: value > first,
        "after": lambda: value > first,
        "lt": lambda: value < first,
        "before": lambda: value < first,
        "gte": lambda: value >= first,
        "lte": lambda: value <= first,
        "between": lambda: first <= value <= last,
    }
    return results[op]()


def read(like: Any, text: str) -> Any:
    """Return a text in the type of a value."""
    if isinstance(like, bool):
        return text == "true"
    if isinstance(like, datetime):
        return datetime.fromisoformat(text).astimezone(UTC)
    return float(text) if isinstance(like, int | float) else text.lower()


def is_within(value: Any, duration: str, now: datetime) -> bool:
    number, unit = duration.split()
    start = now - timedelta(**{f"{unit.removesuffix('s')}s": int(number)})
    if isinstance(value, datetime):
        return start <= value <= now
    return start.date().isoformat() <= value <= now.date().isoformat()
