"""Notices to the owners about a campaign that has ended, or was paused for another reason than a user's request."""

from app.db.engine import Connection
from app.domain.billing import queries as billing
from app.domain.campaigns.events import CampaignProgress
from app.domain.campaigns.models import Campaign, PauseReason
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.notices import queries
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind

REASONS = {
    PauseReason.insufficient_credits: "The balance does not pay for the next text. It goes on after a top-up.",
    PauseReason.over_max_credits: "Its exact cost is more than the credits that were allowed. Nothing was sent.",
    PauseReason.account: "The account is suspended, or its deletion was requested.",
    PauseReason.credential_ended: "The key, application or user that sent it has ended. Resume it to send as yourself.",
    PauseReason.no_sending_number: "The account has no active number that it can send from.",
    PauseReason.filtered: "Carriers filtered more than 10 % of its last results.",
    PauseReason.opt_outs: "More than 3 % of its last recipients opted out.",
    PauseReason.sender_refused: "The carrier refused the sender several times in a row.",
    PauseReason.no_recipients: "No contact of its audience may be texted.",
}
PAUSED = "The campaign {name} was paused"
COMPLETED = "All its recipients are decided. The report shows the results."


async def record_pause(unit: UnitOfWork, campaign: Campaign, reason: PauseReason) -> None:
    """Record that a campaign was paused, unless a user asked for it, or was told of it and has added no credits."""
    body = REASONS.get(reason)
    if body is None or (reason is PauseReason.insufficient_credits and await _is_known(unit, campaign.id, body)):
        return
    title = PAUSED.format(name=campaign.name)
    outbox.record(unit, OwnersNotified(kind=NoticeKind.campaign, title=title, body=body, subject_id=campaign.id))


async def _is_known(unit: UnitOfWork, campaign_id: int, body: str) -> bool:
    """Return whether owners know of a pause without credits: after each refund, the campaign goes on for a text."""
    told_at = await queries.find_last_told(unit, NoticeKind.campaign, campaign_id, body)
    added_at = await billing.find_last_addition(unit)
    return told_at is not None and (added_at is None or added_at < told_at)


async def record_completion(connection: Connection, account_id: int, campaign_id: int, name: str) -> None:
    """Record that a campaign has ended, in the transaction of the caller."""
    await _record(connection, account_id, campaign_id, f"The campaign {name} has ended", COMPLETED)


async def record_failure(connection: Connection, account_id: int, campaign_id: int, name: str) -> None:
    """Record that a campaign has failed without recipients, in the transaction of the caller."""
    body = REASONS[PauseReason.no_recipients]
    await _record(connection, account_id, campaign_id, f"The campaign {name} has failed", body)


async def record_excess(connection: Connection, account_id: int, campaign_id: int, name: str) -> None:
    """Record that a campaign was paused since it costs more than allowed, in the transaction of the caller."""
    body = REASONS[PauseReason.over_max_credits]
    await _record(connection, account_id, campaign_id, PAUSED.format(name=name), body)


async def _record(connection: Connection, account_id: int, campaign_id: int, title: str, body: str) -> None:
    notice = OwnersNotified(kind=NoticeKind.campaign, title=title, body=body, subject_id=campaign_id)
    recorded = (notice, CampaignProgress(campaign_id=campaign_id))
    await outbox.record_all(connection, [Recorded(account_id, event) for event in recorded])
