"""Events of AI agents."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.agents.gates import GateName
from app.domain.agents.models import Agent, AgentRun, Outcome
from app.domain.kernel.events import Event, UpdateKind, event
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.requests import AGENT

LEFT_TO_PEOPLE = (GateName.window, GateName.unanswered_limit, GateName.hours)
"""The gates that leave a text without an answer which people may give."""


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState(Event):
    """An AI agent was changed, activated, paused or deleted, or one of its runs came to a result.

    It is a live update, not offered to webhooks. `actor` is the label of the actor that changed the agent or decided on
    the draft; that of the agent for other runs. `awaits_person` where an agent left a text to people, who have got no
    notice of it if the agent was to answer.
    """

    name = "agent_state"
    subscribable = False
    scope = Scope.agents_read
    live_kind = UpdateKind.agent_state
    example = {"agent_id": 3, "run_id": 511, "actor": "agent:3", "awaits_person": False}

    agent_id: int | None
    run_id: int | None
    actor: str
    awaits_person: bool = False

    @classmethod
    def of(cls, unit: UnitOfWork, agent: Agent) -> "AgentState":
        """Return the event for an agent that the unit's actor changed."""
        return cls(agent_id=agent.id, run_id=None, actor=unit.actor.label)

    @classmethod
    def of_run(cls, unit: UnitOfWork, run: AgentRun) -> "AgentState":
        """Return the event for a run that came to a result."""
        deciding = f"{AGENT}{run.agent_id}" if run.agent_id else unit.actor.label
        is_left = run.outcome == Outcome.failed or (run.outcome == Outcome.stopped and run.gate in LEFT_TO_PEOPLE)
        return cls(agent_id=run.agent_id, run_id=run.id, actor=run.decided_by or deciding, awaits_person=is_left)

    @classmethod
    def of_none(cls, unit: UnitOfWork) -> "AgentState":
        """Return the event for a text that none of the agents is for any more."""
        return cls(agent_id=None, run_id=None, actor=unit.actor.label, awaits_person=True)
