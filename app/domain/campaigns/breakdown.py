"""Results of a campaign by number, area, hour, number of SMS parts, or reason."""

import enum
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, case, func, or_, select, tuple_

from app.domain.campaigns import queries
from app.domain.campaigns.models import Recipient
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_GROUPS = 1000
COUNTED = ("recipients", *queries.LEFT, "replies", "opt_outs", "segments", "credits")
"""The figures of a group, in the order of `BreakdownRow`."""


class BreakdownGroup(enum.StrEnum):
    """The grouping of the results of a campaign."""

    state = enum.auto()
    reason = enum.auto()
    number = enum.auto()
    area = enum.auto()
    hour = enum.auto()
    segments = enum.auto()


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """The recipients of one group, and the results of their texts."""

    key: str
    recipients: int
    sent: int
    delivered: int
    failed: int
    replies: int
    opt_outs: int
    segments: int
    credits: int


async def break_down(unit: UnitOfWork, campaign_id: int, by: BreakdownGroup) -> Sequence[BreakdownRow]:
    """Return the groups of a campaign's recipients, the largest first, at most `MAX_GROUPS`; raise `NotFound`."""
    await queries.get(unit, campaign_id)
    if by in (BreakdownGroup.state, BreakdownGroup.reason):
        return await _sum_counts(unit, campaign_id, by)
    return (await sum_recipients(unit, campaign_id, by))[by]


async def sum_recipients(
    unit: UnitOfWork, campaign_id: int, *groupings: BreakdownGroup
) -> dict[BreakdownGroup, Sequence[BreakdownRow]]:
    """Return the groups of each grouping other than by state and reason, from one scan of the recipients."""
    keys, number = [_key(by) for by in groupings], func.count()
    columns = (
        number,
        *(number.filter(Recipient.state == state) for state in queries.LEFT),
        func.count(Recipient.replied_at),
        func.count(Recipient.opted_out_at),
        func.coalesce(func.sum(Recipient.segments), 0),
        func.coalesce(func.sum(Recipient.credits), 0),
    )
    own = Recipient.campaign_id == campaign_id, Recipient.account_id == unit.actor.account_id
    sets = func.grouping_sets(*(tuple_(key) for key in keys))
    found: dict[int, list[BreakdownRow]] = {place: [] for place in range(len(keys))}
    for absent, *row in await unit.rows(select(func.grouping(*keys), *keys, *columns).where(*own).group_by(sets)):
        place = len(keys) - (~absent & (1 << len(keys)) - 1).bit_length()
        found[place].append(BreakdownRow(_show(row[place]), *map(int, row[len(keys) :])))
    return {
        by: sorted(found[place], key=lambda row: (-row.recipients, row.key))[:MAX_GROUPS]
        for place, by in enumerate(groupings)
    }


async def _sum_counts(unit: UnitOfWork, campaign_id: int, by: BreakdownGroup) -> Sequence[BreakdownRow]:
    """Return the groups from the counts of the campaign, and only the answers from its recipients."""
    totals, answers = defaultdict[str, Counter[str]](Counter), await _find_answers(unit, campaign_id)
    for each in await queries.find_counts(unit, [campaign_id]):
        replies, opt_outs = answers.get((each.state, each.reason), (0, 0))
        found = {"recipients": each.recipients, "segments": each.segments, "credits": each.credits}
        found |= {"replies": replies, "opt_outs": opt_outs, each.state: each.recipients}
        totals[each.state if by is BreakdownGroup.state else each.reason or each.state].update(found)
    rows = [BreakdownRow(key, *(total[name] for name in COUNTED)) for key, total in totals.items()]
    return sorted(rows, key=lambda row: (-row.recipients, row.key))


async def _find_answers(unit: UnitOfWork, campaign_id: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the numbers of replies and opt-outs of a campaign by state and reason."""
    kind, answers = (Recipient.state, Recipient.reason), (Recipient.replied_at, Recipient.opted_out_at)
    own = Recipient.campaign_id == campaign_id, Recipient.account_id == unit.actor.account_id
    answered = or_(*(answer.is_not(None) for answer in answers))
    statement = select(*kind, *map(func.count, answers)).where(*own, answered).group_by(*kind)
    return {(state, reason): (replies, opt_outs) for state, reason, replies, opt_outs in await unit.rows(statement)}


def _key(by: BreakdownGroup) -> ColumnElement[Any]:
    """Return the key of a grouping whose figures the counts do not have; `_show` writes it, once for each group."""
    match by:
        case BreakdownGroup.number:
            return Recipient.number.expression
        case BreakdownGroup.area:
            length = case((Recipient.phone.startswith("+1"), 5), else_=3)
            return func.left(Recipient.phone, length, type_=Text)
        case BreakdownGroup.hour:
            return func.date_trunc("hour", Recipient.sent_at, "UTC")
        case _:
            return Recipient.segments.expression


def _show(key: str | int | datetime | None) -> str:
    if isinstance(key, datetime):
        return f"{key.astimezone(UTC):%Y-%m-%dT%H:00Z}"
    return "" if key is None else str(key)
