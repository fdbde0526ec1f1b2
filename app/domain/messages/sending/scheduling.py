"""Texts that are sent later: they wait in the queue as pending messages, and are canceled until they leave."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select

from app.db.engine import Connection
from app.domain.billing import service as billing
from app.domain.conversations import queries as conversations
from app.domain.conversations.models import Conversation, ConversationEntry, ConversationStatus, EntryKind
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outcome, queries
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import Direction, Message, MessageStatus, Outgoing, Purpose, ScheduledText
from app.domain.messages.sending.accepted import AcceptedSend
from app.domain.quiet_hours import service as quiet_hours

LONGEST = timedelta(days=35)
"""The longest time for which a text waits, which is that of carriers which send later themselves."""

SOONEST = Order((ScheduledText.send_at, ScheduledText.message_id), descending=False)

ADD = """
INSERT INTO scheduled_texts (message_id, account_id, conversation_id, send_at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
"""


def check(unit: UnitOfWork, send_at: datetime | None) -> datetime | None:
    """Return a time at which a text is to be sent; raise `InvalidInput` for one in the past, or too far away."""
    now = unit.clock.now()
    if send_at is not None and not now < send_at <= now + LONGEST:
        reason = f"send_at must be a time in the future, at most {LONGEST.days} days away."
        raise InvalidInput(reason=reason, field="send_at")
    return send_at


async def write(connection: Connection, accepted: Sequence[AcceptedSend]) -> None:
    """List the accepted texts that are sent later."""
    later = [(each, at) for each in accepted if (at := each.request.send.send_at)]
    if later:
        await connection.execute(
            ADD,
            [each.row.message_id for each, _ in later],
            [each.request.account_id for each, _ in later],
            [each.conversation_id for each, _ in later],
            [at for _, at in later],
        )


async def find_page(unit: UnitOfWork, conversation_id: int | None, window: Window) -> Page[ScheduledText]:
    """Return one page of the texts that wait for their time, the next one first; each has a pending message."""
    wanted = select(ScheduledText).where(
        ScheduledText.account_id == unit.actor.account_id,
        select(Message.id)
        .where(Message.id == ScheduledText.message_id, Message.status == MessageStatus.pending)
        .exists(),
    )
    if conversation_id is not None:
        wanted = wanted.where(ScheduledText.conversation_id == conversation_id)
    return await fetch(unit, wanted, SOONEST, window)


async def find_times(unit: UnitOfWork, message_ids: Sequence[int]) -> dict[int, datetime]:
    """Return the times at which messages are sent later, by message."""
    own = ScheduledText.account_id == unit.actor.account_id, ScheduledText.message_id.in_(message_ids)
    rows = await unit.rows(select(ScheduledText.message_id, ScheduledText.send_at).where(*own))
    return {row.message_id: row.send_at for row in rows}


async def cancel(unit: UnitOfWork, message_id: int) -> Message:
    """Cancel an outbound message that has not left, and refund it once; raise `Conflict` or `NotFound`.

    The message fails with the code `canceled`, and answers nobody any more. A second call returns it as it is.
    """
    await billing.lock(unit)
    conversation = await conversations.get(unit, (await queries.get(unit, message_id)).conversation_id, lock=True)
    message = await queries.lock(unit, message_id)
    if message.error_code == OwnCode.canceled:
        return message
    queued = delete(Outgoing).where(Outgoing.message_id == message.id, Outgoing.claimed_until.is_(None))
    is_pending = message.direction == Direction.outbound and message.status == MessageStatus.pending
    removed = is_pending and (await unit.execute(queued.returning(Outgoing.message_id))).scalar_one_or_none()
    if not removed:
        raise Conflict(reason=f"Message {message.id} can not be canceled any more: its status is {message.status}.")
    await outcome.fail(unit, message.id, OwnCode.canceled)
    await quiet_hours.count_no_more(unit, message.id)
    await _restore_wait(unit, conversation)
    return await queries.lock(unit, message_id)


async def _restore_wait(unit: UnitOfWork, conversation: Conversation) -> None:
    """Let a contact wait since its first text after the last answer that was not canceled, and the last closing."""
    if conversation.status == ConversationStatus.closed:
        return
    texts = Message.account_id == unit.actor.account_id, Message.conversation_id == conversation.id
    answers = (
        Message.direction == Direction.outbound,
        Message.purpose != Purpose.promotional,
        Message.error_code.is_distinct_from(OwnCode.canceled),
    )
    closing = ConversationEntry.conversation_id == conversation.id, ConversationEntry.kind == EntryKind.closed
    answered = await unit.one(select(func.max(Message.id)).where(*texts, *answers)) or 0
    closed = await unit.one(select(func.max(ConversationEntry.id)).where(*closing)) or 0
    unanswered = Message.direction == Direction.inbound, Message.id > max(answered, closed)
    first = await unit.one(select(func.min(Message.created_at)).where(*texts, *unanswered))
    if first is not None:
        conversation.waiting_since = min(first, conversation.waiting_since or first)
        await unit.save(conversation)
