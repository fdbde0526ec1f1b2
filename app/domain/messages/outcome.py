"""Failing messages, and presuming them sent, for reasons other than a carrier's report.

Each change is one guarded update. Its event, and the refund of a failure, are written in the same transaction, only
when the update matched.
"""

from typing import Any, cast

from sqlalchemy import func, select, update

from app.domain.billing import service as billing
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contacts
from app.domain.contacts.service import find_or_create
from app.domain.conversations import review
from app.domain.events import outbox
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import failures
from app.domain.messages.carrier import FailureCode
from app.domain.messages.events import MessageFailed, MessageSent, outbound
from app.domain.messages.models import Message, MessageStatus
from app.domain.messages.reports import UNSETTLED


async def fail(unit: UnitOfWork, message_id: int, code: str, carrier_error: str | None = None) -> bool:
    """Mark a message failed and give back what it cost; return False where that is not possible any more."""
    await billing.lock(unit)
    values = {
        "status": "failed",
        "error_code": code,
        "cost": 0,
        "unconfirmed": False,
        "carrier_error": func.coalesce(carrier_error or None, Message.carrier_error),
    }
    message = await _change(unit, message_id, UNSETTLED, values)
    if message is None:
        return False
    contact = await contacts.get(unit, message.contact_id)
    keys, description = outbound(message, contact), failures.describe(code)
    outbox.record(unit, MessageFailed(**keys, delivered_at=None, status_description=description), contact.id)
    await billing.refund(unit, message.account_id, message.id, message.credits, f"Message failed: {code}")
    if code == FailureCode.opted_out:
        await _keep_opt_out(unit, message)
    return True


async def presume_sent(unit: UnitOfWork, message_id: int) -> None:
    """Mark a pending message, whose carrier answers no question about it, sent and unconfirmed.

    Nothing is given back: it may have left, and a later report still counts.
    """
    now = unit.clock.now()
    values = {"status": "sent", "unconfirmed": True, "sent_at": now}
    message = await _change(unit, message_id, (MessageStatus.pending,), values)
    if message is not None:
        contact = await contacts.get(unit, message.contact_id)
        outbox.record(unit, MessageSent(**outbound(message, contact), sent_at=timestamp(now)), contact.id)


async def opt_out(unit: UnitOfWork, message_id: int) -> None:
    """Keep an opt-out that only the carrier knew of, and of which it told by a failure that is not applied yet."""
    await billing.lock(unit)
    own = Message.account_id == unit.actor.account_id, Message.id == message_id, Message.status.in_(UNSETTLED)
    message = await unit.one(select(Message).where(*own).with_for_update(key_share=True))
    if message is not None:
        await _keep_opt_out(unit, message)


async def _change(
    unit: UnitOfWork, message_id: int, froms: tuple[MessageStatus, ...], values: dict[str, Any]
) -> Message | None:
    statement = (
        update(Message)
        .where(
            Message.account_id == unit.actor.account_id,
            Message.id == message_id,
            Message.status.in_([str(status) for status in froms]),
        )
        .values(**values)
        .returning(Message)
        .execution_options(populate_existing=True)
    )
    return cast("Message | None", (await unit.execute(statement)).scalar_one_or_none())


async def _keep_opt_out(unit: UnitOfWork, message: Message) -> None:
    """Let nothing more be sent to the phone that was texted: the contact may have been given another since."""
    contact = await find_or_create(unit, message.to_number, "carrier")
    await opt_outs.opt_out(unit, contact, "", "carrier", Evidence("carrier", message_id=message.id))
    await review.settle(unit, contact.id)
