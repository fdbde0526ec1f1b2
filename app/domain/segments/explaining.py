"""Explain whether a contact satisfies a filter: each condition with the value that the contact has."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.domain.contacts import sql as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import fields, filters, sentences
from app.domain.segments.compiling import Compiler
from app.domain.segments.filters import Node


@dataclass(frozen=True, slots=True)
class ExplainedCondition:
    """A condition in words, the value of the contact as a text (None without one), and whether it holds."""

    condition: str
    value: str | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a contact satisfies a filter, and each of its conditions."""

    holds: bool
    conditions: Sequence[ExplainedCondition]


async def explain(unit: UnitOfWork, filter: Node, contact_id: int, at: datetime) -> Explanation:
    """Return why a contact of the account satisfies a filter or not; one that is gone satisfies none."""
    compiler, columns = Compiler(at), list[str]()
    leaves = list(filters.conditions(filter))
    for leaf in leaves:
        found = fields.stored(leaf.field, leaf.kind)
        value = "NULL" if found.is_elsewhere else f"CAST({compiler.expression(leaf)} AS text)"
        columns += [f"({compiler.compile(leaf)}) IS TRUE", value]
    columns.append(f"({compiler.compile(filter)}) IS TRUE")
    parameters = compiler.parameters | {"account_id": unit.actor.account_id, "contact_id": contact_id}
    row = (await unit.execute(text(contacts.EXPLAIN.format(columns=", ".join(columns))), parameters)).one_or_none()
    if row is None:
        return Explanation(holds=False, conditions=())
    shown = [
        ExplainedCondition(sentences.describe(leaf), row[2 * index + 1], bool(row[2 * index]))
        for index, leaf in enumerate(leaves)
    ]
    return Explanation(bool(row[-1]), shown)
