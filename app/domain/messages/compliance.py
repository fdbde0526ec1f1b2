"""Compliance texts: the service's own replies, free of charge and exempt from every gate."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.accounts import queries as accounts
from app.domain.contacts.models import Contact
from app.domain.events import outbox
from app.domain.kernel import sms_parts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outgoing
from app.domain.messages.events import MessageAccepted
from app.domain.messages.models import Direction, Message, MessageStatus, Purpose

STOPPED = "you are unsubscribed and will get no more messages. Reply START to resubscribe."
STARTED = "you are subscribed again. Reply HELP for help, STOP to unsubscribe."
ASKED = "reply YES within 24 hours to get our texts. Msg&data rates may apply. Reply HELP for help, STOP to get none."
CONFIRMED = "you are subscribed. Reply HELP for help, STOP to unsubscribe."
END_OF_HELP = "Msg&data rates may apply. Reply STOP to unsubscribe."
"""The end of every reply to HELP. It identifies earlier replies, also after a change of the account's name."""

HELP_WITH_SUPPORT = "for help contact {support}. "
HELP = HELP_WITH_SUPPORT + END_OF_HELP

FORMER_DEFAULT_NAME = "My company"
"""The former default name of accounts."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The place of a reply: the contact, the conversation, our number and its connection to a carrier."""

    contact: Contact
    conversation_id: int
    number: str
    connection: str


async def reply(unit: UnitOfWork, thread: Thread, template: str, latest: datetime | None = None) -> Message | None:
    """Queue a compliance text, which may leave until `latest`, or at any time.

    Return None where the sender has no phone that takes a reply.
    """
    if not thread.contact.phone.startswith("+"):
        return None
    body = await _write(unit, template)
    counted = sms_parts.count(body)
    message = Message(
        account_id=unit.actor.account_id,
        contact_id=thread.contact.id,
        conversation_id=thread.conversation_id,
        direction=Direction.outbound,
        from_number=thread.number,
        to_number=thread.contact.phone,
        body=body,
        status=MessageStatus.pending,
        purpose=Purpose.compliance,
        segments=counted.segments,
        encoding=counted.encoding,
        carrier=thread.connection,
        actor="system",
        created_at=unit.clock.now(),
    )
    await unit.save(message)
    await outgoing.add(unit, message, latest)
    outbox.record(unit, MessageAccepted.of(message, thread.contact), thread.contact.id)
    return message


async def _write(unit: UnitOfWork, template: str) -> str:
    """Return a compliance text with the account's name and support contact, if set."""
    account = await accounts.get_own(unit)
    name = "" if account.company_name == FORMER_DEFAULT_NAME else account.company_name
    support = account.support_contact or name
    text = template.format(support=support) if support else template.removeprefix(HELP_WITH_SUPPORT)
    return f"{name}: {text}" if name else text[:1].upper() + text[1:]
