"""Removes an erased contact from the recipients of campaigns, whose states are kept: their sum is the audience."""

from collections.abc import Sequence

from sqlalchemy import case, update

from app.domain.campaigns.models import Recipient, RecipientState
from app.domain.campaigns.reasons import Reason
from app.domain.kernel.unit_of_work import UnitOfWork

UNSENT = (RecipientState.queued, RecipientState.deferred)


async def forget(unit: UnitOfWork, contact_id: int, waiting: Sequence[int]) -> None:
    """Empty the recipients that are a contact; those without a text, or with one of `waiting`, get none any more.

    `waiting` are the messages that are refunded because they have not left.
    """
    is_unsent = Recipient.state.in_(UNSENT) | Recipient.message_id.in_(list(waiting))
    own = Recipient.account_id == unit.actor.account_id, Recipient.contact_id == contact_id
    left = case((Recipient.state == RecipientState.claimed, RecipientState.sent), else_=Recipient.state)
    values = {
        "state": case((is_unsent, RecipientState.suppressed), else_=left),
        "reason": case((is_unsent, Reason.contact_deleted), else_=Recipient.reason),
        "credits": case((is_unsent, 0), else_=Recipient.credits),
        "contact_id": None,
        "phone": None,
        "body": "",
        "original_body": None,
        "due_at": None,
        "message_id": None,
    }
    await unit.execute(update(Recipient).where(*own).values(values).execution_options(synchronize_session=False))
