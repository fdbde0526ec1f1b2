"""The grammar of placeholders: `{name}`, `{name:filter|fallback}`, and `{{` and `}}` for literal braces."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.domain.kernel.placeholders import ValueKind, Vocabulary
from app.domain.templates import dates

TEXT_FILTERS = ("title", "upper", "lower", "first_word")
DATE = "date"
BOOKING = "booking."
"""The beginning of the names that only texts about bookings have."""

FILTERS = (*TEXT_FILTERS, DATE)
BRACES = "Write {{ and }} for braces that are sent."

_token = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_filter = re.compile(r":\s*(?P<name>\w*)\s*(?:\((?P<argument>[^()]*)\))?\s*")


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of a placeholder; only `date` has an argument, the format."""

    name: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder in a text from `start` to `end`. `fallback` is None where it has none of its own."""

    name: str
    filters: tuple[Filter, ...]
    fallback: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of the grammar: its place in the text, and a sentence that says what to write instead."""

    start: int
    end: int
    reason: str


@dataclass(slots=True)
class Parsed:
    """The nodes of a text: literal texts, unescaped, and placeholders. A faulty part is a literal as it is written."""

    nodes: list[str | Placeholder] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def placeholders(self) -> list[Placeholder]:
        """Return the placeholders in order."""
        return [node for node in self.nodes if isinstance(node, Placeholder)]


def parse(text: str) -> Parsed:
    """Return the nodes of a text, and its faults; unknown names are no faults of the grammar."""
    parsed, end = Parsed(), 0
    for token in _token.finditer(text):
        parsed.nodes.append(text[end : token.start()])
        parsed.nodes.append(_node(token, parsed.faults))
        end = token.end()
    parsed.nodes.append(text[end:])
    parsed.nodes = [node for node in parsed.nodes if node != ""]
    return parsed


def check(text: str, vocabulary: Vocabulary) -> list[Fault]:
    """Return every fault of a text: those of the grammar, unknown names, and filters that do not fit their values."""
    parsed = parse(text)
    unfit = [fault for each in parsed.placeholders for fault in _check_use(each, vocabulary)]
    return sorted([*parsed.faults, *unfit], key=lambda fault: fault.start)


def filters_for(kind: ValueKind) -> list[str]:
    """Return the filters that values of a kind take."""
    return [DATE] if kind is ValueKind.time else list(TEXT_FILTERS)


def _node(token: re.Match[str], faults: list[Fault]) -> str | Placeholder:
    match token[0]:
        case "{{" | "}}":
            return token[0][0]
        case "{" | "}":
            other = "}" if token[0] == "{" else "{"
            place = f"The {token[0]} at character {token.start() + 1}"
            faults.append(Fault(token.start(), token.end(), f"{place} has no {other}. {BRACES}"))
            return token[0]
        case _:
            return _placeholder(token, faults)


def _placeholder(token: re.Match[str], faults: list[Fault]) -> str | Placeholder:
    inner, bar, after = token[1].partition("|")
    name, colon, named = inner.partition(":")
    name, fallback = name.strip(), after if bar else None
    filters, rest = _read_filters(f"{colon}{named}".rstrip())
    if reason := _find_fault(name, rest, filters, fallback):
        faults.append(Fault(token.start(), token.end(), f"{_at(token[0], token.start())} {reason}"))
        return token[0]
    return Placeholder(name, filters, fallback, token.start(), token.end())


def _read_filters(text: str) -> tuple[tuple[Filter, ...], str]:
    """Return the filters of a placeholder, and the texts that cannot be read as one."""
    found: list[Filter] = []
    while text and (each := _filter.match(text)) and each["name"]:
        found.append(Filter(each["name"], each["argument"]))
        text = text[each.end() :]
    return tuple(found), text


def _find_fault(name: str, rest: str, filters: tuple[Filter, ...], fallback: str | None) -> str | None:
    if not name:
        return f"names nothing. {BRACES}"
    if rest:
        return f"has a filter that cannot be read: {rest}. Filters are {_listed()}."
    if fallback is not None and "|" in fallback:
        return "has more than one |. A placeholder has one fallback."
    return next((reason for each in filters if (reason := _find_fault_of_filter(each))), None)


def _find_fault_of_filter(given: Filter) -> str | None:
    if given.name not in FILTERS:
        return f"has an unknown filter, {given.name}. Filters are {_listed()}."
    if given.name != DATE:
        return None if given.argument is None else f"gives {given.name} a format, which only date takes."
    if given.argument is None:
        return "has no format. Write one in brackets, such as date(d MMM yyyy)."
    return dates.find_fault(given.argument)


def _check_use(used: Placeholder, vocabulary: Vocabulary) -> Iterator[Fault]:
    place = _at("{" + used.name + "}", used.start)
    known = vocabulary.names.get(used.name)
    if known is None:
        if used.name.startswith(BOOKING) and not any(name.startswith(BOOKING) for name in vocabulary.names):
            yield Fault(used.start, used.end, f"{place} is filled in only in texts about bookings.")
            return
        nearest = vocabulary.find_nearest(used.name)
        hint = f"Did you mean {{{nearest}}}?" if nearest else f"There are {_names(vocabulary)}."
        yield Fault(used.start, used.end, f"{place} is not a placeholder. {hint}")
        return
    for each in used.filters:
        if (each.name == DATE) is not (known.kind is ValueKind.time):
            kind = "a date" if known.kind is ValueKind.time else "a text"
            yield Fault(used.start, used.end, f"{place} is {kind}, which {each.name} does not take.")


def _at(shown: str, start: int) -> str:
    return f"{shown} at character {start + 1}"


def _names(vocabulary: Vocabulary) -> str:
    return ", ".join(f"{{{name}}}" for name in vocabulary.names)


def _listed() -> str:
    return f"{', '.join(TEXT_FILTERS)} and date(d MMM yyyy)"
