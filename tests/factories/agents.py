"""AI agents with knowledge, and their runs."""

from dataclasses import replace
from typing import Any

from app.domain.accounts.scopes import ALL
from app.domain.agents import knowledge, service
from app.domain.agents.models import AgentStatus, KnowledgeKind
from app.domain.agents.service import AgentFields
from app.domain.kernel.unit_of_work import UnitOfWork
from tests.factories.tables import Rows

AGENTS = Rows("ai_agents")
AGENT_RUNS = Rows("ai_agent_runs")
KNOWLEDGE = Rows("ai_knowledge")
PASSAGES = Rows("ai_passages")

FAQ = {
    "When are you open?": "We are open from 9 to 5, Monday to Friday.",
    "How much is a haircut?": "A haircut is $30.",
    "Where can I park?": "You can park behind the house.",
}


async def add_agent(unit: UnitOfWork, fields: AgentFields | None = None, **faq: str) -> int:
    """Add an active agent with a FAQ, by default `FAQ`; return its id."""
    unit.actor = replace(unit.actor, scopes=unit.actor.scopes | ALL)
    values: Any = {"name": "Robin", "instructions": "Be brief.", "mode": "auto", **(fields or {})}
    agent = await service.create(unit, values)
    for question, answer in (faq or FAQ).items():
        await knowledge.add(unit, agent.id, KnowledgeKind.faq, question, answer)
    await service.set_status(unit, agent.id, AgentStatus.active)
    return agent.id
