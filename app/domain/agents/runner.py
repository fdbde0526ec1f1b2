"""Runs agents: claims due runs, decides, drafts with no transaction open, and sends.

The draft and the end of its paid call are stored in one transaction. A worker that dies before it decides again; one
that dies after it sends the stored draft, once.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import Update, update

from app.db import claims
from app.db.engine import Database
from app.domain.accounts import queries as accounts
from app.domain.accounts.models import AccountStatus
from app.domain.agents import pipeline, queries, situations
from app.domain.agents.conclusions import LEASE, activate, conclude, drop, end, leave_to_later
from app.domain.agents.delivery import Delivery
from app.domain.agents.gates import Action, GateName, Verdict
from app.domain.agents.models import AgentRun, Outcome, RunStatus
from app.domain.agents.pipeline import Decision
from app.domain.billing import service as billing
from app.domain.billing.service import InsufficientCredits
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import NotFound
from app.domain.kernel.sql import find_turns, take_turns
from app.domain.kernel.turn_cursor import TurnCursor
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages.acceptor import SendAcceptor
from app.domain.writing import calls
from app.domain.writing.drafting import Writers
from app.domain.writing.errors import TooManyCalls
from app.domain.writing.models import CallKind

TOPIC = "ai_agents"
MOST_ATTEMPTS, MOST_FAULTS, BUSY = 3, 10, timedelta(seconds=10)

_DUE = """
FROM ai_agent_runs t WHERE t.status <> 'done'
  AND CASE WHEN t.status = 'waiting' THEN t.due_at ELSE t.claimed_until END <= $1
"""
FIND_TURNS = find_turns("ai_agent_runs", "account_id", "status <> 'done'")
CLAIM = f"""
WITH {take_turns("account_id", _DUE)}
UPDATE ai_agent_runs r SET status = CASE WHEN r.status = 'waiting' THEN 'running' ELSE r.status END,
  claimed_until = $2, attempts = r.attempts + 1
FROM locked WHERE r.id = locked.id RETURNING r.id, r.account_id, r.status, r.attempts, r.claimed_until
"""
IS_DUE = f"SELECT EXISTS (SELECT {_DUE})"
RELEASE = "UPDATE ai_agent_runs SET claimed_until = now() WHERE id = ANY($1::bigint[]) AND status <> 'done'"


class DueRun(NamedTuple):
    """A claimed run."""

    id: int
    account_id: int
    status: str
    attempts: int
    claimed_until: datetime


@dataclass(frozen=True, slots=True)
class AgentRunner:
    """Runs agents; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    writers: Writers
    clock: Clock
    notify: Notify
    batch: int = 16
    _turns: TurnCursor = field(init=False, default_factory=partial(TurnCursor, FIND_TURNS))

    async def run(self) -> bool:
        """Run one batch of due runs; return True when more may be due."""
        now = self.clock.now()
        rows = await claims.claim(
            self.database.pool,
            DueRun,
            CLAIM,
            now,
            now + self._lease,
            self.batch,
            await self._turns.find(self.database.pool),
            give_back=self._release,
            seconds=self._lease.total_seconds(),
        )
        results = await asyncio.gather(*map(self._handle, rows), return_exceptions=True)
        if problems := [each for each in results if isinstance(each, BaseException)]:
            raise problems[0]
        return len(rows) == self.batch

    @property
    def _lease(self) -> timedelta:
        """Return the duration of a claim, which is longer than that of a draft."""
        return LEASE + timedelta(seconds=self.writers.seconds)

    async def due(self) -> bool:
        """Return whether a run is due."""
        return await self.database.pool.fetchval(IS_DUE, self.clock.now())

    async def _release(self, rows: Sequence[DueRun]) -> None:
        await self.database.pool.execute(RELEASE, [row.id for row in rows])

    async def _handle(self, row: DueRun) -> None:
        """Decide on a run and send its text; a run that fails again and again for a fault of the service ends."""
        try:
            await self._attempt(row)
        except Exception:
            if row.attempts >= MOST_FAULTS:
                await self._fail(row, "The service could not finish it.")
            raise

    async def _fail(self, row: DueRun, reason: str) -> None:
        async with self._unit(row) as unit:
            run = await queries.get_run(unit, row.id, lock=True)
            if run.status != RunStatus.done:
                end(unit, run, Outcome.failed)
                run.reason = reason
                await unit.save(run)

    async def _attempt(self, row: DueRun) -> None:
        if row.status != RunStatus.sending and not await self._decide(row):
            return
        await Delivery(self.database, self.acceptor, self.clock, self.notify).send(row.account_id, row.id)

    async def _decide(self, row: DueRun) -> bool:
        """Decide on a run, and return whether it has a text to send."""
        async with self._unit(row) as unit:
            run = await queries.lock_run(unit, row.id)
            if await leave_to_later(unit, run):
                end(unit, run, Outcome.superseded)
                await unit.save(run)
                return False
            if (await accounts.get_own(unit)).status != AccountStatus.active:
                await self._put_off(unit, row.id)
                return False
            situation = await situations.read(unit, run)
            if situation is None:
                await drop(unit, run)
                return False
            decision = await pipeline.consider(unit, self.writers, situation)
            if row.attempts > MOST_ATTEMPTS:
                failed = Verdict(GateName.provider, Action.hand_over, "The draft was interrupted several times.")
                decision = replace(decision, verdicts=[*decision.verdicts, failed], brief=None, text=None)
            if decision.verdict is None:
                await activate(unit, run, situation.agent)
                run.agent_id = situation.agent.id
                await unit.save(run)
            if decision.brief is None or decision.verdict:
                return (await conclude(unit, run, situation.agent, decision)).status == RunStatus.sending
        return await self._write(row, situation.agent.id, decision)

    async def _write(self, row: DueRun, agent_id: int, decision: Decision) -> bool:
        """Pay for a draft, have it written, and store it; one whose claim was lost meanwhile is refunded."""
        async with self._unit(row) as unit:
            try:
                call_id = await calls.begin(unit, self.writers, CallKind.agent)
            except (TooManyCalls, InsufficientCredits):
                await self._put_off(unit, row.id)
                return False
        decision = await pipeline.write(self.writers, decision)
        assert decision.drafted
        async with self._unit(row) as unit:
            await billing.lock(unit)
            try:
                run, agent = await queries.lock_run(unit, row.id), await queries.get(unit, agent_id)
            except NotFound:  # the contact was erased, or the agent deleted: then another one may answer
                await calls.end(unit, call_id, decision.drafted, is_paid=False)
                await unit.execute(_give_back(row, self.clock.now()))
                return False
            is_own = _is_own(run, row)
            is_paid = is_own and decision.text is not None
            ended = await calls.end(unit, call_id, decision.drafted, is_paid=is_paid)
            if not is_own:
                return False
            run.call_id, run.credits = call_id, ended.credits
            return (await conclude(unit, run, agent, decision)).status == RunStatus.sending

    async def _put_off(self, unit: UnitOfWork, run_id: int) -> None:
        run = await queries.get_run(unit, run_id, lock=True)
        run.claimed_until, run.attempts, run.agent_id = self.clock.now() + BUSY, run.attempts - 1, None
        if run.created_at < self.clock.now() - timedelta(hours=1):
            end(unit, run, Outcome.failed)
            run.reason = "No call of the AI was possible within an hour, or the account was suspended."
        await unit.save(run)

    def _unit(self, row: DueRun) -> AbstractAsyncContextManager[UnitOfWork]:
        return open_unit(self.database.sessions, Actor(row.account_id, frozenset(), "system"), self.clock, self.notify)


def _give_back(row: DueRun, now: datetime) -> Update:
    """Return the statement that lets a run be claimed again at once, if the claim still holds."""
    own = AgentRun.account_id == row.account_id, AgentRun.id == row.id, AgentRun.claimed_until == row.claimed_until
    return update(AgentRun).where(*own, AgentRun.status == RunStatus.running).values(claimed_until=now)


def _is_own(run: AgentRun, row: DueRun) -> bool:
    """Return whether the claim still holds: no other worker has decided meanwhile."""
    return run.status == RunStatus.running and run.claimed_until == row.claimed_until
