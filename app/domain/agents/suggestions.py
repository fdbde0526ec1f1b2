"""Suggest a reply to a person, from the knowledge of the account's agents."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from app.domain.accounts import queries as accounts
from app.domain.agents import pipeline, retrieval, situations
from app.domain.agents.models import Agent
from app.domain.billing import service as billing
from app.domain.conversations import queries as conversations
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.writing import calls, drafting
from app.domain.writing.calls import apart
from app.domain.writing.drafting import Draft, Writers
from app.domain.writing.models import CallKind
from app.domain.writing.writer import Brief, Passage

MOST_AGENTS = 10


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested reply, or the reason for which there is none; then the credit was refunded."""

    text: str | None
    reason: str | None
    passages: Sequence[Passage]
    provider: str
    model: str | None
    credits_remaining: int


async def suggest(unit: UnitOfWork, writers: Writers, conversation_id: int) -> Suggestion:
    """Write a reply to the latest message of a conversation, for 1 credit; a person sends it, or not.

    Raises `NotFound`, `Conflict` without a message to answer, `InsufficientCredits` and `TooManyCalls`.
    """
    conversation = await conversations.get(unit, conversation_id)
    turns = await situations.read_turns(unit, conversation.id)
    asked = next((turn.body for turn in reversed(turns) if turn.is_inbound), None)
    if asked is None:
        raise Conflict(reason="The contact has not written anything that a reply could be suggested to.")
    account, passages = await accounts.get_own(unit), await _find_passages(unit, asked)
    brief = situations.brief_of_reply(account.company_name, turns, passages)
    call_id = await calls.begin(unit, writers, CallKind.suggestion)
    drafted = await drafting.draft(writers, brief)
    reason = _refuse(drafted, brief)
    async with apart(unit) as own:
        await billing.lock(own)
        ended = await calls.end(own, call_id, drafted, is_paid=reason is None)
    text = None if reason else drafted.texts[0]
    return Suggestion(text, reason, passages, drafted.provider, drafted.model, ended.credits_remaining)


def _refuse(drafted: Draft, brief: Brief) -> str | None:
    if drafted.failure:
        return drafted.notice
    if not drafted.texts:
        return drafted.needs_person or pipeline.UNGROUNDED
    return " ".join(pipeline.find_faults(drafted.texts[0], brief)) or None


async def _find_passages(unit: UnitOfWork, message: str) -> Sequence[Passage]:
    """Return the best passages of the knowledge of all agents of the account."""
    own = select(Agent.id).where(Agent.account_id == unit.actor.account_id).order_by(Agent.id).limit(MOST_AGENTS)
    found = [each for id in await unit.all(own) for each in await retrieval.find(unit, id, message)]
    best = sorted(dict.fromkeys(found), key=lambda each: -each.score)
    return best[: retrieval.MOST_PASSAGES]
