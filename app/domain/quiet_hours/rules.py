"""Rules of quiet hours: daily windows and a cap of texts in 24 hours, for a jurisdiction."""

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from app.domain.kernel.errors import InvalidInput
from app.domain.quiet_hours.windows import Span, Week, intersect

ANYWHERE = "*"


class Weekday(enum.StrEnum):
    """A day of the week, in the order of `datetime.weekday`."""

    monday = enum.auto()
    tuesday = enum.auto()
    wednesday = enum.auto()
    thursday = enum.auto()
    friday = enum.auto()
    saturday = enum.auto()
    sunday = enum.auto()


EVERY_DAY = tuple(Weekday)


@dataclass(frozen=True, slots=True)
class Rule:
    """A window of some weekdays in a jurisdiction, and the most texts to a phone in 24 hours; None for no cap.

    A jurisdiction is a country, one of its states such as `US-FL`, or `*`. Rules of an account have an `own_id`; one
    that `overrides_law` stands in the place of the law's windows of that jurisdiction on those days, and of its cap
    where it has one itself.
    """

    jurisdiction: str
    days: tuple[Weekday, ...]
    span: Span
    cap: int | None
    source: str
    as_of: date
    is_verified: bool
    own_id: int | None = None
    overrides_law: bool = False

    @property
    def id(self) -> str:
        """Return the rule's id, such as `US-TX.sunday`, or `own.7` for a rule of the account."""
        if self.own_id is not None:
            return f"own.{self.own_id}"
        if len(self.days) == len(EVERY_DAY):
            return self.jurisdiction
        return f"{self.jurisdiction}.{self.days[0]}" + (f"-{self.days[-1]}" if len(self.days) > 1 else "")


_is_own = re.compile(r"own\.([0-9]{1,18})").fullmatch


def own_id(id: str) -> int | None:
    """Return the number of a rule of the account, 7 for `own.7`; None for another id."""
    found = _is_own(id)
    return int(found[1]) if found else None


class Cap(NamedTuple):
    """The most texts to a phone in 24 hours, and the id of its rule."""

    most: int
    rule: str


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of law and those of an account, which only tighten them unless they override them."""

    laws: tuple[Rule, ...]
    own: tuple[Rule, ...] = ()
    _key: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute the hash once: every text of a batch looks its week up by it."""
        object.__setattr__(self, "_key", hash((self.laws, self.own)))

    def __hash__(self) -> int:
        """Return the hash of the rules."""
        return self._key

    def week(self, jurisdiction: str) -> Week:
        """Return the windows of a jurisdiction: those that every rule allows."""
        return _week(self, jurisdiction)

    def cap(self, jurisdiction: str) -> Cap | None:
        """Return the lowest cap of a jurisdiction."""
        return _cap(self, jurisdiction)

    def rules_on(self, jurisdiction: str, day: int) -> Iterator[Rule]:
        """Return the rules that hold in a jurisdiction on a day of the week, 0 for Monday."""
        yield from (rule for rule in self.rules_of(jurisdiction) if EVERY_DAY[day] in rule.days)

    def rules_of(self, jurisdiction: str) -> Iterator[Rule]:
        """Return the rules that hold in a jurisdiction; those of law on the days that none of the account overrides."""
        for rule in _held_in(self.laws, _lawful(self.laws, jurisdiction)):
            days = tuple(day for day in rule.days if not self.overrides(rule.jurisdiction, day))
            if days:
                yield rule if days == rule.days else _on(rule, days)
        yield from _held_in(self.own, (ANYWHERE, *_within(jurisdiction)))

    def is_overridden(self, rule: Rule) -> bool:
        """Return whether rules of the account replace a rule of law on all of its days."""
        return all(self.overrides(rule.jurisdiction, day) for day in rule.days)

    def overrides(self, jurisdiction: str, day: Weekday) -> bool:
        """Return whether a rule of the account replaces that of the law on a weekday."""
        return any(rule.overrides_law and rule.jurisdiction == jurisdiction and day in rule.days for rule in self.own)


def span(text: str) -> Span:
    """Return the window of a text such as `08:00-21:00`; raise `InvalidInput`."""
    start, _, end = text.partition("-")
    return Span(minute_of(start, "start"), minute_of(end, "end"))


def minute_of(text: str, field: str) -> int:
    """Return the minute of the day of a time such as 08:00, up to 24:00; raise `InvalidInput`."""
    found = re.fullmatch(r"([01]\d|2[0-4]):([0-5]\d)", text.strip())
    minute = 60 * int(found[1]) + int(found[2]) if found else 24 * 60 + 1
    if minute > 24 * 60:
        raise InvalidInput(reason=f"{field} must be a time from 00:00 to 24:00, such as 08:30.", field=field)
    return minute


def clock(minute: int) -> str:
    """Return a minute of the day as a time such as 08:00."""
    return "{:02}:{:02}".format(*divmod(minute, 60))


@lru_cache(4096)
def _week(book: Rulebook, jurisdiction: str) -> Week:
    days = [intersect(rule.span for rule in book.rules_on(jurisdiction, day)) for day in range(7)]
    return (days[0], days[1], days[2], days[3], days[4], days[5], days[6])


@lru_cache(4096)
def _cap(book: Rulebook, jurisdiction: str) -> Cap | None:
    replaced = {rule.jurisdiction for rule in book.own if rule.overrides_law and rule.cap is not None}
    laws = (rule for rule in _held_in(book.laws, _lawful(book.laws, jurisdiction)) if rule.jurisdiction not in replaced)
    rules = (*laws, *_held_in(book.own, (ANYWHERE, *_within(jurisdiction))))
    return min((Cap(rule.cap, rule.id) for rule in rules if rule.cap is not None), default=None)


def _within(jurisdiction: str) -> tuple[str, ...]:
    """Return the country of a jurisdiction, and its state."""
    country = jurisdiction.partition("-")[0]
    return (country,) if country == jurisdiction else (country, jurisdiction)


def _lawful(laws: Sequence[Rule], jurisdiction: str) -> tuple[str, ...]:
    """Return the jurisdictions whose laws hold in one: `*` where no law names the country."""
    names = _within(jurisdiction)
    return names if any(rule.jurisdiction == names[0] for rule in laws) else (ANYWHERE, *names)


def _held_in(rules: Sequence[Rule], jurisdictions: Sequence[str]) -> Iterator[Rule]:
    yield from (rule for rule in rules if rule.jurisdiction in jurisdictions)


def _on(rule: Rule, days: tuple[Weekday, ...]) -> Rule:
    return Rule(rule.jurisdiction, days, rule.span, rule.cap, rule.source, rule.as_of, rule.is_verified)
