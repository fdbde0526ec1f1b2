"""Add and remove the knowledge of AI agents."""

import re
from collections.abc import Iterator

from sqlalchemy import func, select

from app.domain.agents import queries
from app.domain.agents.models import Knowledge, KnowledgeKind, KnowledgePassage
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_TITLE, MAX_ANSWER, MAX_DOCUMENT, MAX_ENTRIES = 200, 320, 20_000, 200
PASSAGE = 600
"""The most characters of a passage of a document."""


async def add(unit: UnitOfWork, agent_id: int, kind: KnowledgeKind, title: str, body: str) -> Knowledge:
    """Add a document, or a question with its answer; raise `InvalidInput`, `NotFound`, or `Conflict` at 200 entries."""
    title, body = title.strip(), body.strip()
    longest = MAX_ANSWER if kind is KnowledgeKind.faq else MAX_DOCUMENT
    for name, text, most in (("title", title, MAX_TITLE), ("body", body, longest)):
        if not 1 <= len(text) <= most:
            raise InvalidInput(reason=f"{name} must have 1 to {most} characters.", field=name)
    agent = await queries.get(unit, agent_id, lock=True)
    counted = select(func.count()).where(Knowledge.account_id == agent.account_id, Knowledge.agent_id == agent.id)
    if (await unit.one(counted) or 0) >= MAX_ENTRIES:
        raise Conflict(reason=f"An AI agent has at most {MAX_ENTRIES} documents and questions.")
    of = {"account_id": agent.account_id, "agent_id": agent.id}
    entry = Knowledge(**of, kind=kind, title=title, body=body, created_by=unit.actor.label)
    await unit.save(entry)
    parts = [body] if kind is KnowledgeKind.faq else list(_split(body))
    is_answer = kind is KnowledgeKind.faq
    passages = [
        KnowledgePassage(**of, knowledge_id=entry.id, is_answer=is_answer, title=title, body=part) for part in parts
    ]
    await unit.save(*passages)
    return entry


async def remove(unit: UnitOfWork, id: int) -> Knowledge:
    """Remove a document or question, and return it; raise `NotFound`."""
    entry = await queries.get_knowledge(unit, id)
    await unit.delete(entry)
    return entry


def _split(body: str) -> Iterator[str]:
    """Walk over the passages of a document: whole paragraphs and sentences as far as they fit."""
    passage = ""
    for piece in re.split(r"(?<=[.!?])\s+|\n\s*\n", body):
        for part in (piece[at : at + PASSAGE] for at in range(0, len(piece), PASSAGE)):
            if passage and len(passage) + 1 + len(part) > PASSAGE:
                yield passage
                passage = ""
            passage = f"{passage} {part}".strip()
    if passage:
        yield passage
