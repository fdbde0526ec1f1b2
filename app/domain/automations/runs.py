"""Start runs of automations: for events, and for contacts that are found at a time."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import orjson
from sqlalchemy import select, text, update

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.accounts import queries as accounts
from app.domain.automations import queries, triggers
from app.domain.automations.keywords import is_reserved
from app.domain.automations.models import LATE, Automation, AutomationStatus, RunStatus
from app.domain.automations.shapes import (
    Action,
    AskAction,
    BirthdayTrigger,
    EventTrigger,
    ScheduleTrigger,
    SendAction,
)
from app.domain.consent.recognition import NOTHING
from app.domain.contacts import sql as contacts
from app.domain.conversations import sql as conversations
from app.domain.events import sql as events
from app.domain.events.reactions import Batch, OutboxEvent
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import intents
from app.domain.messages import sql as messages
from app.domain.messages.opt_in_questions import Asked
from app.domain.segments import filters
from app.domain.segments.compiling import Compiler

TOPIC = "automations"
CAUSE = "automation-run/"
"""The beginning of the request id of the events that the actions of a run cause; the id of the run follows."""

LABEL = "automation:"
MAX_DEPTH, MAX_DAILY = 5, 20
"""The most automations in a chain, and runs of a contact in 24 hours; those that are skipped as late do not count."""

FIND_TRIGGERED = """
SELECT id, account_id, event, trigger, actions, active_since FROM automations
WHERE account_id = ANY($1::bigint[]) AND event = ANY($2::text[]) AND status = 'active' ORDER BY id
"""
FIND_CHAINS = (
    "SELECT id, chain || coalesce(automation_id, 0) AS chain FROM automation_runs WHERE id = ANY($1::bigint[])"
)

START = f"""
INSERT INTO automation_runs (account_id, automation_id, contact_id, key, chain, payload, actions, conditions, results,
  due_at)
SELECT $1, $2::bigint, c.id, $4, $5::bigint[], $6::jsonb, $7::jsonb, '[]', '[]', $8::timestamptz
FROM (SELECT $3::bigint AS contact_id) AS wanted {contacts.join("wanted.contact_id")}
WHERE (SELECT count(*) FROM automation_runs r WHERE r.contact_id = c.id AND r.reason <> '{LATE}'
  AND r.created_at > $8::timestamptz - interval '1 day') < {MAX_DAILY}
ON CONFLICT (automation_id, contact_id, key) DO NOTHING
"""

START_MANY = """
INSERT INTO automation_runs (account_id, automation_id, contact_id, key, payload, actions, conditions, results, due_at,
  status, reason, ended_at)
SELECT c.account_id, :automation_id, c.id, {key}, '{{}}', CAST(:actions AS jsonb), '[]', '[]',
  CAST(:due_at AS timestamptz), CAST(:status AS text), CAST(:reason AS text), CAST(:ended_at AS timestamptz)
FROM {source} WHERE c.account_id = :account_id AND ({which})
  AND (SELECT count(*) FROM automation_runs r WHERE r.contact_id = c.id AND r.reason <> :late
    AND r.created_at > CAST(:now AS timestamptz) - interval '1 day') < :most
ON CONFLICT (automation_id, contact_id, key) DO NOTHING
"""

FIND_DUE_ACCOUNTS = """
SELECT DISTINCT account_id FROM automations WHERE status = 'active' AND next_at <= $1 LIMIT 100
"""


class Search(NamedTuple):
    """A source of contacts `c`, the condition on them, the key of their runs, and the parameters of these.

    It is too late for the runs of one that `is_late`: they are recorded as skipped.
    """

    source: str
    which: str
    key: str
    values: dict[str, Any]
    is_late: bool = False


class Triggered(NamedTuple):
    """An automation that waits for an event."""

    id: int
    account_id: int
    event: str
    trigger: EventTrigger
    actions: list[Action]
    active_since: datetime


async def start_runs(batch: Batch) -> None:
    """Start the runs of automations that the events of a batch trigger.

    Opt-outs, and texts that may be one, start none. A run that an automation caused, directly or through others,
    starts no other run of it; neither do texts of automations, and chains end after `MAX_DEPTH`.
    """
    said = await intents.find_all(batch)
    free = [event for event in batch.events if not is_reserved(said.get(event.id, NOTHING))]
    about = [event for event in free if event.contact_id is not None]
    if not about:
        return
    accounts, names = [event.account_id for event in about], [event.name for event in about]
    found = await fetch(batch.connection, Triggered, FIND_TRIGGERED, accounts, names)
    wanted = [(event, each) for event in about for each in found if _is_for(each, event)]
    if not wanted:
        return
    chains = await _find_chains(batch.connection, [event for event, _ in wanted])
    for event, automation in wanted:
        chain = chains.get(event.id, [])
        if chain is not None and automation.id not in chain and len(chain) < MAX_DEPTH:
            await _start(batch, event, automation, chain)
    batch.notify(TOPIC)


async def start_one(unit: UnitOfWork, automation_id: int, contact_id: int, key: str) -> bool:
    """Start a run of an active automation for a contact, whatever its trigger is, once for each key.

    Its conditions are checked as those of other runs. Returns False where the contact has had its runs of the day.
    Raises `NotFound`, and `Conflict` for a paused automation.
    """
    automation = await queries.get_automation(unit, automation_id)
    if automation.status != AutomationStatus.active:
        raise Conflict(reason=f"The automation {automation.name} is paused. Activate it first.")
    statement = f"{START_MANY.format(key=':key', source=contacts.SOURCE, which='c.id = :contact_id')} RETURNING id"
    facts = {"key": key, "contact_id": contact_id, "automation_id": automation.id, "account_id": automation.account_id}
    actions = {"actions": orjson.dumps(automation.actions).decode(), "now": unit.clock.now(), "most": MAX_DAILY}
    started = (await unit.execute(text(statement), facts | actions | _state(unit.clock.now()))).one_or_none()
    unit.notify(TOPIC)
    return started is not None


async def start_due(unit: UnitOfWork) -> int:
    """Start the runs of the account's automations whose time has come; return the number of these automations."""
    now = unit.clock.now()
    due = select(Automation).where(
        Automation.account_id == unit.actor.account_id,
        Automation.status == AutomationStatus.active,
        Automation.next_at <= now,
    )
    found = await unit.all(due.order_by(Automation.id).with_for_update(skip_locked=True))
    zone = (await accounts.get_own(unit)).time_zone
    for automation in found:
        for search in _searches(automation, now, zone):
            await _start_many(unit, automation, search)
        later = triggers.next_at(automation.trigger, now, zone)
        await unit.execute(update(Automation).where(Automation.id == automation.id).values(next_at=later))
    if found:
        unit.notify(TOPIC)
    return len(found)


async def reply(batch: Batch, event: OutboxEvent, keyword_id: int, body: str) -> None:
    """Start the run that sends the reply of a keyword."""
    await _start_own(batch, event, keyword_id, {"kind": "send", "body": body, "is_reply": True})


async def ask_opt_in(batch: Batch, event: OutboxEvent, keyword_id: int, asked: Asked) -> None:
    """Start the run that asks the sender of a text to confirm an opt-in."""
    await _start_own(
        batch,
        event,
        keyword_id,
        {"kind": "ask_opt_in", "message_id": asked.message_id, "keyword": asked.keyword, "tag": asked.tag},
    )


async def _start_own(batch: Batch, event: OutboxEvent, keyword_id: int, action: SendAction | AskAction) -> None:
    actions: list[Action] = [action]
    key = f"keyword/{keyword_id}/{event.id}"
    await batch.connection.execute(
        START, event.account_id, None, event.contact_id, key, list[int](), event.payload, actions, batch.now
    )
    batch.notify(TOPIC)


async def _start(batch: Batch, event: OutboxEvent, automation: Triggered, chain: Sequence[int]) -> None:
    key, facts = f"event/{event.id}", (event.payload, automation.actions, batch.now)
    await batch.connection.execute(START, event.account_id, automation.id, event.contact_id, key, chain, *facts)


async def _start_many(unit: UnitOfWork, automation: Automation, found: Search) -> None:
    now = unit.clock.now()
    compiler = Compiler(now)
    which = compiler.compile(filters.load(automation.filter)) if automation.filter else "true"
    statement = START_MANY.format(key=found.key, source=found.source, which=f"({which}) AND {found.which}")
    common = {"automation_id": automation.id, "account_id": unit.actor.account_id, "most": MAX_DAILY}
    payload = {"actions": orjson.dumps(automation.actions).decode(), "now": now, **_state(now, is_late=found.is_late)}
    await unit.execute(text(statement), compiler.parameters | common | payload | found.values)


def _state(now: datetime, *, is_late: bool = False) -> dict[str, Any]:
    """Return the state of a run that starts or is skipped now, and `late`, the reason that counts in no limit."""
    if is_late:
        return {"due_at": None, "status": RunStatus.skipped, "reason": LATE, "ended_at": now, "late": LATE}
    return {"due_at": now, "status": RunStatus.running, "reason": "", "ended_at": None, "late": LATE}


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
        return Search(contacts.SOURCE, "true", ":key", {"key": f"schedule/{day}"})
    stands_for_29th = (day.month, day.day) == (2, 28) and (day + timedelta(days=1)).month == 3
    days = ["02-28", "02-29"] if stands_for_29th else [f"{day:%m-%d}"]
    values = {"key": f"birthday/{day.year}", "field": trigger["field"], "days": days}
    return Search(contacts.SOURCE, "right(c.custom_fields ->> :field, 5) = ANY(:days)", ":key", values)


async def _find_chains(connection: Connection, about: Sequence[OutboxEvent]) -> dict[int, list[int] | None]:
    """Return the automations that led to events, by event; None for one about a text of an automation."""
    rows = await connection.fetch(events.FIND_CAUSES, [event.id for event in about], CAUSE)
    runs = {row["id"]: int(row["request_id"].removeprefix(CAUSE)) for row in rows}
    found = {row["id"]: row["chain"] for row in await connection.fetch(FIND_CHAINS, [*runs.values()])}
    chains: dict[int, list[int] | None] = {event: found.get(run, []) for event, run in runs.items()}
    texts = {event.payload["message_id"]: event.id for event in about if "message_id" in event.payload}
    for row in await connection.fetch(messages.FIND_OF_ACTOR, [*texts], LABEL):
        chains[texts[row["id"]]] = None
    return chains


def _is_for(automation: Triggered, event: OutboxEvent) -> bool:
    return (
        automation.account_id == event.account_id
        and automation.event == event.name
        and automation.active_since <= event.created_at
        and triggers.matches(automation.trigger, event.payload)
    )
