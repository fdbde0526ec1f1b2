"""Start the runs of automations whose time has come, for some contacts at a time."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Select, select, text

from app.domain.accounts import queries as accounts
from app.domain.automations import runs, triggers
from app.domain.automations.models import Automation, AutomationStatus
from app.domain.automations.shapes import BirthdayTrigger, ScheduleTrigger
from app.domain.contacts import sql as contacts
from app.domain.conversations import sql as conversations
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters
from app.domain.segments.compiling import Compiler

AT_ONCE = 5000
"""The number of contacts that one transaction looks at."""

FIND_DUE_ACCOUNTS = """
SELECT DISTINCT account_id FROM automations WHERE status = 'active' AND next_at <= $1 LIMIT 100
"""

OpenUnit = Callable[[], AbstractAsyncContextManager[UnitOfWork]]


class Search(NamedTuple):
    """A source of contacts `c`, the condition on them, the key of their runs, and the parameters of these.

    It is too late for the runs of one that `is_late`: they are recorded as skipped. One that `is_walked` may find any
    contact: it goes through all of them, some at a time.
    """

    source: str
    which: str
    key: str
    values: dict[str, Any]
    is_late: bool = False
    is_walked: bool = False


class Due(NamedTuple):
    """An automation whose time `next_at` had come at `at`."""

    id: int
    next_at: datetime
    at: datetime


class Place(NamedTuple):
    """The place from which the contacts of an automation are looked for: the number of a search, and a phone in it."""

    search: int = 0
    after: str = ""
    is_end: bool = False


class Next(NamedTuple):
    """The number of the next contacts that are looked at, and the last phone of them."""

    contacts: int
    last: str | None


async def start_due(open_unit: OpenUnit) -> int:
    """Start the runs of an account's automations whose time has come; return the number of these automations.

    Each part commits on its own. After a failure all parts are repeated, since the time of the automation is moved with
    the last one; a contact has one run for a key, so that no run starts twice.
    """
    async with open_unit() as unit:
        found = await unit.rows(_select_due(unit).with_only_columns(Automation.id, Automation.next_at))
        due = [Due(id, next_at, unit.clock.now()) for id, next_at in found if next_at]
    return sum([await _start(open_unit, each) for each in due])


async def _start(open_unit: OpenUnit, due: Due) -> bool:
    """Start the runs of an automation; return False where it was changed, or another worker starts them."""
    place: Place | None = Place()
    while place is not None and not place.is_end:
        async with open_unit() as unit:
            place = await _start_part(unit, due, place)
    return place is not None


async def _start_part(unit: UnitOfWork, due: Due, place: Place) -> Place | None:
    """Start the runs of some contacts; return the place of the next ones, None where the automation was changed.

    The first part leaves an automation to another worker that starts its runs; later ones wait for changes of it.
    """
    unchanged = _select_due(unit).where(Automation.id == due.id, Automation.next_at == due.next_at)
    is_first = place == Place()
    automation = await unit.one(unchanged.with_for_update(key_share=True, skip_locked=is_first))
    if automation is None:
        return None
    zone = (await accounts.get_own(unit)).time_zone
    searches = _searches(automation, due.at, zone)
    unit.notify(runs.TOPIC)
    if place.search < len(searches):
        place = await _start_some(unit, automation, searches[place.search], due.at, place)
    if place.search < len(searches):
        return place
    automation.next_at = triggers.next_at(automation.trigger, due.at, zone)
    await unit.save(automation)
    return place._replace(is_end=True)


def _select_due(unit: UnitOfWork) -> Select[Automation]:
    return (
        select(Automation)
        .where(
            Automation.account_id == unit.actor.account_id,
            Automation.status == AutomationStatus.active,
            Automation.next_at <= unit.clock.now(),
        )
        .order_by(Automation.id)
    )


async def _start_some(unit: UnitOfWork, automation: Automation, search: Search, now: datetime, place: Place) -> Place:
    """Start the runs of a search, for the next contacts after a place if it is walked; return the place after them."""
    if not search.is_walked:
        await _start_many(unit, automation, search, now)
        return Place(place.search + 1)
    values = {"account_id": unit.actor.account_id, "after": place.after, "limit": AT_ONCE}
    found = Next._make((await unit.execute(text(contacts.FIND_LAST), values)).one())
    if found.last is not None:
        which = f"{search.which} AND c.phone > :after AND c.phone <= :last"
        within = search._replace(which=which, values=search.values | {"after": place.after, "last": found.last})
        await _start_many(unit, automation, within, now)
        if found.contacts == AT_ONCE:
            return Place(place.search, found.last)
    return Place(place.search + 1)


async def _start_many(unit: UnitOfWork, automation: Automation, found: Search, now: datetime) -> None:
    compiler = Compiler(now)
    which = compiler.compile(filters.load(automation.filter)) if automation.filter else "true"
    statement = runs.START_MANY.format(key=found.key, source=found.source, which=f"({which}) AND {found.which}")
    common = {"automation_id": automation.id, "account_id": unit.actor.account_id, "most": runs.MAX_DAILY}
    payload = {"actions": orjson.dumps(automation.actions).decode(), "now": now}
    values = common | payload | runs.state_of(now, is_late=found.is_late)
    await unit.execute(text(statement), compiler.parameters | values | found.values)


def _searches(automation: Automation, now: datetime, zone: str | None) -> Sequence[Search]:
    """Return the searches for the contacts of an automation that is due, one for each day."""
    trigger = automation.trigger
    match trigger:
        case {"kind": "missed_reply"}:
            waits = conversations.waits_since(
                "CAST(:now AS timestamptz) - CAST(:hours AS interval)", "interval '1 day'"
            )
            source = f"{conversations.WAITING} {contacts.join('v.contact_id')}"
            return [Search(source, waits, conversations.WAITING_KEY, {"hours": timedelta(hours=trigger["hours"])})]
        case {"kind": "birthday"} | {"kind": "schedule"} if automation.next_at:
            days = triggers.find_days(trigger, automation.next_at, now, zone)
            late = [_search_on(trigger, day)._replace(is_late=True) for day in days.late]
            return [*late, *(_search_on(trigger, day) for day in days.due)]
        case _:
            return []


def _search_on(trigger: BirthdayTrigger | ScheduleTrigger, day: date) -> Search:
    """Return the search for the contacts of a day. In other than leap years, 29 February is on the 28th."""
    if trigger["kind"] == "schedule":
        return Search(contacts.SOURCE, "true", ":key", {"key": f"schedule/{day}"}, is_walked=True)
    stands_for_29th = (day.month, day.day) == (2, 28) and (day + timedelta(days=1)).month == 3
    days = ["02-28", "02-29"] if stands_for_29th else [f"{day:%m-%d}"]
    values = {"key": f"birthday/{day.year}", "field": trigger["field"], "days": days}
    return Search(contacts.SOURCE, "right(c.custom_fields ->> :field, 5) = ANY(:days)", ":key", values, is_walked=True)
