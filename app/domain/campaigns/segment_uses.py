"""Delete segments that no campaign is going to reach."""

from sqlalchemy import BigInteger, select

from app.domain.campaigns.models import Campaign
from app.domain.campaigns.service import EDITABLE
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import queries, service
from app.domain.segments.models import Segment

NAMED = 5
"""The number of campaigns that an error names."""


async def delete(unit: UnitOfWork, segment_id: int) -> Segment:
    """Delete a segment, and return it; raise `NotFound`, and `Conflict` with the campaigns that it is the audience of.

    Campaigns that were sent have an audience of their own.
    """
    segment = await queries.get(unit, segment_id, lock=True)
    own = Campaign.account_id == unit.actor.account_id, Campaign.status.in_(EDITABLE)
    uses = select(Campaign).where(*own, Campaign.audience["segment_id"].astext.cast(BigInteger) == segment_id)
    campaigns = await unit.all(uses.order_by(Campaign.id).limit(NAMED + 1))
    if campaigns:
        named = ", ".join(f"{each.name} (id {each.id})" for each in campaigns[:NAMED])
        others = " and others" if len(campaigns) > NAMED else ""
        raise Conflict(
            reason=f"The segment {segment.name} is the audience of campaigns that were not sent: {named}{others}."
        )
    return await service.delete(unit, segment)
