"""Events of campaigns."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.kernel.events import Event, UpdateKind, event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignProgress(Event):
    """A campaign was changed, or its recipients came to other states. It is a live update only, with no webhook."""

    name = "campaign_progress"
    subscribable = False
    scope = Scope.campaigns_read
    live_kind = UpdateKind.campaign_progress
    example = {"campaign_id": 12}

    campaign_id: int
