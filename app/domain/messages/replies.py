"""Replies in conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.db.engine import Connection
from app.domain.contacts import queries as contacts
from app.domain.conversations import queries as conversations
from app.domain.conversations import service
from app.domain.conversations import sql as conversation_sql
from app.domain.conversations.models import Conversation
from app.domain.kernel import idempotency, versions
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.errors import ConversationHasChanged
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Acceptance, Condition, Send
from app.domain.messages.sending import scheduling
from app.domain.numbers import queries as numbers

WINDOW = timedelta(hours=24)
"""The time after a contact's message in which a reply needs no certification of consent."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A requested reply. With `expected_version` it is refused if the conversation has another version by then.

    It is sent at `send_at`, or at once.
    """

    body: str
    consent_attested: bool = False
    idempotency_key: str | None = None
    expected_version: int | None = None
    send_at: datetime | None = None

    def fingerprint(self, conversation_id: int) -> str:
        """Return the fingerprint of the request; the version may change between its repetitions."""
        later = {"send_at": self.send_at} if self.send_at else {}
        return idempotency.fingerprint("reply", conversation_id=conversation_id, body=self.body, **later)


@dataclass(frozen=True, slots=True)
class _IsUnchanged:
    """The check that conversations still have a version."""

    version: int

    async def __call__(self, connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        rows = await connection.fetch(conversation_sql.LOCK_AT_VERSION, ids, self.version)
        return [row["id"] for row in rows]


async def reply(unit: UnitOfWork, acceptor: SendAcceptor, conversation_id: int, wanted: Reply) -> Acceptance:
    """Send a message to the contact of a conversation, from the number that the contact wrote to last.

    Within `WINDOW` of the contact's latest message, if that came from the contact's present phone, it is
    conversational: it needs no `consent_attested`, goes before other messages, and passes a hold. The number is the
    primary one where the contact never wrote, or the number is not active any more, or a number of the sandbox while
    the account has others. Raises `NotFound`, `ConversationHasChanged`, and the errors of `SendAcceptor.accept`.
    """
    conversation = await conversations.get(unit, conversation_id)
    contact = await contacts.get(unit, conversation.contact_id)
    latest = await queries.find_last_inbound(unit, conversation_id)
    at = scheduling.check(unit, wanted.send_at) or unit.clock.now()
    is_answer = latest is not None and latest.from_number == contact.phone and latest.created_at > at - WINDOW
    send = Send(
        contact.phone,
        wanted.body,
        wanted.consent_attested,
        await numbers.find_usual_id(unit, latest.to_number) if latest else None,
        wanted.idempotency_key,
        purpose=Purpose.conversational if is_answer else Purpose.transactional,
        contact_id=contact.id,
        condition=await _condition(unit, conversation, wanted.expected_version),
        fingerprint=wanted.fingerprint(conversation_id),
        is_shown_live=True,
        send_at=wanted.send_at,
    )
    await unit.pause()
    return await acceptor.accept(unit.actor, send)


async def _condition(unit: UnitOfWork, conversation: Conversation, version: int | None) -> Condition | None:
    """Return the condition that a conversation has a version when the reply is accepted."""
    if version is None:
        return None
    reason = "Someone has answered or changed the conversation at this moment. Read it again."
    if versions.is_outdated(version, conversation.version):
        reason = await service.describe_change(unit, conversation, version)
    return Condition(_IsUnchanged(version), conversation.id, ConversationHasChanged(reason=reason))
