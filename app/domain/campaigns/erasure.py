"""Removes an erased contact from the recipients of campaigns, whose states are kept: their sum is the audience."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, select, update

from app.domain.campaigns import results
from app.domain.campaigns.models import Campaign, CampaignStatus, Recipient, RecipientState
from app.domain.campaigns.reasons import Reason
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages

UNSENT = (RecipientState.queued, RecipientState.deferred)
UNSETTLED = (RecipientState.claimed, RecipientState.sent)
SUPPRESSED: dict[str, Any] = {
    "state": RecipientState.suppressed,
    "reason": Reason.contact_deleted,
    "body": "",
    "original_body": None,
    "due_at": None,
    "credits": 0,
}
FORGOTTEN: dict[str, Any] = {"contact_id": None, "phone": None, "body": "", "original_body": None, "message_id": None}


async def forget(unit: UnitOfWork, contact_id: int, unsent: Sequence[int]) -> None:
    """Empty the recipients that are a contact; those without a text, or with one of `unsent`, get none any more.

    `unsent` are the messages that are refunded because they have not left. Those of texts in calls to carriers count as
    sent. Later results are not noted.
    """
    await end_unsent(unit, contact_id)
    own = _is_of(unit, contact_id)
    await _change(unit, SUPPRESSED, own, Recipient.message_id.in_(list(unsent)))
    await _note_results(unit, own)
    await _change(unit, FORGOTTEN, own)


async def end_unsent(unit: UnitOfWork, contact_id: int) -> None:
    """Suppress the recipients that are a contact about to be deleted, and have no text yet.

    A worker that has read the contact and not yet written its recipient is waited for.
    """
    own = Campaign.account_id == unit.actor.account_id, Campaign.status == CampaignStatus.sending
    await unit.all(select(Campaign.id).where(*own, ~Campaign.is_read).order_by(Campaign.id).with_for_update(read=True))
    await _change(unit, SUPPRESSED, _is_of(unit, contact_id), Recipient.state.in_(UNSENT))


async def _note_results(unit: UnitOfWork, own: ColumnElement[bool]) -> None:
    """Give recipients the results of their texts, whose events will be empty when they are dispatched."""
    unsettled = await unit.all(select(Recipient).where(own, Recipient.state.in_(UNSETTLED)).with_for_update())
    texts = await messages.find_many(unit, [each.message_id for each in unsettled if each.message_id])
    for each in unsettled:
        if each.message_id in texts:
            results.apply(each, texts[each.message_id])
    await unit.save(*unsettled)


async def _change(unit: UnitOfWork, values: dict[str, Any], *which: ColumnElement[bool]) -> None:
    await unit.execute(update(Recipient).where(*which).values(values).execution_options(synchronize_session=False))


def _is_of(unit: UnitOfWork, contact_id: int) -> ColumnElement[bool]:
    return (Recipient.account_id == unit.actor.account_id) & (Recipient.contact_id == contact_id)
