"""Create, change, pause and delete AI agents."""

from typing import Any, TypedDict

from sqlalchemy import select

from app.domain.accounts import queries as accounts
from app.domain.accounts import scopes
from app.domain.accounts.models import User
from app.domain.accounts.scopes import Scope
from app.domain.agents import conclusions, queries
from app.domain.agents.events import AgentState
from app.domain.agents.models import Agent, AgentMode, AgentStatus
from app.domain.events import outbox
from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.quiet_hours.rules import EVERY_DAY, Weekday, minute_of
from app.domain.segments import queries as segments

MAX_NAME, MAX_TEXT, MAX_HAND_OVER, MAX_AGENTS, MAX_NUMBERS = 100, 2000, 320, 50, 100
HAND_OVER = "Thanks for your message. A member of our team will answer you."
LIMITS = {
    "debounce_seconds": (5, 300),
    "max_messages": (1, 50),
    "max_unanswered": (1, 10),
    "max_segments": (1, 4),
    "daily_limit": (1, 10_000),
}
TEXTS = ("persona", "goals", "instructions")
DAY = 24 * 60


class AgentFields(TypedDict, total=False):
    """The fields that callers may set; omitted ones keep their values. `opens_at` and `closes_at` are like 09:00."""

    name: str
    mode: AgentMode
    persona: str
    goals: str
    instructions: str
    number_ids: list[int]
    segment_id: int | None
    weekdays: list[Weekday]
    opens_at: str
    closes_at: str
    debounce_seconds: int
    max_messages: int
    max_unanswered: int
    max_segments: int
    daily_limit: int
    hand_over_to: int | None
    hand_over_message: str


async def create(unit: UnitOfWork, fields: AgentFields) -> Agent:
    """Create a paused agent.

    Raises `InvalidInput`, `NotFound`, `Conflict` at the maximum of 50 agents, and `InsufficientScope` for one that
    sends by itself by an actor that may not send: an agent acts for the account, and goes on without its creator.
    """
    values = await _checked(unit, {"hand_over_message": HAND_OVER, **fields})
    _check_order(values.get("opens_at", 0), values.get("closes_at", DAY))
    _check_scope(unit, values.get("mode"))
    await accounts.lock_own(unit)
    if await queries.count_all(unit) >= MAX_AGENTS:
        raise Conflict(reason=f"An account has at most {MAX_AGENTS} AI agents.")
    agent = Agent(account_id=unit.actor.account_id, created_by=unit.actor.label, **values)
    await unit.save(agent)
    return agent


async def update(unit: UnitOfWork, id: int, fields: AgentFields, expected_version: int | None = None) -> Agent:
    """Change an agent; its version grows with each change.

    Raises `InvalidInput`, `NotFound`, `InsufficientScope` as `create` does, and `Conflict` for a version that is no
    longer expected.
    """
    values = await _checked(unit, fields)
    agent = await queries.get(unit, id, lock=True)
    versions.require("AI agent", agent.version, expected_version)
    is_changed = versions.change(agent, values)
    _check_order(agent.opens_at, agent.closes_at)
    _check_scope(unit, agent.mode)
    return await _save(unit, agent) if is_changed else agent


async def set_status(unit: UnitOfWork, id: int, status: AgentStatus) -> Agent:
    """Activate or pause an agent. A paused agent sends nothing any more, except drafts that a person approves.

    Raises `NotFound`, and `InsufficientScope` for an activation as `create` does.
    """
    agent = await queries.get(unit, id, lock=True)
    if status == AgentStatus.active:
        _check_scope(unit, agent.mode)
    agent.status = status
    return await _save(unit, agent)


async def delete(unit: UnitOfWork, id: int) -> Agent:
    """Delete an agent with its knowledge and its runs, and return it; raise `NotFound`.

    A run whose draft is being written stays, so that another agent, or people, answer.
    """
    agent = await queries.get(unit, id, lock=True)
    await conclusions.release_running(unit, id)
    await unit.delete(agent)
    outbox.record(unit, AgentState.of(unit, agent))
    return agent


async def _save(unit: UnitOfWork, agent: Agent) -> Agent:
    agent.updated_at = unit.clock.now()
    await unit.save(agent)
    outbox.record(unit, AgentState.of(unit, agent))
    return agent


def _check_scope(unit: UnitOfWork, mode: str | None) -> None:
    if mode == AgentMode.auto:
        scopes.require(unit.actor, [Scope.messages_send])


async def _checked(unit: UnitOfWork, fields: AgentFields) -> dict[str, Any]:
    values: dict[str, Any] = dict(fields)
    if "name" in values:
        values["name"] = _text(values["name"], "name", 1, MAX_NAME)
    for name in TEXTS:
        if name in values:
            values[name] = _text(values[name], name, 0, MAX_TEXT)
    if "hand_over_message" in values:
        values["hand_over_message"] = _text(values["hand_over_message"], "hand_over_message", 1, MAX_HAND_OVER)
    for name, (least, most) in LIMITS.items():
        if name in values and not least <= values[name] <= most:
            raise InvalidInput(reason=f"{name} must be from {least} to {most}.", field=name)
    _check_hours(values)
    await _check_records(unit, values)
    return values


def _check_hours(values: dict[str, Any]) -> None:
    if "weekdays" in values:
        values["days"] = [EVERY_DAY.index(day) + 1 for day in values.pop("weekdays")]
    for name in ("opens_at", "closes_at"):
        if name in values:
            values[name] = minute_of(values[name], name)


def _check_order(opens_at: int, closes_at: int) -> None:
    if closes_at <= opens_at:
        raise InvalidInput(reason="closes_at must be later than opens_at.", field="closes_at")


async def _check_records(unit: UnitOfWork, values: dict[str, Any]) -> None:
    if len(values.get("number_ids", ())) > MAX_NUMBERS:
        raise InvalidInput(reason=f"number_ids must have at most {MAX_NUMBERS} entries.", field="number_ids")
    for id in values.get("number_ids", ()):
        if await numbers.find(unit, id) is None:
            raise NotFound(kind="phone number", id=id)
    if values.get("segment_id") is not None:
        await segments.get(unit, values["segment_id"], keep=True)
    if values.get("hand_over_to") is not None:
        own = User.account_id == unit.actor.account_id, User.id == values["hand_over_to"], User.removed_at.is_(None)
        if await unit.one(select(User.id).where(*own)) is None:
            raise NotFound(kind="user", id=values["hand_over_to"])


def _text(text: str, field: str, least: int, most: int) -> str:
    text = text.strip()
    if not least <= len(text) <= most:
        raise InvalidInput(reason=f"{field} must have {least} to {most} characters.", field=field)
    return text
