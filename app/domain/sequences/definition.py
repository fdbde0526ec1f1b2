"""The settings of a drip sequence: its name, steps, exits and window, and their checks."""

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Any, TypedDict

from app.domain.contacts.models import PipelineStage
from app.domain.contacts.service import clean_tags
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.placeholders import Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.quiet_hours.rules import EVERY_DAY, Weekday, minute_of
from app.domain.sequences.models import Step
from app.domain.templates import checking, vocabulary

MAX_NAME, MAX_STEPS, MAX_EXITS = 100, 50, 20
DAY = 24 * 60
MAX_DAYS = 365
MAX_DELAY = MAX_DAYS * DAY


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step to create: the message, and its delay after the previous step or the enrollment.

    The delay is some days of the recipient's calendar, then some minutes. `at` is a time of the recipient's day, such
    as 10:00, for which the step then waits. `key` is that of the step in the present version that it continues.
    """

    delay_minutes: int
    body: str
    delay_days: int = 0
    at: str | None = None
    key: int | None = None


@dataclass(frozen=True, slots=True)
class Exits:
    """The causes that end an enrollment beside an opt-out: a reply, a stage or a tag of the contact."""

    on_reply: bool = True
    stages: List[PipelineStage] = ()
    tags: List[str] = ()


@dataclass(frozen=True, slots=True)
class SendWindow:
    """The part of the recipient's day in which steps leave, such as from 09:00 to before 17:00, on some weekdays."""

    start: str
    end: str
    days: List[Weekday] = EVERY_DAY


class SequenceFields(TypedDict, total=False):
    """Fields of a sequence. A window of None allows the whole day, `re_enroll_after_days` of None no enrollment."""

    name: str
    steps: List[NewStep]
    exits: Exits
    window: SendWindow | None
    re_enroll_after_days: int | None
    skips_refused: bool


def read(fields: SequenceFields) -> dict[str, Any]:
    """Return the values of the columns of a sequence that fields set, apart from its steps; raise `InvalidInput`."""
    values: dict[str, Any] = {}
    if "name" in fields:
        values["name"] = _name(fields["name"])
    if "exits" in fields:
        values |= _exits(fields["exits"])
    if "window" in fields:
        values |= _window(fields["window"])
    if "re_enroll_after_days" in fields:
        values["re_enroll_after_days"] = _days(fields["re_enroll_after_days"])
    if "skips_refused" in fields:
        values["skips_refused"] = fields["skips_refused"]
    return values


async def read_steps(
    unit: UnitOfWork, steps: List[NewStep], present: List[Step] = (), last_key: int = 0
) -> list[dict[str, Any]]:
    """Return the values of the columns of steps in order, with the keys of those they continue, or later than the last.

    Raises `InvalidInput`, and `MessageTooLong`. Steps that stay keep their order, so that no contact gets one twice.
    """
    if not 1 <= len(steps) <= MAX_STEPS:
        raise InvalidInput(reason=f"A sequence has 1 to {MAX_STEPS} steps.", field="steps")
    known = await vocabulary.find(unit)
    for index, step in enumerate(steps):
        _check(step, known, f"steps[{index}]")
    keys = _keys(steps, [step.key for step in present], last_key)
    return [
        {
            "position": position,
            "key": key,
            "delay_days": step.delay_days,
            "delay_minutes": step.delay_minutes,
            "at_minute": _minute(step, f"steps[{position - 1}]"),
            "body": step.body,
        }
        for position, (step, key) in enumerate(zip(steps, keys, strict=True), 1)
    ]


def columns_of(step: Step) -> Mapping[str, Any]:
    """Return the values of the columns of a step, as `read_steps` returns those of new ones."""
    names = ("position", "key", "delay_days", "delay_minutes", "at_minute", "body")
    return {name: getattr(step, name) for name in names}


def _keys(steps: Iterable[NewStep], present: List[int], last_key: int) -> list[int]:
    """Return the keys of steps; raise `InvalidInput` unless the given ones are present ones in their order."""
    last, keys = -1, list[int]()
    for index, step in enumerate(steps):
        if step.key is None:
            last_key += 1
            keys.append(last_key)
            continue
        field = f"steps[{index}].key"
        if step.key not in present:
            raise InvalidInput(reason=f"The sequence has no step with the key {step.key}.", field=field)
        if present.index(step.key) <= last:
            reason = "Steps that stay keep their order. Give one that moves without its key, as a new step."
            raise InvalidInput(reason=reason, field=field)
        last = present.index(step.key)
        keys.append(step.key)
    return keys


def _check(step: NewStep, known: Vocabulary, place: str) -> None:
    if not 0 <= step.delay_days <= MAX_DAYS:
        raise InvalidInput(reason=f"delay_days must be from 0 to {MAX_DAYS}.", field=f"{place}.delay_days")
    if not 0 <= step.delay_minutes <= MAX_DELAY:
        raise InvalidInput(reason=f"delay_minutes must be from 0 to {MAX_DELAY}.", field=f"{place}.delay_minutes")
    _minute(step, place)
    checking.check(step.body, known, f"{place}.body")


def _minute(step: NewStep, place: str) -> int | None:
    return None if step.at is None else minute_of(step.at, f"{place}.at") % DAY


def _name(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    return name


def _exits(exits: Exits) -> dict[str, Any]:
    if len(exits.tags) > MAX_EXITS:
        raise InvalidInput(reason=f"A sequence ends with at most {MAX_EXITS} tags.", field="exits.tags")
    return {
        "exits_on_reply": exits.on_reply,
        "exit_stages": [str(stage) for stage in dict.fromkeys(exits.stages)],
        "exit_tags": clean_tags(list(exits.tags)),
    }


def _window(window: SendWindow | None) -> dict[str, Any]:
    if window is None:
        return {"window_start": None, "window_end": None, "window_days": []}
    start, end = minute_of(window.start, "window.start"), minute_of(window.end, "window.end")
    if start >= end:
        raise InvalidInput(reason="window.end must be later than window.start.", field="window.end")
    if not window.days:
        raise InvalidInput(reason="window.weekdays must name a day.", field="window.weekdays")
    days = [str(day) for day in EVERY_DAY if day in window.days]
    return {"window_start": start, "window_end": end, "window_days": days}


def _days(days: int | None) -> int | None:
    if days is not None and not 0 <= days <= MAX_DAYS:
        reason = f"re_enroll_after_days must be from 0 to {MAX_DAYS}, or null for never."
        raise InvalidInput(reason=reason, field="re_enroll_after_days")
    return days
