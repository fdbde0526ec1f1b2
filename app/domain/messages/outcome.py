"""What becomes of a message: sent, delivered, failed. Final states absorb whatever comes later.

Each change is one guarded update; its event, and for a failure its refund, are written only when the update
found the message in a state that allows it, in the same transaction.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, func, or_, update

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
from app.domain.messages.events import MessageDelivered, MessageFailed, MessageSent, outbound
from app.domain.messages.models import Message, MessageStatus

UNSETTLED = (MessageStatus.pending, MessageStatus.sent)


@dataclass(frozen=True, slots=True)
class Report:
    """What the carrier said, in its own words, along with a change of state."""

    provider_message_id: str | None = None
    carrier_status: str | None = None
    carrier_error: str | None = None


async def deliver(unit: UnitOfWork, message_id: int, report: Report) -> bool:
    """Mark a message delivered; return False where that is not possible any more."""
    now = unit.clock.now()
    return await _settle(unit, message_id, report, status="delivered", delivered_at=now, unconfirmed=False)


async def fail(
    unit: UnitOfWork, message_id: int, code: str, report: Report, claimed_until: datetime | None = None
) -> bool:
    """Mark a message failed and give back what it cost; return False where that is not possible any more.

    With `claimed_until`, that includes a pending message whose claim is another's by now.
    """
    await billing.lock(unit)
    own = [or_(Message.claimed_until == claimed_until, Message.status != "pending")] if claimed_until else []
    if not await _settle(unit, message_id, report, *own, status="failed", error_code=code, cost=0, unconfirmed=False):
        return False
    message = await unit.session.get_one(Message, message_id)
    await billing.refund(unit, message.account_id, message.id, message.credits, f"Message failed: {code}")
    if code == FailureCode.opted_out:
        await _opted_out_at_carrier(unit, message)
    return True


async def mark_sent(unit: UnitOfWork, message_id: int, report: Report) -> bool:
    """Mark a pending message sent; return False where it has come further.

    One that was presumed sent, and that no carrier has named yet, is confirmed.
    """
    message = await _change(unit, message_id, (MessageStatus.pending,), report, {"status": "sent"})
    if message is not None:
        await _tell_sent(unit, message)
        return True
    unnamed = Message.provider_message_id.is_(None)
    await _change(unit, message_id, (MessageStatus.sent,), report, {"unconfirmed": False}, unnamed)
    return False


async def presume_sent(unit: UnitOfWork, message_id: int, claimed_until: datetime) -> bool:
    """Mark a claimed message, whose carrier answers no question about it, sent and unconfirmed.

    Nothing is given back: it may have left, and a later report still counts. Returns False where the claim is
    another's by now.
    """
    values = {"status": "sent", "unconfirmed": True}
    claimed = Message.claimed_until == claimed_until
    message = await _change(unit, message_id, (MessageStatus.pending,), Report(), values, claimed)
    if message is not None:
        await _tell_sent(unit, message)
    return message is not None


async def note(unit: UnitOfWork, message_id: int, report: Report, *, unconfirmed: bool = False) -> bool:
    """Keep what the carrier said without a change of state."""
    values = {"unconfirmed": True} if unconfirmed else {}
    return await _change(unit, message_id, UNSETTLED, report, values) is not None


async def _settle(
    unit: UnitOfWork, message_id: int, report: Report, *conditions: ColumnElement[bool], **values: Any
) -> bool:
    message = await _change(unit, message_id, UNSETTLED, report, values, *conditions)
    if message is None:
        return False
    if message.sent_at is None and message.status == MessageStatus.delivered:
        await _tell_sent(unit, message)
    await _tell_settled(unit, message)
    return True


async def _change(
    unit: UnitOfWork,
    message_id: int,
    froms: tuple[MessageStatus, ...],
    report: Report,
    values: dict[str, Any],
    *conditions: ColumnElement[bool],
) -> Message | None:
    released = {"claimed_until": None} if "status" in values else {}
    statement = (
        update(Message)
        .where(
            Message.account_id == unit.actor.account_id,
            Message.id == message_id,
            Message.status.in_([str(status) for status in froms]),
            *conditions,
        )
        .values(
            provider_message_id=func.coalesce(Message.provider_message_id, report.provider_message_id),
            carrier_status=func.coalesce(report.carrier_status, Message.carrier_status),
            carrier_error=func.coalesce(report.carrier_error, Message.carrier_error),
            **released,
            **values,
        )
        .returning(Message)
        .execution_options(populate_existing=True)
    )
    return cast("Message | None", (await unit.execute(statement)).scalar_one_or_none())


async def _tell_sent(unit: UnitOfWork, message: Message) -> None:
    """Tell that the carrier took a message; a receipt that overtook the carrier's answer tells it too."""
    now = message.delivered_at or unit.clock.now()
    message.sent_at = now
    await unit.save(message)
    contact = await contacts.get(unit, message.contact_id)
    keys = outbound(message, contact)
    keys["status"] = MessageStatus.sent.value
    outbox.record(unit, MessageSent(**keys, sent_at=timestamp(now)), contact.id)


async def _tell_settled(unit: UnitOfWork, message: Message) -> None:
    contact = await contacts.get(unit, message.contact_id)
    keys = outbound(message, contact)
    if message.delivered_at is not None:
        outbox.record(unit, MessageDelivered(**keys, delivered_at=timestamp(message.delivered_at)), contact.id)
    else:
        description = failures.describe(message.error_code or "")
        outbox.record(unit, MessageFailed(**keys, delivered_at=None, status_description=description), contact.id)


async def _opted_out_at_carrier(unit: UnitOfWork, message: Message) -> None:
    """Keep an opt-out that only the carrier knew of, so that nothing more is sent there.

    It belongs to the phone that was texted: the contact may have been given another since.
    """
    contact = await find_or_create(unit, message.to_number, "carrier")
    await opt_outs.opt_out(unit, contact, "", "carrier", Evidence("carrier", message_id=message.id))
    await review.settle(unit, contact.id)
