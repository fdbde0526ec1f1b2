"""Stores inbound messages, and acts on opt-out, opt-in and help keywords."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Pool, Sessions
from app.domain.billing import service as billing
from app.domain.carriers.carrier import Carrier, InboundMessage
from app.domain.carriers.connections import OpenConnections
from app.domain.consent import opt_in_requests, recognition
from app.domain.consent.models import OptInOutcome, OptInRequest, SuppressionReason
from app.domain.consent.recognition import Intent, IntentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.contacts.events import OptInConfirmed
from app.domain.contacts.models import Contact, ContactStatus, Reach
from app.domain.conversations import history
from app.domain.conversations import service as conversations
from app.domain.conversations.models import Conversation
from app.domain.events import outbox
from app.domain.kernel import phone, sms_parts
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import compliance, failures, intents, late_keywords, outcome, outgoing
from app.domain.messages.compliance import Thread
from app.domain.messages.events import NewMessage
from app.domain.messages.models import CarrierId, Direction, Message, MessageStatus, Purpose
from app.domain.numbers import sql as numbers

SOURCE = "inbound_sms"
HELP_EVERY = timedelta(hours=24)
CONFIRMED_WITHIN = timedelta(minutes=5)
"""The time after an opt-out within which its confirmation may leave: 47 CFR 64.1200(a)(12)."""

KEEP_UNMATCHED = """
INSERT INTO unmatched_callbacks (carrier, kind, problem, payload) VALUES ($1, $2, $3, $4)
"""


@dataclass(frozen=True, slots=True)
class Inbox:
    """Receives inbound messages from carriers."""

    sessions: Sessions
    pool: Pool
    clock: Clock
    notify: Notify
    connections: OpenConnections

    async def receive(self, carrier: str, inbound: InboundMessage, owner_id: int | None = None) -> None:
        """Store a message, open its conversation and act on its intent in one transaction. Idempotent.

        With an `owner_id`, it is dropped where another account has the number by now.
        """
        owner = await self.pool.fetchrow(numbers.FIND_OWNER, inbound.to_number, carrier)
        if owner_id is not None and (owner is None or owner["account_id"] != owner_id):
            return
        if owner is None:
            await self.keep_unmatched(carrier, "inbound", "no account holds the number", _payload(inbound))
            return
        known = await self.connections.get(carrier)
        if known is None:
            await self.keep_unmatched(carrier, "inbound", "the connection was removed", _payload(inbound))
            return
        actor = Actor(owner["account_id"], frozenset(), f"carrier:{carrier}")
        async with open_unit(self.sessions, actor, self.clock, self.notify) as unit:
            await _process(unit, Route(known.carrier, owner["carrier"]), inbound)

    async def keep_unmatched(self, carrier: str, kind: str, problem: str, payload: dict[str, Any]) -> None:
        """Store a signed callback that cannot be processed, so that it can be inspected."""
        await self.pool.execute(KEEP_UNMATCHED, carrier, kind, problem, payload)


@dataclass(frozen=True, slots=True)
class Route:
    """The carrier that brought a message, and the key of the connection that replies leave through."""

    carrier: Carrier
    reply_through: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A stored inbound message with its contact and conversation; `reopened` when the conversation was closed.

    No reply is needed where `is_answered`: the carrier has answered the keyword. One that has arrived late was sent at
    `late_at`.
    """

    message: Message
    contact: Contact
    conversation: Conversation
    route: Route
    reopened: bool
    is_answered: bool
    late_at: datetime | None

    def prove(self, method: str, note: str = "") -> Evidence:
        """Return the message as the evidence of a statement."""
        return Evidence(method, self.message.body, self.message.id, note=note, occurred_at=self.late_at)

    @property
    def thread(self) -> Thread:
        """Return the place of a reply."""
        return Thread(self.contact, self.conversation.id, self.message.to_number, self.route.reply_through)


async def _process(unit: UnitOfWork, route: Route, inbound: InboundMessage) -> None:
    id = await _reserve_id(unit, route.carrier, inbound)
    if id is None:
        return
    if intents.classify(inbound.body, inbound.answered_keyword).kind is IntentKind.opt_out:
        await billing.lock(unit)
    contact = await contacts.find_or_create(unit, phone.normalize_sender(inbound.from_number), SOURCE)
    arrival = await _store(unit, id, route, contact, inbound)
    request = await opt_in_requests.find_open(unit, contact.phone)
    request = None if late_keywords.precedes(arrival.late_at, request) else request
    opted_out = contact.status == ContactStatus.opted_out
    intent = intents.classify(
        inbound.body, inbound.answered_keyword, opted_out=opted_out, opt_in_pending=request is not None
    )
    intent = await late_keywords.weigh(unit, contact.phone, intent, arrival.late_at)
    contact.reach = Reach.proven if phone.find_unproven(contact.phone) else None
    outbox.record(unit, NewMessage.of(arrival.message, contact), contact.id)
    if intent.kind is not IntentKind.opt_out:
        contact.replies += 1
        contact.updated_at = unit.clock.now()
    await _act_on(unit, arrival, intent, request)
    if request is not None and _leaves_unconfirmed(intent, inbound.body, request):
        await opt_in_requests.end(unit, [contact.phone], OptInOutcome.unconfirmed)
    if arrival.reopened:
        history.record_reopening(unit, arrival.conversation)
    await unit.save(contact, arrival.conversation)


async def _reserve_id(unit: UnitOfWork, carrier: Carrier, inbound: InboundMessage) -> int | None:
    """Return an id for the message; None if it was stored before, even if it was erased since.

    A repeated callback waits here for the transaction that stores the message.
    """
    names = {"carrier": carrier.key, "provider_message_id": inbound.provider_message_id, "direction": "inbound"}
    taken = insert(CarrierId).values(**names, message_id=func.nextval("messages_id_seq")).on_conflict_do_nothing()
    return (await unit.execute(taken.returning(CarrierId.message_id))).scalar_one_or_none()


async def _renumber(unit: UnitOfWork, carrier: Carrier, inbound: InboundMessage) -> int:
    """Return another id for a message: a later message was read while it waited, and it is not read with that."""
    of_carrier = CarrierId.carrier == carrier.key, CarrierId.provider_message_id == inbound.provider_message_id
    own = update(CarrierId).where(*of_carrier, CarrierId.direction == Direction.inbound)
    later = own.values(message_id=func.nextval("messages_id_seq")).returning(CarrierId.message_id)
    return (await unit.execute(later)).scalar_one()


async def _store(unit: UnitOfWork, id: int, route: Route, contact: Contact, inbound: InboundMessage) -> Arrival:
    conversation = await conversations.find_or_open(
        unit,
        contact,
        {"first_message": inbound.body, "from_number": contact.phone, "to_number": inbound.to_number},
    )
    counted = sms_parts.count(inbound.body)
    if id <= (conversation.read_up_to or 0):
        id = await _renumber(unit, route.carrier, inbound)
    message = Message(
        id=id,
        account_id=unit.actor.account_id,
        contact_id=contact.id,
        conversation_id=conversation.id,
        direction=Direction.inbound,
        from_number=contact.phone,
        to_number=inbound.to_number,
        body=inbound.body,
        status=MessageStatus.received,
        purpose=Purpose.conversational,
        segments=counted.segments,
        encoding=counted.encoding,
        carrier=route.carrier.key,
        provider_message_id=inbound.provider_message_id,
        media=[{"url": each.url, "content_type": each.content_type} for each in inbound.media] or None,
        actor=unit.actor.label,
        answered_keyword=inbound.answered_keyword,
        sent_at=inbound.at or unit.clock.now(),
    )
    await unit.save(message)
    reopened = conversations.reopen(conversation)
    conversation.unread_count += 1
    conversation.last_message_at = conversation.last_inbound_at = unit.clock.now()
    conversation.waiting_since = conversation.waiting_since or unit.clock.now()
    conversation.sending_number = inbound.to_number
    is_answered = route.carrier.capabilities.handles_opt_out or inbound.answered_keyword is not None
    late_at = late_keywords.find_late_time(unit.clock.now(), inbound.at)
    return Arrival(message, contact, conversation, route, reopened, is_answered, late_at)


async def _act_on(unit: UnitOfWork, arrival: Arrival, intent: Intent, request: OptInRequest | None) -> None:
    """Act on the intent of a message, in the transaction that stores it."""
    match intent.kind:
        case IntentKind.opt_out:
            await _stop(unit, arrival, intent)
        case IntentKind.opt_in:
            await (_confirm(unit, arrival, request) if request else _start(unit, arrival))
        case IntentKind.help:
            await _help(unit, arrival)
        case IntentKind.review:
            if await opt_outs.hold(unit, arrival.contact, arrival.message.body, arrival.message.id):
                arrival.conversation.possible_opt_out = True
        case IntentKind.wrong_number:
            arrival.conversation.wrong_number = True
            await contacts.update(unit, arrival.contact.id, {"dnd_sms": True})
        case IntentKind.none:  # pragma: no branch - no kind is left
            pass


async def _stop(unit: UnitOfWork, arrival: Arrival, intent: Intent) -> None:
    """Opt the contact out, and confirm it unless the text came too long ago, by the carrier's time if it states one."""
    arrival.conversation.possible_opt_out, arrival.conversation.waiting_since = False, None
    evidence = arrival.prove("keyword")
    reason = SuppressionReason(intent.reason)
    changed = await opt_outs.opt_out(unit, arrival.contact, intent.keyword, reason, evidence)
    for message_id in await outgoing.cancel(unit, arrival.contact.id):
        await outcome.fail(unit, message_id, failures.OwnCode.contact_opted_out)
    now = unit.clock.now()
    latest = min(arrival.message.sent_at or now, now) + CONFIRMED_WITHIN
    if changed and not arrival.is_answered and now <= latest:
        await compliance.reply(unit, arrival.thread, compliance.STOPPED, latest)


async def _start(unit: UnitOfWork, arrival: Arrival) -> None:
    arrival.conversation.possible_opt_out = False
    evidence = arrival.prove("keyword")
    if await opt_outs.opt_in(unit, arrival.contact, evidence) and not arrival.is_answered:
        await compliance.reply(unit, arrival.thread, compliance.STARTED)


async def _confirm(unit: UnitOfWork, arrival: Arrival, request: OptInRequest) -> None:
    """Record the consent that both texts of a double opt-in give, once, and tell of it."""
    arrival.conversation.possible_opt_out = False
    said = f"Asked: {request.question} After the text: {request.text}"
    evidence = arrival.prove("double_opt_in", note=said)
    await opt_in_requests.end(unit, [arrival.contact.phone], OptInOutcome.confirmed)
    await opt_outs.opt_in(unit, arrival.contact, evidence)
    if request.tag and len(arrival.contact.tags) < contacts.MAX_TAGS:
        await contacts.add_tag(unit, arrival.contact.id, request.tag)
    outbox.record(unit, OptInConfirmed.of(arrival.contact, request, unit.clock.now()), arrival.contact.id)
    if not arrival.is_answered:
        await compliance.reply(unit, arrival.thread, compliance.CONFIRMED)


def _leaves_unconfirmed(intent: Intent, body: str, request: OptInRequest) -> bool:
    """Return whether a text ends a request: any but YES, a question for help, a reaction, and the keyword again."""
    if intent.kind in (IntentKind.opt_in, IntentKind.help) or recognition.is_reaction(body):
        return False
    return recognition.normalize(body) != recognition.normalize(request.text)


async def _help(unit: UnitOfWork, arrival: Arrival) -> None:
    """Reply to HELP at most once in 24 hours, also to contacts who opted out (CTIA 5.1.2)."""
    answered = select(Message.id).where(
        Message.account_id == unit.actor.account_id,
        Message.contact_id == arrival.contact.id,
        Message.purpose == Purpose.compliance,
        Message.body.endswith(compliance.END_OF_HELP, autoescape=True),
        Message.created_at > unit.clock.now() - HELP_EVERY,
    )
    if not arrival.is_answered and not await unit.all(answered.limit(1)):
        await compliance.reply(unit, arrival.thread, compliance.HELP)


def _payload(inbound: InboundMessage) -> dict[str, Any]:
    return {
        "provider_message_id": inbound.provider_message_id,
        "from_number": inbound.from_number,
        "to_number": inbound.to_number,
        "body": inbound.body,
    }
