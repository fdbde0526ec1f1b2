"""Events of AI agents."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.agents.gates import GateName
from app.domain.agents.models import Agent, AgentRun, Outcome
from app.domain.kernel.events import Event, UpdateKind, event
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.requests import AGENT

NEEDS_NOBODY = frozenset(
    {
        GateName.opt_out,
        GateName.consent,
        GateName.person_answers,
        GateName.handed_over,
        GateName.automatic,
        GateName.closing,
    }
)
"""The gates that stop a run of which people need no notice: no answer is needed, or a person gives it."""

UNSENT = (Outcome.failed, Outcome.drafted, Outcome.recorded)
"""The outcomes of runs that send no text, although people may have no notice, since the agent was to answer."""


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState(Event):
    """An AI agent was changed, activated, paused or deleted, or one of its runs came to a result.

    It is a live update, not offered to webhooks. `actor` is the label of the actor that changed the agent or decided on
    the draft; that of the agent for other runs. `awaits_person` where an agent left a text to people, who have got no
    notice of it if the agent was to answer when it came. `text_id` is the contact's last text of the run; null where
    the texts were found to be in no notice.
    """

    name = "agent_state"
    subscribable = False
    scope = Scope.agents_read
    live_kind = UpdateKind.agent_state
    example = {"agent_id": 3, "run_id": 511, "actor": "agent:3", "awaits_person": False, "text_id": 70134}

    agent_id: int | None
    run_id: int | None
    actor: str
    awaits_person: bool = False
    text_id: int | None = None

    @classmethod
    def of(cls, unit: UnitOfWork, agent: Agent) -> "AgentState":
        """Return the event for an agent that the unit's actor changed."""
        return cls(agent_id=agent.id, run_id=None, actor=unit.actor.label)

    @classmethod
    def of_run(cls, unit: UnitOfWork, run: AgentRun, *, is_left: bool = False) -> "AgentState":
        """Return the event for a run that came to a result; `is_left` if that does not show that it awaits people."""
        deciding = f"{AGENT}{run.agent_id}" if run.agent_id else unit.actor.label
        is_stopped = run.outcome == Outcome.stopped and run.gate not in NEEDS_NOBODY
        return cls(
            agent_id=run.agent_id,
            run_id=run.id,
            actor=run.decided_by or deciding,
            awaits_person=is_left or is_stopped or run.outcome in UNSENT,
            text_id=run.message_id,
        )

    @classmethod
    def of_none(cls, unit: UnitOfWork, text_id: int | None = None) -> "AgentState":
        """Return the event for a text that none of the agents is for any more; without its id, it is in no notice."""
        return cls(agent_id=None, run_id=None, actor=unit.actor.label, awaits_person=True, text_id=text_id)
