"""Events of AI agents."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.agents.models import Agent, AgentRun
from app.domain.kernel.events import Event, UpdateKind, event
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.requests import AGENT


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState(Event):
    """An AI agent was changed, activated, paused or deleted, or one of its runs came to a result.

    It is a live update, not offered to webhooks. `actor` is the label of the actor that changed the agent or decided on
    the draft; that of the agent for other runs.
    """

    name = "agent_state"
    subscribable = False
    scope = Scope.agents_read
    live_kind = UpdateKind.agent_state
    example = {"agent_id": 3, "run_id": 511, "actor": "agent:3"}

    agent_id: int | None
    run_id: int | None
    actor: str

    @classmethod
    def of(cls, unit: UnitOfWork, agent: Agent) -> "AgentState":
        """Return the event for an agent that the unit's actor changed."""
        return cls(agent_id=agent.id, run_id=None, actor=unit.actor.label)

    @classmethod
    def of_run(cls, unit: UnitOfWork, run: AgentRun) -> "AgentState":
        """Return the event for a run that came to a result."""
        deciding = f"{AGENT}{run.agent_id}" if run.agent_id else unit.actor.label
        return cls(agent_id=run.agent_id, run_id=run.id, actor=run.decided_by or deciding)
