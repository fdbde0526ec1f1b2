"""Queries for AI agents, their knowledge and their runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select

from app.domain.agents.models import Agent, AgentRun, AgentStatus, Knowledge, Outcome
from app.domain.conversations import queries as conversations
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filter of a list of runs."""

    agent_id: int | None = None
    conversation_id: int | None = None
    outcome: Outcome | None = None


async def find_page(unit: UnitOfWork, status: AgentStatus | None, window: Window) -> Page[Agent]:
    """Return one page of the account's agents, newest first."""
    statement = _own(unit).where(Agent.status == status) if status else _own(unit)
    return await fetch(unit, statement, Order((Agent.id,)), window)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Agent:
    """Return an agent; with `lock`, locked for a change. Raise `NotFound`."""
    statement = _own(unit).where(Agent.id == id)
    agent = await unit.one(statement.with_for_update(key_share=True) if lock else statement)
    if agent is None:
        raise NotFound(kind="AI agent", id=id)
    return agent


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Agent]:
    """Return agents by their ids."""
    return {agent.id: agent for agent in await unit.all(_own(unit).where(records.among(Agent.id, ids)))}


async def find_named(unit: UnitOfWork, text: str, limit: int) -> Sequence[Agent]:
    """Return the first agents whose name contains a text."""
    return await unit.all(named(_own(unit), Agent.name, text, limit))


async def list_active(unit: UnitOfWork) -> Sequence[Agent]:
    """Return the active agents, those of the narrowest scope first."""
    is_open = func.cardinality(Agent.number_ids) == 0
    active = _own(unit).where(Agent.status == AgentStatus.active)
    return await unit.all(active.order_by(is_open, Agent.segment_id.is_(None), Agent.id))


async def list_of_segment(unit: UnitOfWork, segment_id: int) -> Sequence[Agent]:
    """Return the agents, active or not, that answer only the contacts of a segment."""
    return await unit.all(_own(unit).where(Agent.segment_id == segment_id).order_by(Agent.id))


async def count_all(unit: UnitOfWork) -> int:
    """Return the number of the account's agents."""
    return await unit.one(select(func.count()).select_from(_own(unit).subquery())) or 0


async def find_knowledge(unit: UnitOfWork, agent_id: int, window: Window) -> Page[Knowledge]:
    """Return one page of an agent's knowledge, newest first; raise `NotFound`."""
    agent = await get(unit, agent_id)
    own = select(Knowledge).where(Knowledge.account_id == unit.actor.account_id, Knowledge.agent_id == agent.id)
    return await fetch(unit, own, Order((Knowledge.id,)), window)


async def get_knowledge(unit: UnitOfWork, id: int) -> Knowledge:
    """Return a document or question; raise `NotFound`."""
    own = Knowledge.account_id == unit.actor.account_id, Knowledge.id == id
    found = await unit.one(select(Knowledge).where(*own))
    if found is None:
        raise NotFound(kind="knowledge", id=id)
    return found


async def find_runs(unit: UnitOfWork, wanted: RunFilter, window: Window) -> Page[AgentRun]:
    """Return one page of the account's runs, newest first."""
    statement = _runs(unit)
    if wanted.agent_id is not None:
        statement = statement.where(AgentRun.agent_id == wanted.agent_id)
    if wanted.conversation_id is not None:
        statement = statement.where(AgentRun.conversation_id == wanted.conversation_id)
    if wanted.outcome:
        statement = statement.where(AgentRun.outcome == wanted.outcome)
    return await fetch(unit, statement, Order((AgentRun.id,)), window)


async def find_many_runs(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, AgentRun]:
    """Return runs by their ids."""
    return {run.id: run for run in await unit.all(_runs(unit).where(records.among(AgentRun.id, ids)))}


async def get_run(unit: UnitOfWork, id: int, *, lock: bool = False) -> AgentRun:
    """Return a run; with `lock`, locked for a change. Raise `NotFound`."""
    statement = _runs(unit).where(AgentRun.id == id)
    run = await unit.one(statement.with_for_update(key_share=True) if lock else statement)
    if run is None:
        raise NotFound(kind="run", id=id)
    return run


async def lock_run(unit: UnitOfWork, id: int) -> AgentRun:
    """Return a run, locked with its conversation: first the conversation, as merges do. Raise `NotFound`."""
    thread = await unit.one(_runs(unit).with_only_columns(AgentRun.conversation_id).where(AgentRun.id == id))
    if thread is None:
        raise NotFound(kind="run", id=id)
    await conversations.get(unit, thread, lock=True)
    return await get_run(unit, id, lock=True)


def _own(unit: UnitOfWork) -> Select[Agent]:
    return select(Agent).where(Agent.account_id == unit.actor.account_id)


def _runs(unit: UnitOfWork) -> Select[AgentRun]:
    return select(AgentRun).where(AgentRun.account_id == unit.actor.account_id)
