"""Failing messages, and presuming them sent, for reasons other than a carrier's report.

The message is locked, changed by the rules of `reports`, and written in one transaction with its events and refund.
"""

from sqlalchemy import select

from app.domain.billing import service as billing
from app.domain.carriers.carrier import FailureCode
from app.domain.consent import queries as consents
from app.domain.consent.models import SuppressionReason
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contacts
from app.domain.contacts.service import find_or_create
from app.domain.conversations import review
from app.domain.events import outbox
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import late_keywords
from app.domain.messages.models import Message, MessageStatus
from app.domain.messages.reports import UNSETTLED, HeldMessage, ReportedMessage


async def fail(
    unit: UnitOfWork, message_id: int, code: str, carrier_error: str | None = None, named: str | None = None
) -> bool:
    """Mark a message failed and refund it; return False for a message in a final state.

    `named` is the carrier's id of the message, where it is taken for it in `carrier_ids`.
    """
    await billing.lock(unit)
    message = await _lock(unit, message_id, UNSETTLED)
    if message is None:
        return False
    changed = await _read(unit, message)
    changed.provider_message_id = changed.provider_message_id or named
    changed.fail(code, carrier_error)
    await _write(unit, message, changed)
    await billing.refund(unit, message.account_id, message.id, changed.refund, f"Message failed: {code}")
    if code == FailureCode.opted_out:
        await _keep_opt_out(unit, message)
    return True


async def presume_sent(unit: UnitOfWork, message_id: int) -> None:
    """Mark a pending message, whose carrier cannot be asked about it, sent and unconfirmed.

    It is not refunded, because the carrier may have accepted it; a later report still applies.
    """
    message = await _lock(unit, message_id, (MessageStatus.pending,))
    if message is not None:
        changed = await _read(unit, message)
        changed.presume_sent(unit.clock.now())
        await _write(unit, message, changed)


async def opt_out(unit: UnitOfWork, message_id: int) -> None:
    """Record an opt-out that a carrier reported by a failure which is not applied yet.

    A report may be late. A consent that was given after the text was sent is newer, and stays.
    """
    await billing.lock(unit)
    message = await _lock(unit, message_id, UNSETTLED)
    if message is None:
        return
    sent_at = message.sent_at
    if sent_at is None or not await consents.has_stated_since(unit, message.to_number, consents.OPT_INS, sent_at):
        await _keep_opt_out(unit, message)


async def _lock(unit: UnitOfWork, message_id: int, statuses: tuple[MessageStatus, ...]) -> Message | None:
    own = Message.account_id == unit.actor.account_id, Message.id == message_id
    statement = select(Message).where(*own, Message.status.in_([str(status) for status in statuses]))
    return await unit.one(statement.with_for_update(key_share=True).execution_options(populate_existing=True))


async def _read(unit: UnitOfWork, message: Message) -> ReportedMessage:
    contact = await contacts.get(unit, message.contact_id)
    return ReportedMessage(
        HeldMessage(
            id=message.id,
            account_id=message.account_id,
            contact_id=message.contact_id,
            carrier=message.carrier,
            from_number=message.from_number,
            to_number=message.to_number,
            body=message.body,
            status=message.status,
            segments=message.segments,
            credits=message.credits,
            cost=message.cost,
            provider_message_id=message.provider_message_id,
            carrier_status=message.carrier_status,
            carrier_error=message.carrier_error,
            error_code=message.error_code,
            unconfirmed=message.unconfirmed,
            sent_at=message.sent_at,
            delivered_at=message.delivered_at,
            carrier_segments=message.carrier_segments,
            first_name=contact.first_name,
            last_name=contact.last_name,
        )
    )


async def _write(unit: UnitOfWork, message: Message, changed: ReportedMessage) -> None:
    message.status, message.error_code, message.cost = changed.status, changed.error_code, changed.cost
    message.unconfirmed, message.carrier_error = changed.unconfirmed, changed.carrier_error
    message.sent_at, message.provider_message_id = changed.sent_at, changed.provider_message_id
    message.failed_at = unit.clock.now() if changed.has_failed else message.failed_at
    await unit.save(message)
    for event in changed.events:
        outbox.record(unit, event, message.contact_id)


async def _keep_opt_out(unit: UnitOfWork, message: Message) -> None:
    """Let nothing more be sent to the phone that was texted: the contact may have been given another since."""
    contact = await find_or_create(unit, message.to_number, "carrier")
    late_at = late_keywords.find_late_time(unit.clock.now(), message.sent_at)
    evidence = Evidence("carrier", message_id=message.id, occurred_at=late_at)
    await opt_outs.opt_out(unit, contact, "", SuppressionReason.carrier, evidence)
    await review.settle(unit, contact.id)
