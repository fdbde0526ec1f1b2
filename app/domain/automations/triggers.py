"""Triggers of automations: their checks, their words and their times."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from app.domain.automations.models import TriggerKind
from app.domain.automations.shapes import (
    BirthdayTrigger,
    Comparison,
    EventOperator,
    EventTrigger,
    GivenTrigger,
    ScheduleTrigger,
    Trigger,
)
from app.domain.contacts import custom_fields
from app.domain.contacts.models import CustomFieldType
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.events import EVENTS
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.quiet_hours.rules import EVERY_DAY, Weekday, minute_of

MAX_HOURS, MAX_CONDITIONS, MAX_VALUE = 720, 10, 200
LOOK_EVERY = timedelta(minutes=5)
"""The time between two searches for contacts who wait for a reply."""

DAY = timedelta(days=1)
GRACE = {"birthday": timedelta(days=1), "schedule": timedelta(hours=12)}
"""The time by which runs may start late, such as after an outage. Later ones are skipped: texts would be stale."""

RECORDED = timedelta(days=31)
"""The time before now of which missed days are recorded as skipped."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Days(NamedTuple):
    """Days of a trigger whose time has come: those whose runs start, and those for which it is too late."""

    due: Sequence[date]
    late: Sequence[date]


async def check(unit: UnitOfWork, given: GivenTrigger) -> Trigger:
    """Return a trigger as it is stored; raise `InvalidInput`."""
    kind = TriggerKind(given["kind"])
    match kind:
        case TriggerKind.event:
            event = _event(given.get("event"))
            return {"kind": "event", "event": event, "where": _where(event, given.get("where") or [])}
        case TriggerKind.missed_reply:
            hours = given.get("hours") or 0
            if not 1 <= hours <= MAX_HOURS:
                raise InvalidInput(reason=f"hours must be from 1 to {MAX_HOURS}.", field="trigger.hours")
            return {"kind": "missed_reply", "hours": hours}
        case TriggerKind.birthday:
            field = await _date_field(unit, given.get("field") or "")
            return {"kind": "birthday", "field": field, "minute": _minute(given)}
        case TriggerKind.schedule:  # pragma: no branch - no kind is left
            days = _weekdays(given.get("weekdays"))
            return {"kind": "schedule", "minute": _minute(given), "weekdays": days}


def describe(trigger: Trigger) -> str:
    """Return a trigger in words."""
    match trigger["kind"]:
        case "event":
            where = [f"{each['field']} {each['op']} {each['value']}" for each in trigger["where"]]
            return " and ".join([f"the event {trigger['event']}", *where])
        case "missed_reply":
            return f"a contact waits {trigger['hours']} hours for a reply"
        case "birthday":
            return f"{trigger['field']} is today, at {_clock(trigger['minute'])}"
        case "schedule":  # pragma: no branch - no kind is left
            days = [DAYS[day - 1] for day in trigger["weekdays"]]
            return f"{'every day' if len(days) == len(DAYS) else ', '.join(days)} at {_clock(trigger['minute'])}"


def find_clock(trigger: Mapping[str, Any]) -> str | None:
    """Return the time of the day of a trigger, as callers write it; None for one without."""
    return _clock(trigger["minute"]) if "minute" in trigger else trigger.get("at")


def find_weekdays(trigger: Mapping[str, Any]) -> list[Weekday] | None:
    """Return the days of a stored trigger; None for one without."""
    return [EVERY_DAY[day - 1] for day in trigger["weekdays"]] if "weekdays" in trigger else None


def matches(trigger: EventTrigger, payload: Mapping[str, object]) -> bool:
    """Return whether the payload of an event satisfies the conditions on it."""
    return all(_holds(each, payload) for each in trigger["where"])


def next_at(trigger: Trigger, now: datetime, zone: str | None) -> datetime | None:
    """Return the next time at which a trigger looks for contacts, in the zone of the account; None for an event."""
    match trigger["kind"]:
        case "event":
            return None
        case "missed_reply":
            return now + LOOK_EVERY
        case _:
            return _next_time(trigger, now, ZoneInfo(zone or "UTC"))


def find_days(trigger: BirthdayTrigger | ScheduleTrigger, at: datetime, now: datetime, zone: str | None) -> Days:
    """Return the days of a trigger from that of `at` on whose time has come, the oldest first.

    `at` is what `next_at` returned. The last late day of a schedule, for every contact, stands for all of them.
    """
    there = ZoneInfo(zone or "UTC")
    today = now.astimezone(there).date()
    first = max(_day_of(trigger, at, there), today - RECORDED)
    days = [day for day in _days_from(first, (today - first).days + 1) if _is_on(trigger, day)]
    times = {day: time for day in days if (time := _time_on(trigger, day, there, now)) <= now}
    late = [day for day, time in times.items() if now - time > GRACE[trigger["kind"]]]
    due = [day for day in times if day not in late]
    return Days(due, late[-1:] if trigger["kind"] == "schedule" else late)


def move(trigger: Trigger, at: datetime, former: str | None, zone: str | None) -> datetime:
    """Return the time of a trigger in a zone on the day that `at` has in the former one."""
    if trigger["kind"] == "birthday" or trigger["kind"] == "schedule":
        return _time_on(trigger, _day_of(trigger, at, ZoneInfo(former or "UTC")), ZoneInfo(zone or "UTC"), at)
    return at


def _next_time(trigger: BirthdayTrigger | ScheduleTrigger, now: datetime, zone: ZoneInfo) -> datetime:
    yesterday = now.astimezone(zone).date() - DAY
    times = (_time_on(trigger, each, zone, now) for each in _days_from(yesterday, 10) if _is_on(trigger, each))
    return next(each for each in times if each > now)


def _days_from(first: date, count: int) -> list[date]:
    return [first + timedelta(days=after) for after in range(count)]


def _day_of(trigger: BirthdayTrigger | ScheduleTrigger, at: datetime, zone: ZoneInfo) -> date:
    """Return the day of a time of a trigger. One that clocks leave out before midnight is on the next date."""
    day = at.astimezone(zone).date()
    return day - DAY if _time_on(trigger, day - DAY, zone, at) >= at else day


def _is_on(trigger: BirthdayTrigger | ScheduleTrigger, day: date) -> bool:
    return trigger["kind"] == "birthday" or day.isoweekday() in trigger["weekdays"]


def _time_on(trigger: BirthdayTrigger | ScheduleTrigger, day: date, zone: ZoneInfo, now: datetime) -> datetime:
    """Return the time of a trigger on a day of a zone, in the time zone of `now`."""
    return datetime.combine(day, time(*divmod(trigger["minute"], 60)), zone).astimezone(now.tzinfo)


def _weekdays(given: Sequence[Weekday] | None) -> list[int]:
    return sorted({EVERY_DAY.index(day) + 1 for day in given or EVERY_DAY})


def _event(name: str | None) -> str:
    known = [each.name for each in EVENTS.values() if each.subscribable]
    if name not in known:
        raise InvalidInput(reason=f"event must be one of {', '.join(sorted(known))}.", field="trigger.event")
    return name


def _where(event: str, given: Sequence[Comparison]) -> list[Comparison]:
    if len(given) > MAX_CONDITIONS:
        raise InvalidInput(reason=f"A trigger has at most {MAX_CONDITIONS} conditions.", field="trigger.where")
    for place, each in enumerate(given):
        if each["field"] not in (known := EVENTS[event].keys):
            reason = f"field must be one of {', '.join(known)}, those of the event {event}."
            raise InvalidInput(reason=reason, field=f"trigger.where[{place}].field")
        if len(each["value"]) > MAX_VALUE:
            reason = f"value must have at most {MAX_VALUE} characters."
            raise InvalidInput(reason=reason, field=f"trigger.where[{place}].value")
    return [{"field": each["field"], "op": each["op"], "value": each["value"]} for each in given]


def _holds(condition: Comparison, payload: Mapping[str, object]) -> bool:
    value, wanted = str(payload.get(condition["field"], "")).casefold(), condition["value"].casefold()
    match condition["op"]:
        case EventOperator.eq:
            return value == wanted
        case EventOperator.ne:
            return value != wanted
        case EventOperator.contains:
            return wanted in value
        case _:
            return value.startswith(wanted)


async def _date_field(unit: UnitOfWork, key: str) -> str:
    dates = [each.key for each in await custom_fields.list_all(unit) if each.type == CustomFieldType.date]
    if key not in dates:
        there = f"There are: {', '.join(dates)}." if dates else "Create one with create_custom_field."
        raise InvalidInput(reason=f"field must be a custom field of the type date. {there}", field="trigger.field")
    return key


def _minute(given: GivenTrigger) -> int:
    return minute_of(given.get("at") or "10:00", "trigger.at") % (24 * 60)


def _clock(minute: int) -> str:
    return "{:02}:{:02}".format(*divmod(minute, 60))
