"""Health of a sending number: 0 to 100, with each deduction, from its last 7 days against its 28 days before."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import func, select

from app.domain.deliverability.models import NumberHour
from app.domain.deliverability.rates import COUNTED, Interval, wilson
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.numbers import queries as numbers
from app.domain.numbers.models import PhoneNumber

RECENT, BEFORE = timedelta(days=7), timedelta(days=28)
FEWEST = 30
GOOD, WATCH = 80, 60

LOW_RATE, DROP = 0.9, 0.05
MANY_FILTERED, MANY_UNREACHABLE = 0.02, 0.1
MANY_OPT_OUTS = 0.02
JUMP, FEWEST_DAYS = 3.0, 5
"""The multiple of a usual day from which a day counts as a jump, and the days with texts that make a usual one."""

FEWER_REPLIES = 0.5
REPEATED, REPEATED_FEWEST = 0.8, 100
"""The share of the newest texts that may have one body, and the number of texts from which that is judged."""


class HealthState(enum.StrEnum):
    """The state of a number by its score; `unknown` with fewer than 30 results in seven days."""

    good = enum.auto()
    watch = enum.auto()
    poor = enum.auto()
    unknown = enum.auto()


class ProblemCode(enum.StrEnum):
    """The code of a deduction."""

    low_delivery_rate = enum.auto()
    delivery_rate_dropped = enum.auto()
    filtered = enum.auto()
    opt_outs = enum.auto()
    unreachable = enum.auto()
    sender_refused = enum.auto()
    volume_jump = enum.auto()
    reply_rate_dropped = enum.auto()
    repeated_text = enum.auto()


@dataclass(frozen=True, slots=True)
class Figures:
    """The sums of a number over a period.

    `opt_outs` came within 24 hours after a text.
    `busiest_day` and `median_day` are the most and the median of the texts
    that left on a day (UTC) with texts; the median is 0 for fewer than 5 such days. Of its newest texts, `looked_at`,
    `repeated` have the commonest body.
    """

    sent: int = 0
    delivered: int = 0
    failed: int = 0
    filtered: int = 0
    unreachable: int = 0
    refused: int = 0
    replies: int = 0
    opt_outs: int = 0
    busiest_day: int = 0
    median_day: float = 0
    looked_at: int = 0
    repeated: int = 0

    @property
    def final(self) -> int:
        """Return the number of texts with a result of the network."""
        return self.delivered + self.failed


@dataclass(frozen=True, slots=True)
class Deduction:
    """A cause for points less: its code, the points, the finding with its figures, and what to do."""

    code: ProblemCode
    points: int
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class NumberHealth:
    """The health of a number, and the figures of the last 7 days that it is made of."""

    number: PhoneNumber
    score: int
    state: HealthState
    deductions: Sequence[Deduction]
    recent: Figures
    rate: float | None
    interval: Interval


async def check(unit: UnitOfWork, phone_number_id: int) -> NumberHealth:
    """Return the health of an active number; raise `NotFound`."""
    number, recent, before = await read(unit, phone_number_id)
    deductions = judge(recent, before)
    score = max(0, 100 - sum(each.points for each in deductions))
    rate = recent.delivered / recent.final if recent.final else None
    interval = wilson(recent.delivered, recent.final)
    return NumberHealth(number, score, state_of(score, recent), deductions, recent, rate, interval)


async def read(unit: UnitOfWork, phone_number_id: int) -> tuple[PhoneNumber, Figures, Figures]:
    """Return an active number, its figures of the last 7 days, and those of the 28 days before; raise `NotFound`.

    Days begin at midnight UTC; today is added to the last 7.
    """
    number = await numbers.find(unit, phone_number_id)
    if number is None:
        raise NotFound(kind="active phone number", id=phone_number_id)
    since = unit.clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - RECENT
    recent, before = await _sum(unit, number.phone_number, since)
    looked_at, repeated = await messages.count_repeated(unit, number.phone_number, since)
    return number, replace(recent, looked_at=looked_at, repeated=repeated), before


def state_of(score: int, recent: Figures) -> HealthState:
    """Return the state of a number with a score."""
    if recent.final + recent.refused < FEWEST:
        return HealthState.unknown
    return HealthState.good if score >= GOOD else HealthState.watch if score >= WATCH else HealthState.poor


def judge(recent: Figures, before: Figures) -> list[Deduction]:
    """Return the deductions for the figures of 7 days against those of the 28 days before them."""
    found: list[Deduction] = []
    if recent.final >= FEWEST:
        found += [*_judge_rate(recent, before), *_judge_failures(recent)]
    if recent.delivered >= FEWEST and recent.opt_outs > MANY_OPT_OUTS * recent.delivered:
        text = f"{recent.opt_outs} opt-outs within 24 hours after {recent.delivered} delivered texts."
        found.append(Deduction(ProblemCode.opt_outs, 20, text, "Text only contacts who expect it, and less often."))
    if recent.refused:
        points = 40 if recent.refused > recent.sent else 15
        text = f"The carrier refused {recent.refused} texts for the sender or its account."
        found.append(Deduction(ProblemCode.sender_refused, points, text, "Finish the number's registration."))
    if text := find_jump(recent, before):
        found.append(Deduction(ProblemCode.volume_jump, 10, text, "Raise the volume of a number step by step."))
    return [*found, *_judge_texts(recent, before)]


def find_jump(recent: Figures, before: Figures) -> str:
    """Return the finding that a day of the last 7 had over three times the texts of a usual day before, or ""."""
    if recent.busiest_day < FEWEST or not before.median_day or recent.busiest_day <= JUMP * before.median_day:
        return ""
    return f"{recent.busiest_day} texts on one of the last 7 days, after {before.median_day:.0f} on a usual day before."


def _judge_texts(recent: Figures, before: Figures) -> list[Deduction]:
    """Return the deductions for texts that people answer less than before, and for one text to many."""
    found: list[Deduction] = []
    if min(recent.delivered, before.delivered) >= FEWEST:
        rate, usual = recent.replies / recent.delivered, before.replies / before.delivered
        if rate < FEWER_REPLIES * usual and wilson(recent.replies, recent.delivered).upper < usual:
            text = f"{rate:.1%} of the delivered texts were answered, after {usual:.1%} before."
            fix = "Write texts that people answer; carriers watch one-way traffic."
            found.append(Deduction(ProblemCode.reply_rate_dropped, 10, text, fix))
    if recent.looked_at >= REPEATED_FEWEST and recent.repeated > REPEATED * recent.looked_at:
        text = f"{recent.repeated} of the last {recent.looked_at} texts are the same."
        fix = "Address people by name, and vary the text: carriers filter what is sent to many unchanged."
        found.append(Deduction(ProblemCode.repeated_text, 5, text, fix))
    return found


def _judge_rate(recent: Figures, before: Figures) -> list[Deduction]:
    rate = recent.delivered / recent.final
    found: list[Deduction] = []
    if wilson(recent.delivered, recent.final).upper < LOW_RATE or rate < LOW_RATE:
        points = min(50, round(100 * (LOW_RATE - rate)) + 5)
        text = f"{recent.delivered} of {recent.final} texts were delivered."
        found.append(
            Deduction(
                ProblemCode.low_delivery_rate,
                points,
                text,
                "Look at the failures, and remove numbers that do not exist.",
            )
        )
    if before.final >= FEWEST and before.delivered / before.final - rate > DROP:
        text = f"The delivery rate fell from {before.delivered / before.final:.0%} to {rate:.0%}."
        fix = "Compare the texts of this week with those before."
        found.append(Deduction(ProblemCode.delivery_rate_dropped, 15, text, fix))
    return found


def _judge_failures(recent: Figures) -> list[Deduction]:
    found: list[Deduction] = []
    if recent.filtered > MANY_FILTERED * recent.final:
        points = min(40, 10 + round(200 * recent.filtered / recent.final))
        text = f"Carriers filtered {recent.filtered} of {recent.final} texts."
        fix = "Name your business, avoid shortened links, and register the number."
        found.append(Deduction(ProblemCode.filtered, points, text, fix))
    if recent.unreachable > MANY_UNREACHABLE * recent.final:
        text = f"{recent.unreachable} of {recent.final} phones could not be reached."
        found.append(Deduction(ProblemCode.unreachable, 10, text, "Remove contacts that were not reached for weeks."))
    return found


async def _sum(unit: UnitOfWork, number: str, since: datetime) -> tuple[Figures, Figures]:
    """Return the figures of a number from an instant on, and of the 28 days before it."""
    columns = (*COUNTED, NumberHour.replies, NumberHour.prompt_opt_outs)
    is_recent, day = NumberHour.hour >= since, func.date_trunc("day", NumberHour.hour, "UTC")
    own = NumberHour.account_id == unit.actor.account_id, NumberHour.number == number
    statement = select(is_recent, *map(func.sum, columns)).where(*own, NumberHour.hour >= since - BEFORE)
    rows = await unit.rows(statement.group_by(is_recent, day))
    recent, before = ([list(map(int, sums)) for is_in, *sums in rows if is_in is period] for period in (True, False))
    return _total(recent), _total(before)


def _total(days: Sequence[Sequence[int]]) -> Figures:
    """Return the figures of days, each with its sums in the order of the fields."""
    sent = [day[0] for day in days if day[0]]
    return Figures(
        *(sum(column) for column in zip(*days, strict=True)),
        busiest_day=max(sent, default=0),
        median_day=median(sent) if len(sent) >= FEWEST_DAYS else 0,
    )
