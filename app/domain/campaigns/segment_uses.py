"""Delete segments that no campaign is going to reach and no AI agent answers."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, or_, select

from app.domain.agents import queries as agents
from app.domain.agents.models import Agent
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.service import EDITABLE
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import queries, service
from app.domain.segments.models import Segment

NAMED = 5
"""The number of campaigns, or of AI agents, that an error names."""


async def delete(unit: UnitOfWork, segment_id: int) -> Segment:
    """Delete a segment, and return it; raise `NotFound`, and `Conflict` with the campaigns or AI agents that use it.

    Campaigns that were sent have an audience of their own. An agent without its segment would answer no contact.
    """
    segment = await queries.get(unit, segment_id, lock=True)
    if campaigns := await _find_campaigns(unit, segment_id):
        users = _name(campaigns)
        raise Conflict(reason=f"The segment {segment.name} is the audience of campaigns that were not sent: {users}.")
    if answering := await agents.list_of_segment(unit, segment_id):
        users = _name(answering)
        raise Conflict(
            reason=f"Only the contacts of the segment {segment.name} are answered by AI agents: {users}. "
            "Give them another segment, or none, first."
        )
    return await service.delete(unit, segment)


async def _find_campaigns(unit: UnitOfWork, segment_id: int) -> Sequence[Campaign]:
    own = Campaign.account_id == unit.actor.account_id, Campaign.status.in_(EDITABLE), Campaign.deleted_at.is_(None)
    named = (Campaign.audience[key].astext.cast(BigInteger) for key in ("segment_id", "excluded_segment_id"))
    uses = select(Campaign).where(*own, or_(*(each == segment_id for each in named)))
    return await unit.all(uses.order_by(Campaign.id).limit(NAMED + 1))


def _name(users: Sequence[Campaign | Agent]) -> str:
    named = ", ".join(f"{each.name} (id {each.id})" for each in users[:NAMED])
    return f"{named} and others" if len(users) > NAMED else named
