"""Reads the facts about a conversation that the gates and the brief of an agent need."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select, text

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import Account
from app.domain.agents import queries, signals
from app.domain.agents.gates import WINDOW, Facts, Turn
from app.domain.agents.models import Agent, AgentRun, RunStatus
from app.domain.agents.signals import Signal
from app.domain.consent import queries as consents
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact, ContactStatus
from app.domain.conversations import queries as conversations
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.messages.models import Direction, Message, Purpose
from app.domain.messages.requests import AGENT
from app.domain.numbers import queries as numbers
from app.domain.segments import filters, members
from app.domain.segments import queries as segments
from app.domain.writing.writer import Brief, Kind, Passage
from app.domain.writing.writer import Turn as BriefTurn

LATEST, TURNS_OF_BRIEF = 30, 10
PEOPLE = ("user:", "key:", "grant:")
"""The beginnings of the labels of people, and of integrations that answer for them."""

HOLDS = 7_236_465
"""Seed of the keys of this area's advisory locks, one for each agent."""

HOLD_AGENT = text(f"SELECT pg_advisory_xact_lock(hashint8extended(:id, {HOLDS}))")
"""Wait for other decisions of an agent; a lock of its row would wait for sends too, which wait for conversations."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts, the text of the burst to answer, and the account's part of the brief."""

    facts: Facts
    message: str
    company_name: str
    first_name: str = ""

    @property
    def agent(self) -> Agent:
        """Return the agent."""
        return self.facts.agent

    def brief(self, passages: Sequence[Passage]) -> Brief:
        """Return the brief of a reply with the retrieved passages."""
        return brief_of_reply(
            self.company_name,
            self.facts.turns,
            passages,
            audience=self.first_name,
            instructions="\n".join(filter(None, (self.agent.persona, self.agent.goals, self.agent.instructions))),
            max_parts=self.agent.max_segments,
        )


def brief_of_reply(
    company_name: str,
    turns: Sequence[Turn],
    passages: Sequence[Passage],
    *,
    audience: str = "",
    instructions: str = "",
    max_parts: int = 2,
) -> Brief:
    """Return the brief of one reply to a conversation; it has no placeholders and needs no opt-out notice."""
    return Brief(
        "",
        company_name,
        count=1,
        kind=Kind.reply,
        audience=audience,
        instructions=instructions,
        turns=tuple(BriefTurn(turn.is_inbound, turn.body) for turn in turns[-TURNS_OF_BRIEF:]),
        passages=tuple(passages),
        placeholders=frozenset(),
        needs_opt_out=False,
        max_parts=max_parts,
    )


async def read(unit: UnitOfWork, run: AgentRun) -> Situation | None:
    """Return the situation of a run with the agent that answers for it; None if no active agent does.

    One run at a time is decided for an agent, so that concurrent ones do not exceed its limit of a day.
    """
    contact = await contacts.get(unit, run.contact_id)
    latest = await messages.find_last_inbound(unit, run.conversation_id)
    agent = await _choose(unit, contact, latest.to_number if latest else "")
    if agent is None:
        return None
    await unit.execute(HOLD_AGENT, {"id": agent.id})
    account, turns = await accounts.get_own(unit), await read_turns(unit, run.conversation_id)
    burst = _burst(turns, run, await _count_unanswered_before(unit, run))
    facts = replace(
        _facts(unit, agent, account, turns),
        is_opted_out=contact.status == ContactStatus.opted_out
        or await consents.find_suppression(unit, contact.phone) is not None,
        has_dnd=contact.dnd_sms,
        is_held=contact.held_until is not None,
        ai_state=(await conversations.get(unit, run.conversation_id)).ai_state,
        runs_today=await _count_today(unit, agent, run),
        own_since_person=await messages.count_of_agents(unit, run.conversation_id, unit.clock.now() - WINDOW, PEOPLE),
        signals=_signals(burst),
    )
    return Situation(facts, "\n".join(turn.body for turn in burst), account.company_name, contact.first_name)


async def read_test(unit: UnitOfWork, agent: Agent, message: str) -> Situation:
    """Return the situation of a message from a contact of whom nothing is known; a paused agent counts as active."""
    account, turns = await accounts.get_own(unit), (Turn(True, message, unit.clock.now()),)
    facts = replace(_facts(unit, agent, account, turns), is_test=True, signals=_signals(turns))
    return Situation(facts, message, account.company_name)


def _facts(unit: UnitOfWork, agent: Agent, account: Account, turns: Sequence[Turn]) -> Facts:
    now = unit.clock.now()
    local = now.astimezone(ZoneInfo(account.time_zone or "UTC"))
    minute = local.hour * 60 + local.minute
    return Facts(agent, now, minute, local.isoweekday(), balance=account.balance, turns=turns)


def _burst(turns: Sequence[Turn], run: AgentRun, count_before: int) -> Sequence[Turn]:
    """Return the texts to answer: those of the run, the `count_before` before them, and those after them."""
    inbound = [turn for turn in turns if turn.is_inbound]
    after = sum(turn.id is not None and turn.id > run.message_id for turn in inbound)
    return inbound[-(count_before + run.messages + after) :]


def _signals(burst: Sequence[Turn]) -> frozenset[Signal]:
    """Return the signals of all messages of a burst; it closes the conversation only if each of them does."""
    each = [signals.read(turn.body, turn.answered_keyword) for turn in burst]
    found = frozenset[Signal]().union(*each)
    return found if all(Signal.closing in said for said in each) else found - {Signal.closing}


async def read_turns(unit: UnitOfWork, conversation_id: int) -> list[Turn]:
    """Return the latest messages of a conversation, the oldest first."""
    return [_turn(each) for each in reversed(await messages.list_latest(unit, conversation_id, LATEST))]


def _turn(message: Message) -> Turn:
    is_inbound = message.direction == Direction.inbound
    is_person = not is_inbound and message.actor.startswith(PEOPLE) and message.purpose == Purpose.conversational
    is_agent = not is_inbound and message.actor.startswith(AGENT)
    return Turn(is_inbound, message.body, message.created_at, is_agent, is_person, message.answered_keyword, message.id)


async def _choose(unit: UnitOfWork, contact: Contact, number: str) -> Agent | None:
    """Return the active agent of the narrowest scope with the number and the contact."""
    found = await numbers.find_active(unit, number)
    number_id = found.id if found and found.account_id == unit.actor.account_id else None
    for agent in await queries.list_active(unit):
        if agent.number_ids and number_id not in agent.number_ids:
            continue
        if agent.segment_id is None or await _is_member(unit, agent.segment_id, contact.id):
            return agent
    return None


async def _is_member(unit: UnitOfWork, segment_id: int, contact_id: int) -> bool:
    segment = (await segments.find_many(unit, [segment_id])).get(segment_id)
    return segment is not None and await members.includes(
        unit, filters.load(segment.filter), unit.clock.now(), contact_id
    )


async def _count_unanswered_before(unit: UnitOfWork, run: AgentRun) -> int:
    """Return the number of earlier texts whose runs have not ended: their answers are not sent after this text."""
    earlier = AgentRun.conversation_id == run.conversation_id, AgentRun.message_id < run.message_id
    count = select(func.sum(AgentRun.messages)).where(*earlier, AgentRun.status != RunStatus.done)
    return await unit.one(count) or 0


async def _count_today(unit: UnitOfWork, agent: Agent, run: AgentRun) -> int:
    """Return the number of other runs of the day that have a draft, or are getting one."""
    midnight = unit.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    own = AgentRun.account_id == agent.account_id, AgentRun.agent_id == agent.id, AgentRun.created_at >= midnight
    drafted = AgentRun.draft.is_not(None) | (AgentRun.status == RunStatus.running)
    return await unit.one(select(func.count()).where(*own, drafted, AgentRun.id != run.id)) or 0
