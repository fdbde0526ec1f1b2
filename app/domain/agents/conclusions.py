"""Stores the decision of a run, and changes the state of its conversation, in one transaction."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import func, select, update

from app.domain.agents import disclosure
from app.domain.agents.events import AgentState
from app.domain.agents.gates import Action, Verdict
from app.domain.agents.models import Agent, AgentMode, AgentRun, Outcome, RunStatus
from app.domain.agents.pipeline import Decision
from app.domain.conversations import notes, service
from app.domain.conversations import queries as conversations
from app.domain.conversations.models import AiState
from app.domain.events import outbox
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.requests import AGENT

LEASE = timedelta(minutes=2)
BY_PEOPLE = (AiState.paused, AiState.handed_over)
"""The states of a conversation that people answer."""


async def conclude(unit: UnitOfWork, run: AgentRun, agent: Agent, decision: Decision) -> AgentRun:
    """Store a decision; a run with a text to send becomes `sending`, any other one ends.

    The conversation is locked. It is not handed over if a person has taken it over since the decision.
    """
    _describe(run, agent, decision)
    verdict = decision.verdict
    if verdict is None:
        _keep_draft(unit, run, agent, decision)
    elif verdict.action is Action.stop:
        end(unit, run, Outcome.stopped)
    elif agent.mode == AgentMode.shadow:
        end(unit, run, Outcome.recorded)
    else:
        await _hand_over(unit, run, agent, verdict, decision.opening)
    await unit.save(run)
    return run


async def activate(unit: UnitOfWork, run: AgentRun, agent: Agent) -> None:
    """Note that an agent answers in the conversation, so that a person's message pauses it."""
    unit.actor = replace(unit.actor, label=f"{AGENT}{agent.id}")
    conversation = await conversations.get(unit, run.conversation_id)
    if agent.mode != AgentMode.shadow and conversation.ai_state == AiState.none:
        await service.release_ai(unit, conversation.id)


def end(unit: UnitOfWork, run: AgentRun, outcome: Outcome, *, is_left: bool = False) -> None:
    """End a run, and show it live. `is_left` if people are to be told of its text, whatever the outcome."""
    run.status, run.outcome, run.claimed_until, run.ended_at = RunStatus.done, outcome, None, unit.clock.now()
    outbox.record(unit, AgentState.of_run(unit, run, is_left=is_left), run.contact_id)


async def release_running(unit: UnitOfWork, agent_id: int) -> None:
    """Take the texts to which an agent is writing replies from it, so that another one, or people, answer."""
    own = AgentRun.account_id == unit.actor.account_id, AgentRun.agent_id == agent_id
    await unit.execute(update(AgentRun).where(*own, AgentRun.status == RunStatus.running).values(agent_id=None))


async def leave_to_later(unit: UnitOfWork, run: AgentRun) -> bool:
    """Leave the texts of a run to the next one of its conversation, and return whether there is one.

    One that is decided already has counted the texts of the runs before it which had not ended.
    """
    later = AgentRun.conversation_id == run.conversation_id, AgentRun.message_id > run.message_id
    following = await unit.one(select(AgentRun).where(*later).order_by(AgentRun.id).limit(1))
    if following is None:
        return False
    undecided = AgentRun.id == following.id, AgentRun.status.in_((RunStatus.waiting, RunStatus.running))
    since = func.least(AgentRun.created_at, run.created_at)
    joined = update(AgentRun).where(*undecided).values(messages=AgentRun.messages + run.messages, created_at=since)
    await unit.execute(joined)
    return True


async def drop(unit: UnitOfWork, run: AgentRun) -> None:
    """Delete a run that no agent is for; its text is left to people, although an agent answers the conversation."""
    if (await conversations.get(unit, run.conversation_id)).ai_state == AiState.active:
        outbox.record(unit, AgentState.of_none(unit, run.message_id), run.contact_id)
    await unit.delete(run)


def _describe(run: AgentRun, agent: Agent, decision: Decision) -> None:
    verdict = decision.verdict
    run.agent_id = agent.id
    run.gates = [_shown(each) for each in decision.verdicts]
    run.passages = [{"title": each.title, "text": each.text, "score": each.score} for each in decision.passages]
    run.gate, run.reason = (verdict.gate, verdict.reason) if verdict else (None, "")
    if decision.drafted:
        run.provider, run.model = decision.drafted.provider, decision.drafted.model


def _shown(verdict: Verdict) -> dict[str, str]:
    return {"gate": verdict.gate, "action": verdict.action, "reason": verdict.reason}


def _keep_draft(unit: UnitOfWork, run: AgentRun, agent: Agent, decision: Decision) -> None:
    run.draft = decision.text
    match agent.mode:
        case AgentMode.auto:
            run.status = RunStatus.sending
        case AgentMode.approve:
            end(unit, run, Outcome.drafted)
        case _:
            end(unit, run, Outcome.recorded)


async def _hand_over(unit: UnitOfWork, run: AgentRun, agent: Agent, verdict: Verdict, opening: str) -> None:
    """Hand the conversation to people; one message says so, unless its reader would be a machine."""
    if (await conversations.get(unit, run.conversation_id)).ai_state in BY_PEOPLE:
        end(unit, run, Outcome.superseded)
        return
    unit.actor = replace(unit.actor, label=f"{AGENT}{agent.id}")
    await service.hand_over(unit, run.conversation_id)
    if agent.hand_over_to is not None:
        with suppress(NotFound):  # the user was removed: the conversation stays unassigned
            await service.assign(unit, run.conversation_id, agent.hand_over_to)
    summary = run.summary = f"{agent.name} handed over: {verdict.reason}"[: notes.MAX_LENGTH]
    await notes.add(unit, run.conversation_id, summary)
    end(unit, run, Outcome.handed_over)
    if verdict.action is Action.hand_over and agent.mode == AgentMode.auto:
        run.draft = disclosure.hand_over_text(opening, agent.hand_over_message, agent.max_segments)
        run.status, run.ended_at = RunStatus.sending, None
        run.claimed_until = unit.clock.now() + LEASE
