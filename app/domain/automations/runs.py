"""Start runs of automations: for events, and for contacts that are found at a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import text

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.automations import queries, triggers
from app.domain.automations.keywords import is_reserved
from app.domain.automations.models import LATE, AutomationStatus, RunStatus
from app.domain.automations.shapes import (
    Action,
    AskAction,
    EventTrigger,
    SendAction,
)
from app.domain.consent.recognition import NOTHING
from app.domain.contacts import sql as contacts
from app.domain.events import sql as events
from app.domain.events.reactions import Batch, OutboxEvent
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import intents
from app.domain.messages import sql as messages
from app.domain.messages.opt_in_questions import Asked

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
    started = (await unit.execute(text(statement), facts | actions | state_of(unit.clock.now()))).one_or_none()
    unit.notify(TOPIC)
    return started is not None


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


def state_of(now: datetime, *, is_late: bool = False) -> dict[str, Any]:
    """Return the state of a run that starts or is skipped now, and `late`, the reason that counts in no limit."""
    if is_late:
        return {"due_at": None, "status": RunStatus.skipped, "reason": LATE, "ended_at": now, "late": LATE}
    return {"due_at": now, "status": RunStatus.running, "reason": "", "ended_at": None, "late": LATE}


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
