"""Read the rules of accounts."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import func, select

from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.models import QuietHoursRule
from app.domain.quiet_hours.rules import Rule, Rulebook, Weekday, own_id
from app.domain.quiet_hours.windows import Span

OF_LAW = Rulebook(LAWS)
"""The rules of an account without any of its own."""


class OwnRule(NamedTuple):
    """An own rule, in the order of the columns in `sql.rules`."""

    id: int
    jurisdiction: str
    weekdays: Sequence[str]
    start_minute: int
    end_minute: int
    cap: int | None
    overrides_law: bool
    reason: str
    created_on: str


def book_of(own: Sequence[OwnRule] | None) -> Rulebook:
    """Return the rules of an account with own ones, which may be plain lists in the order of `OwnRule`."""
    if not own:
        return OF_LAW
    rules = (OwnRule(*each) for each in own)
    return _book(tuple(each._replace(weekdays=tuple(each.weekdays)) for each in rules))


@lru_cache(1024)
def _book(own: tuple[OwnRule, ...]) -> Rulebook:
    """Return the book of own rules, which all texts of an account share."""
    return Rulebook(LAWS, tuple(map(_rule, own)))


async def get_book(unit: UnitOfWork) -> Rulebook:
    """Return the rules of the account."""
    own = select(QuietHoursRule).where(QuietHoursRule.account_id == unit.actor.account_id)
    return Rulebook(LAWS, tuple(rule_of(row) for row in await unit.all(own.order_by(QuietHoursRule.id))))


async def lock_rule(unit: UnitOfWork, id: str) -> QuietHoursRule:
    """Return an own rule, locked for a change; raise `NotFound`."""
    numbered = own_id(id)
    own = QuietHoursRule.account_id == unit.actor.account_id, QuietHoursRule.id == numbered
    rule = await unit.one(select(QuietHoursRule).where(*own).with_for_update()) if numbered else None
    if rule is None:
        raise NotFound(kind="quiet hours rule", id=id)
    return rule


async def count_own(unit: UnitOfWork) -> int:
    """Return the number of own rules."""
    own = QuietHoursRule.account_id == unit.actor.account_id
    return await unit.one(select(func.count()).select_from(QuietHoursRule).where(own)) or 0


def rule_of(row: QuietHoursRule) -> Rule:
    """Return an own rule as one of a book."""
    day = row.created_at.date().isoformat()
    values = row.id, row.jurisdiction, row.weekdays, row.start_minute, row.end_minute
    return _rule(OwnRule(*values, row.cap, row.overrides_law, row.reason, day))


def _rule(own: OwnRule) -> Rule:
    return Rule(
        own.jurisdiction,
        tuple(Weekday(day) for day in own.weekdays),
        Span(own.start_minute, own.end_minute),
        own.cap,
        own.reason,
        date.fromisoformat(own.created_on),
        is_verified=True,
        own_id=own.id,
        overrides_law=own.overrides_law,
    )
