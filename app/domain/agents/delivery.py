"""Sends the text of a run through the acceptor, at most once: its idempotency key is the run."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta

from app.db.engine import Connection, Database
from app.domain.accounts.errors import AccountSuspended
from app.domain.agents import queries
from app.domain.agents.conclusions import end, leave_to_later
from app.domain.agents.gates import WINDOW
from app.domain.agents.models import AgentRun, Outcome, RunStatus
from app.domain.contacts import queries as contacts
from app.domain.contacts import sql as contact_sql
from app.domain.conversations import queries as threads
from app.domain.conversations import sql as conversations
from app.domain.conversations.models import AiState
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import queries as messages
from app.domain.messages import sql
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import AGENT, Condition, Send
from app.domain.numbers import queries as numbers

RETRY = timedelta(seconds=30)

# An answer is not sent after a newer message, after a person has answered, after a pause, or by an agent whose answers
# need approval by now; the message of a hand-over not after a release; neither while the agent is paused, nor a day
# after the message, nor to a phone that did not write it. An approved draft is sent until the contact's last message is
# a day old, whatever else happened since.
FIND_SENDABLE = f"""
SELECT r.id FROM ai_agent_runs r JOIN ai_agents a ON a.id = r.agent_id {conversations.join("r.contact_id")}
  {contact_sql.join("r.contact_id")}
WHERE r.id = ANY($1::bigint[]) AND r.status = 'sending' AND CASE
  WHEN r.decided_by IS NOT NULL THEN {conversations.LAST_INBOUND} > now() - interval '{WINDOW.days} day'
  WHEN a.status <> 'active' OR r.created_at < now() - interval '{WINDOW.days} day' THEN false
  WHEN NOT {sql.has_written_last_from("r.contact_id", "c.phone")} THEN false
  WHEN r.outcome = 'handed_over' THEN {conversations.AI_STATE} = 'handed_over'
  ELSE a.mode = 'auto' AND {conversations.AI_STATE} = 'active'
    AND NOT {sql.has_inbound_after("r.contact_id", "r.message_id")} END
ORDER BY r.id FOR SHARE OF r, a
"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Sends the texts of runs; safe to run twice and to die anywhere."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify

    async def send(self, account_id: int, run_id: int) -> None:
        """Send the text of a `sending` run, and end the run; a temporary refusal is retried later."""
        actor = Actor(account_id, frozenset(), "system")
        async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
            run = await queries.get_run(unit, run_id)
            if run.status != RunStatus.sending:
                return
            send = await _request(unit, run)
            actor = Actor(account_id, frozenset(), f"{AGENT}{run.agent_id}")
        try:
            accepted = await self.acceptor.accept(actor, send)
        except DomainError as refusal:
            await self._refuse(account_id, run_id, refusal)
            return
        async with self._locked(account_id) as unit:
            run = await queries.get_run(unit, run_id, lock=True)
            if run.status == RunStatus.sending:
                outcome = Outcome.handed_over if run.outcome == Outcome.handed_over else Outcome.sent
                end(unit, run, outcome)
                run.sent_message_id = int(accepted.message_id)
                await unit.save(run)

    async def _refuse(self, account_id: int, run_id: int, refusal: DomainError) -> None:
        async with self._locked(account_id) as unit:
            run = await queries.get_run(unit, run_id, lock=True)
            if run.status != RunStatus.sending:
                return
            if isinstance(refusal, (Unavailable, AccountSuspended)):
                run.claimed_until = self.clock.now() + RETRY
            else:
                kept = Outcome.handed_over if run.outcome == Outcome.handed_over else None
                run.reason, run.gate = run.reason or str(refusal), run.gate or refusal.code
                outcome = kept or (Outcome.superseded if isinstance(refusal, Conflict) else Outcome.stopped)
                end(unit, run, outcome, is_left=outcome == Outcome.superseded and await _leave(unit, run))
            await unit.save(run)

    def _locked(self, account_id: int) -> AbstractAsyncContextManager[UnitOfWork]:
        return open_unit(self.database.sessions, Actor(account_id, frozenset(), "system"), self.clock, self.notify)


async def _leave(unit: UnitOfWork, run: AgentRun) -> bool:
    """Return whether people are to be told of the texts of a run, which is not answered.

    They are not after a newer text, whose run then decides on both, nor if a person answers.
    """
    if (await threads.get(unit, run.conversation_id)).ai_state != AiState.active:
        return False
    latest = await messages.find_last_inbound(unit, run.conversation_id)
    if latest is None or latest.id <= run.message_id:
        return latest is not None
    await leave_to_later(unit, run)
    return False


async def _request(unit: UnitOfWork, run: AgentRun) -> Send:
    contact = await contacts.get(unit, run.contact_id)
    latest = await messages.find_last_inbound(unit, run.conversation_id)
    return Send(
        contact.phone,
        run.draft or "",
        consent_attested=False,
        from_phone_number_id=await numbers.find_usual_id(unit, latest.to_number) if latest else None,
        idempotency_key=OwnKey("ai_run", run.id),
        purpose=Purpose.conversational,
        contact_id=contact.id,
        condition=Condition(_find_sendable, run.id),
        is_shown_live=True,
    )


async def _find_sendable(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    return [row["id"] for row in await connection.fetch(FIND_SENDABLE, list(ids))]
