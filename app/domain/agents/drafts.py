"""Approve and discard the drafts of agents, and try an agent without sending."""

from dataclasses import dataclass

from app.domain.agents import pipeline, queries, situations
from app.domain.agents.conclusions import end
from app.domain.agents.gates import WINDOW
from app.domain.agents.models import AgentRun, Outcome, RunStatus
from app.domain.agents.pipeline import Decision
from app.domain.agents.runner import TOPIC
from app.domain.billing import service as billing
from app.domain.kernel.blank_texts import is_blank
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.writing import calls
from app.domain.writing.calls import apart
from app.domain.writing.drafting import Writers
from app.domain.writing.models import CallKind


@dataclass(frozen=True, slots=True)
class Trial:
    """The decision of an agent about a message that was not sent by a contact, and its cost."""

    decision: Decision
    credits: int
    credits_remaining: int


async def approve(unit: UnitOfWork, run_id: int, body: str | None = None) -> AgentRun:
    """Send a draft, or another text in its place, as the agent; raise `Conflict` if it waits for no approval.

    A worker sends it within a second, once, as a reply to the contact's last message of the past 24 hours.
    """
    run = await _lock_draft(unit, run_id)
    if body is not None and (is_blank(body) or len(body.strip()) > MAX_LENGTH):
        raise InvalidInput(reason=f"body must have 1 to {MAX_LENGTH} characters.", field="body")
    latest = await messages.find_last_inbound(unit, run.conversation_id)
    if latest is None or latest.created_at <= unit.clock.now() - WINDOW:
        raise Conflict(reason="The contact's last message is older than 24 hours. Send a text of your own instead.")
    run.draft = body.strip() if body else run.draft
    run.status, run.outcome, run.ended_at = RunStatus.sending, None, None
    run.decided_by, run.claimed_until = unit.actor.label, unit.clock.now()
    await unit.save(run)
    unit.notify(TOPIC)
    return run


async def discard(unit: UnitOfWork, run_id: int) -> AgentRun:
    """Discard a draft; raise `Conflict` if it waits for no approval."""
    run = await _lock_draft(unit, run_id)
    run.decided_by = unit.actor.label
    end(unit, run, Outcome.discarded)
    await unit.save(run)
    return run


async def try_out(unit: UnitOfWork, writers: Writers, agent_id: int, body: str) -> Trial:
    """Run the pipeline of an agent on the text of a contact; nothing is sent or stored.

    A draft costs 1 credit; a decision of the gates, or without a draft, is free. Raises `InvalidInput`, `NotFound`,
    `InsufficientCredits` and `TooManyCalls`.
    """
    body = body.strip()
    if is_blank(body) or len(body) > MAX_LENGTH:
        raise InvalidInput(reason=f"body must have 1 to {MAX_LENGTH} characters.", field="body")
    agent = await queries.get(unit, agent_id)
    situation = await situations.read_test(unit, agent, body)
    decision = await pipeline.consider(unit, writers, situation)
    if decision.brief is None:
        return Trial(decision, 0, await billing.read_balance(unit))
    call_id = await calls.begin(unit, writers, CallKind.test)
    decision = await pipeline.write(writers, decision)
    assert decision.drafted
    async with apart(unit) as own:
        await billing.lock(own)
        ended = await calls.end(own, call_id, decision.drafted, is_paid=decision.text is not None)
    return Trial(decision, ended.credits, ended.credits_remaining)


async def _lock_draft(unit: UnitOfWork, run_id: int) -> AgentRun:
    run = await queries.get_run(unit, run_id, lock=True)
    if run.status != RunStatus.done or run.outcome != Outcome.drafted:
        raise Conflict(reason=f"Run {run_id} has no draft that waits for approval: it is {run.outcome or run.status}.")
    return run
