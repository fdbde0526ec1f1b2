"""The question of a double opt-in."""

from dataclasses import dataclass

from sqlalchemy import select, text

from app.domain.consent import opt_in_requests
from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind, OptInRequest
from app.domain.consent.service import Evidence
from app.domain.contacts import queries as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import compliance, late_keywords
from app.domain.messages.compliance import Thread
from app.domain.messages.models import Message
from app.domain.numbers import sql as numbers

FIND_CONNECTION = f"SELECT {numbers.find_carrier(':number', ':account_id')}"


@dataclass(frozen=True, slots=True)
class Asked:
    """The keyword of an inbound message, which asks for texts, and the tag of those who confirm it."""

    message_id: int
    keyword: str
    tag: str


async def ask(unit: UnitOfWork, contact_id: int, asked: Asked) -> bool:
    """Ask the sender of a message to confirm it with YES, and record the request; return whether it was asked.

    A phone with an open request is not asked again, nor one that opted out or may have done so after the message, nor
    through a number that the account no longer has.
    """
    contact = await contacts.get(unit, contact_id, lock=True)
    message = await unit.one(select(Message).where(Message.contact_id == contact_id, Message.id == asked.message_id))
    if message is None or not await opt_in_requests.may_ask(unit, contact.phone):
        return False
    if message.from_number != contact.phone or contact.held_until is not None:
        return False
    said_at = late_keywords.find_late_time(unit.clock.now(), message.sent_at) or message.created_at
    if await consents.has_opted_out_since(unit, contact.phone, said_at):
        return False
    values = {"number": message.to_number, "account_id": unit.actor.account_id}
    connection = (await unit.execute(text(FIND_CONNECTION), values)).scalar_one()
    thread = Thread(contact, message.conversation_id, message.to_number, connection or "")
    question = await compliance.reply(unit, thread, compliance.ASKED) if connection else None
    if question is None:
        return False
    await _record(unit, message, question, asked)
    return True


async def _record(unit: UnitOfWork, message: Message, question: Message, asked: Asked) -> None:
    now, phone = unit.clock.now(), question.to_number
    evidence = Evidence("keyword", message.body, message.id, note=f"Asked: {question.body}")
    await consent.record(unit, phone, ConsentKind.opt_in_requested, evidence)
    await unit.save(
        OptInRequest(
            account_id=unit.actor.account_id,
            phone=phone,
            keyword=asked.keyword,
            tag=asked.tag,
            text=message.body,
            message_id=message.id,
            question=question.body,
            question_id=question.id,
            expires_at=now + opt_in_requests.LASTS,
            created_at=now,
        )
    )
