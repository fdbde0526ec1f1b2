"""Executes runs: their conditions, then one action after another, each at most once.

A run is claimed and the claim committed. A change of rows and the advance to the next action are one transaction, so
that a repetition after a crash finds the run behind that action. A text has an idempotency key made of the run and the
action: a repetition gets the stored answer. An action that fails for a passing reason is tried again after `WAITS`;
then it counts as refused, and a run that fails for a reason of the service's own ends.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import orjson
from sqlalchemy import text, update

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.automations import actions
from app.domain.automations.models import NEW_PHONE, PAUSED, AutomationRun, AutomationStatus, RunOutcome, RunStatus
from app.domain.automations.runs import CAUSE, LABEL
from app.domain.automations.shapes import Action, AskAction, SendAction, WaitAction
from app.domain.contacts import placeholders
from app.domain.contacts import sql as contacts
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.sql import find_turns, take_turns
from app.domain.kernel.turn_cursor import TurnCursor
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import opt_in_questions
from app.domain.messages import sql as messages
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.opt_in_questions import Asked
from app.domain.messages.requests import Condition, Send
from app.domain.segments import explaining, filters
from app.domain.templates import sql as templates
from app.domain.templates.rendering import compiled

LEASE = timedelta(minutes=1)
WAITS = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
"""The waits after an action did not succeed, before it is tried again."""

MAX_REASON, INTERNAL = 500, "The service could not execute the next action."

_DUE = """
FROM automation_runs t WHERE t.due_at <= $1 AND (t.claimed_until IS NULL OR t.claimed_until <= $1)
"""
FIND_TURNS = find_turns("automation_runs", "account_id", "due_at IS NOT NULL")
CLAIM = f"""
WITH {take_turns("account_id", _DUE)}, claimed AS (
  UPDATE automation_runs r SET claimed_until = $2 FROM locked WHERE r.id = locked.id RETURNING r.*
)
SELECT r.id, r.account_id, r.automation_id, r.contact_id, r.position, r.actions, r.claimed_until,
  u.filter, coalesce(u.status, 'active') AS automation_status,
  {contacts.has_new_phone("r.created_at")} AS has_new_phone, {contacts.placeholders(contacts.PLACEHOLDERS)},
  a.company_name, {templates.fallbacks_of("r.account_id")} AS fallbacks
FROM claimed r LEFT JOIN automations u ON u.id = r.automation_id
{contacts.join("r.contact_id")} {accounts.join("r.account_id")} ORDER BY r.due_at, r.id
"""
IS_DUE = f"SELECT EXISTS (SELECT {_DUE})"
RELEASE = "UPDATE automation_runs SET claimed_until = NULL, due_at = $3 WHERE id = $1 AND claimed_until = $2"
COUNT_ATTEMPT = """
UPDATE automation_runs SET attempts = attempts + 1, reason = $3 WHERE id = $1 AND claimed_until = $2
RETURNING attempts, position
"""

HOLD_AUTOMATION = "SELECT status FROM automations WHERE id = :id FOR SHARE"
"""Makes a pause wait for the end of the transaction; it then finds the run that waits, and cancels it."""

_FIND_UNCHANGED = f"""
SELECT r.id FROM automation_runs r LEFT JOIN automations u ON u.id = r.automation_id {contacts.join("r.contact_id")}
WHERE r.id = ANY($1::bigint[]) AND r.ended_at IS NULL AND coalesce(u.status, 'active') = 'active'
  AND NOT {contacts.has_new_phone("r.created_at")} AND {{which}}
ORDER BY r.id FOR SHARE OF r
"""
FIND_SENDABLE = _FIND_UNCHANGED.format(which="true")
_ANSWERS = f"{messages.has_written_last_from('r.contact_id', 'c.phone')} AND r.created_at > now() - interval '1 day'"
FIND_ANSWERABLE = _FIND_UNCHANGED.format(which=_ANSWERS)
"""Find the runs `$1` whose text answers one, and is therefore conversational: by the rule for replies of people."""

ADVANCE = """
UPDATE automation_runs SET position = position + 1, results = results || CAST(:result AS jsonb),
  attempts = 0, reason = '', due_at = CAST(:due_at AS timestamptz), status = :status,
  ended_at = CAST(:ended_at AS timestamptz),
  claimed_until = CASE WHEN :status = 'running' THEN claimed_until END
WHERE id = :id AND position = :position AND claimed_until = CAST(:claim AS timestamptz) RETURNING id
"""


class DueRun(NamedTuple):
    """A claimed run, with the filter of its automation and the values of placeholders."""

    id: int
    account_id: int
    automation_id: int | None
    contact_id: int
    position: int
    actions: list[Action]
    claimed_until: datetime
    filter: dict[str, Any] | None
    automation_status: str
    has_new_phone: bool
    first_name: str
    last_name: str
    email: str
    phone: str
    created_at: datetime
    custom_fields: dict[str, Any]
    company_name: str
    fallbacks: dict[str, str]

    @property
    def actor(self) -> Actor:
        """Return the actor of the actions; its request id is the cause of the events that they record."""
        label = f"{LABEL}{self.automation_id}" if self.automation_id else "keywords"
        return Actor(self.account_id, frozenset(), label, f"{CAUSE}{self.id}")


class Superseded(Exception):
    """Another process has claimed the run meanwhile."""


@dataclass(frozen=True, slots=True)
class AutomationRunner:
    """Executes due runs; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify
    batch: int = 32
    _turns: TurnCursor = field(init=False, default_factory=partial(TurnCursor, FIND_TURNS))

    async def run(self) -> bool:
        """Execute a batch of runs as far as they go; return True when more may be due.

        An error of one run delays no other run; the first is raised at the end, so that it is logged.
        """
        now = self.clock.now()
        claim = CLAIM, now, now + LEASE, self.batch, await self._turns.find(self.database.pool)
        rows = await claims.claim(self.database.pool, DueRun, *claim, give_back=self._give_back, seconds=LEASE.seconds)
        faults = [fault for row in rows if (fault := await self._attempt(row))]
        if faults:
            raise faults[0]
        return len(rows) == self.batch

    async def due(self) -> bool:
        """Return whether a run is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _attempt(self, row: DueRun) -> Exception | None:
        """Execute a run; return the fault of the service's own that put it off, or ended it."""
        try:
            await self._execute(row)
        except Superseded:
            return None
        except DomainError as refusal:
            await self._put_off(row, str(refusal), refusal)
        except Exception as fault:
            await self._put_off(row, INTERNAL)
            return fault
        return None

    async def _put_off(self, row: DueRun, reason: str, refusal: DomainError | None = None) -> None:
        """Try the next action of a run again later; after the last attempt refuse it, or end the run."""
        counted = await self.database.pool.fetchrow(COUNT_ATTEMPT, row.id, row.claimed_until, reason[:MAX_REASON])
        if counted is None:
            return
        now, attempts = self.clock.now(), int(counted["attempts"])
        if attempts <= len(WAITS):
            await self._go_on(row, now + WAITS[attempts - 1])
        elif refusal is None:
            await self._end(row, RunStatus.failed, reason)
        else:
            await self._refuse(row, counted["position"], refusal)
            await self._go_on(row, now)

    async def _go_on(self, row: DueRun, at: datetime) -> None:
        """Let a run go on at a time, or end it if its automation was paused since the claim."""
        async with self._unit(row) as unit:
            if await _is_paused(unit, row):
                await _end(unit, row, RunStatus.canceled, PAUSED)
            else:
                claimed = AutomationRun.id == row.id, AutomationRun.claimed_until == row.claimed_until
                await unit.execute(update(AutomationRun).where(*claimed).values(due_at=at, claimed_until=None))

    async def _execute(self, row: DueRun) -> None:
        if row.automation_status != "active":
            return await self._end(row, RunStatus.canceled, PAUSED)
        if row.has_new_phone:
            return await self._end(row, RunStatus.canceled, NEW_PHONE)
        if row.position == 0 and row.filter and not await self._check(row):
            return None
        for place in range(row.position, len(row.actions)):
            if not await self._act(row, place):
                return None
        return None

    async def _check(self, row: DueRun) -> bool:
        """Check the conditions of a run, and store the value that each found; end the run where they do not hold."""
        async with self._unit(row) as unit:
            found = await explaining.explain(unit, filters.load(row.filter or {}), row.contact_id, self.clock.now())
        shown = [{"condition": each.condition, "value": each.value, "holds": each.holds} for each in found.conditions]
        if not found.holds:
            await self._end(row, RunStatus.skipped, "conditions", conditions=shown)
            return False
        async with self._unit(row) as unit:
            await unit.execute(update(AutomationRun).where(AutomationRun.id == row.id).values(conditions=shown))
        return True

    async def _act(self, row: DueRun, place: int) -> bool:
        """Execute an action; return whether the next one follows at once."""
        action = row.actions[place]
        try:
            match action["kind"]:
                case "ask_opt_in":
                    await self._ask(row, place, action)
                case "send":
                    await self._send(row, place, action)
                case "wait":
                    await self._wait(row, place, action)
                    return False
                case _:
                    async with self._unit(row) as unit:
                        await self._advance(unit, row, place, RunOutcome.done)
                        await actions.perform(unit, row, action)
        except (Unavailable, Conflict):
            raise
        except DomainError as refusal:
            await self._refuse(row, place, refusal)
        return True

    async def _wait(self, row: DueRun, place: int, action: WaitAction) -> None:
        """Put the next action off, or end the run if its automation was paused since the claim."""
        async with self._unit(row) as unit:
            if await _is_paused(unit, row):
                await _end(unit, row, RunStatus.canceled, PAUSED)
                return
            until = self.clock.now() + timedelta(minutes=action["minutes"])
            await self._advance(unit, row, place, RunOutcome.waited, until=until)

    async def _ask(self, row: DueRun, place: int, action: AskAction) -> None:
        asked = Asked(action["message_id"], action["keyword"], action["tag"])
        async with self._unit(row) as unit:
            is_asked = await opt_in_questions.ask(unit, row.contact_id, asked)
            await self._advance(unit, row, place, RunOutcome.done if is_asked else RunOutcome.refused)

    async def _refuse(self, row: DueRun, place: int, refusal: DomainError) -> None:
        async with self._unit(row) as unit:
            await self._advance(unit, row, place, RunOutcome.refused, code=refusal.code, text=str(refusal))

    async def _send(self, row: DueRun, place: int, action: SendAction) -> None:
        template = compiled(action["body"], tuple(row.fallbacks.items()))
        body = template.render(placeholders.values(row._asdict(), row.custom_fields)).text
        is_reply = bool(action.get("is_reply"))
        send = Send(
            to=row.phone,
            body=body,
            consent_attested=True,
            idempotency_key=OwnKey("automation", row.id, place),
            purpose=Purpose.conversational if is_reply else Purpose.promotional,
            attestation=Attestation.enrollment,
            contact_id=row.contact_id,
            condition=Condition(_find_answerable if is_reply else _find_sendable, row.id),
        )
        accepted = await self.acceptor.accept(row.actor, send)
        async with self._unit(row) as unit:
            await self._advance(unit, row, place, RunOutcome.sent, message_id=accepted.message_id)

    async def _advance(
        self,
        unit: UnitOfWork,
        row: DueRun,
        place: int,
        outcome: RunOutcome,
        until: datetime | None = None,
        **facts: Any,
    ) -> None:
        """Record the result of an action and advance; raise `Superseded` if the run was advanced by another process."""
        now, is_last = self.clock.now(), place + 1 == len(row.actions)
        status = RunStatus.done if is_last else RunStatus.waiting if until else RunStatus.running
        result = {"action": actions.describe(row.actions[place]), "outcome": outcome, "at": now.isoformat(), **facts}
        values = {
            "id": row.id,
            "position": place,
            "claim": row.claimed_until,
            "result": orjson.dumps([result]).decode(),
            "status": status,
            "due_at": None if is_last else until or now,
            "ended_at": now if is_last else None,
        }
        if (await unit.execute(text(ADVANCE), values)).one_or_none() is None:
            raise Superseded

    async def _end(self, row: DueRun, status: RunStatus, reason: str, **facts: Any) -> None:
        async with self._unit(row) as unit:
            await _end(unit, row, status, reason, **facts)

    def _unit(self, row: DueRun) -> AbstractAsyncContextManager[UnitOfWork]:
        return open_unit(self.database.sessions, row.actor, self.clock, self.notify)

    async def _give_back(self, rows: Sequence[DueRun]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.claimed_until, self.clock.now())


async def _is_paused(unit: UnitOfWork, row: DueRun) -> bool:
    """Return whether the automation of a run is paused; it stays so, or active, until the end of the transaction."""
    held = await unit.execute(text(HOLD_AUTOMATION), {"id": row.automation_id})
    return held.scalar_one_or_none() == AutomationStatus.paused


async def _end(unit: UnitOfWork, row: DueRun, status: RunStatus, reason: str, **facts: Any) -> None:
    ended = {"status": status, "reason": reason, "ended_at": unit.clock.now(), **facts}
    claimed = AutomationRun.id == row.id, AutomationRun.claimed_until == row.claimed_until
    await unit.execute(update(AutomationRun).where(*claimed).values(**ended, due_at=None, claimed_until=None))


async def _find_sendable(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    return [row["id"] for row in await connection.fetch(FIND_SENDABLE, list(ids))]


async def _find_answerable(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    return [row["id"] for row in await connection.fetch(FIND_ANSWERABLE, list(ids))]
