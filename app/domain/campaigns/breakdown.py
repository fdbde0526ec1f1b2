"""Results of a campaign by number, area, hour, number of SMS parts, or reason."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Text, case, cast, func, select

from app.domain.campaigns import queries
from app.domain.campaigns.models import Recipient
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_GROUPS = 1000


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
    """The recipients of one group, and what became of them."""

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
    key, number = _key(by), func.count()
    columns = (
        key,
        number,
        *(number.filter(Recipient.state == state) for state in queries.LEFT),
        func.count(Recipient.replied_at),
        func.count(Recipient.opted_out_at),
        func.coalesce(func.sum(Recipient.segments), 0),
        func.coalesce(func.sum(Recipient.credits), 0),
    )
    own = Recipient.campaign_id == campaign_id, Recipient.account_id == unit.actor.account_id
    statement = select(*columns).where(*own).group_by(key).order_by(number.desc(), key).limit(MAX_GROUPS)
    return [BreakdownRow(str(row[0] or ""), *map(int, row[1:])) for row in await unit.rows(statement)]


def _key(by: BreakdownGroup) -> ColumnElement[str]:
    match by:
        case BreakdownGroup.state:
            return Recipient.state.expression
        case BreakdownGroup.reason:
            return case((Recipient.reason == "", Recipient.state), else_=Recipient.reason)
        case BreakdownGroup.number:
            return Recipient.number.expression
        case BreakdownGroup.area:
            length = case((Recipient.phone.startswith("+1"), 5), else_=3)
            return func.left(Recipient.phone, length, type_=Text)
        case BreakdownGroup.hour:
            hour = func.date_trunc("hour", Recipient.sent_at, "UTC")
            return func.to_char(func.timezone("UTC", hour), 'YYYY-MM-DD"T"HH24":00Z"', type_=Text)
        case BreakdownGroup.segments:
            return cast(Recipient.segments, Text)
