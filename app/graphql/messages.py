"""Messages, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.contacts import queries as contacts
from app.domain.conversations import queries as conversations
from app.domain.kernel.paging import Page
from app.domain.kernel.sms_parts import MAX_LENGTH, Encoding
from app.domain.messages import failures, models, queries, synchronous
from app.domain.messages.models import Attestation, Direction, MessageStatus
from app.domain.messages.queries import MessageFilter
from app.domain.messages.requests import Acceptance, Send
from app.domain.messages.sending import scheduling
from app.graphql.actors import Actor, actor_in
from app.graphql.contacts import Contact
from app.graphql.core.context import Info, columns_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.lazy import lazily
from app.graphql.core.loading import Load, links, reads
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.message_sources import FromSource
from app.graphql.message_states import MessageErrorCode


@strawberry.type(description="A file of an inbound MMS.")
class Media:
    """A link to a file."""

    url: str = strawberry.field(description="The address of the carrier's copy, which may need its credentials.")
    content_type: str = strawberry.field(description="The media type, such as image/jpeg.")


@strawberry.type(description="One text, out or in.")
class Message(FromSource):
    """A message."""

    id: BigInt = strawberry.field(description="The message's id.")
    contact_id: BigInt = strawberry.field(description="The id of the contact.")
    conversation_id: BigInt = strawberry.field(description="The conversation that it belongs to.")
    direction: Direction = strawberry.field(description="The direction of the message.")
    from_number: str = strawberry.field(description="The number that it was sent from.")
    to_number: str = strawberry.field(description="The number that it was sent to.")
    body: str = strawberry.field(description="The text as it is sent, or was received.")
    original_body: str | None = strawberry.field(
        description="The text as it was written; null unless smart encoding replaced characters of it."
    )
    status: MessageStatus = strawberry.field(description="The state of the message.")
    segments: int = strawberry.field(description="The number of SMS segments.")
    encoding: Encoding = strawberry.field(description="The alphabet that it is sent in.")
    credits: BigInt = strawberry.field(description="The credits that were debited for it.")
    cost: float = strawberry.field(description="The cost in currency; 0 once failed.")
    error_code: str | None = strawberry.field(
        graphql_type=MessageErrorCode | None, description="The reason why it failed; null unless it did."
    )
    provider_message_id: str | None = strawberry.field(description="The carrier's id of the message.")
    carrier: str = strawberry.field(description="The key of the connection to the carrier.")
    carrier_segments: int | None = strawberry.field(
        description="The number of SMS segments that the carrier counted; null where it did not say."
    )
    carrier_charge: float | None = strawberry.field(
        description="The amount that the carrier charged, in carrier_currency; null where it did not say."
    )
    carrier_currency: str | None = strawberry.field(description="The currency of carrier_charge, as in ISO 4217.")
    created_at: datetime = strawberry.field(description="The time at which it was accepted or received.")
    sent_at: datetime | None = strawberry.field(description="The time at which the carrier accepted it.")
    delivered_at: datetime | None = strawberry.field(description="The time at which it was delivered.")
    failed_at: datetime | None = strawberry.field(
        description="The time at which it failed; null unless it did, or where it is not known."
    )
    deferred_until: datetime | None = strawberry.field(
        description=(
            "The time to which quiet hours, a frequency cap, or the limit or hours of a carrier put the message off "
            "last; null if none did."
        )
    )
    deferral_rule: str | None = strawberry.field(
        description=(
            "The id of the rule that put it off, such as US-FL; account.week is the account's weekly cap, "
            "carrier.daily_cap and carrier.quiet_hours are refusals of the carrier."
        )
    )
    deferral_zones: list[str] | None = strawberry.field(
        description="The time zones of the recipient, in all of which the window must be open."
    )

    @strawberry.field(
        description=(
            "True for a sent message with an unknown outcome: the carrier could not say whether it has the message, or "
            "sent no final receipt for 72 hours. A later receipt still changes the status."
        )
    )
    def unconfirmed(self, info: Info) -> bool:
        """Tell whether the outcome of the message is unknown."""
        return queries.is_unconfirmed(_row(self), info.context.unit.clock.now())

    @strawberry.field(description="The files of an inbound MMS, as links to the carrier's copies.")
    def media(self) -> list[Media]:
        """Return the links to the files."""
        return [Media(**each) for each in _row(self).media or []]

    @strawberry.field(description="The currency of cost (ISO 4217), such as USD.")
    async def currency(self, info: Info) -> str:
        """Return the account's currency."""
        return (await info.context.load(accounts.find_currencies, _row(self).account_id)) or ""

    @strawberry.field(description="The reason of the failure and the advised action, as a sentence.")
    def status_description(self) -> str | None:
        """Return the failure's sentence."""
        return failures.describe(self.error_code) if self.error_code else None

    @strawberry.field(description="The sender; for an inbound message, the carrier that delivered it.")
    def actor(self) -> Actor:
        """Return the actor."""
        return actor_in(self)

    @strawberry.field(
        graphql_type=datetime | None,
        description="The time at which it is to leave; null for one that was to leave at once, or is not pending.",
    )
    async def send_at(self, info: Info) -> Any:
        """Return the time of a text that is sent later; nothing is read for one that is not pending."""
        return await info.context.load(scheduling.find_times, self.id) if self.status == "pending" else None

    @strawberry.field(
        graphql_type=Contact,
        description="The contact that it was sent to or received from.",
        directives=guarded("contacts:read"),
    )
    @reads("contact_id")
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)

    @strawberry.field(
        graphql_type=lazily("Conversation", "app.graphql.conversations"),
        description="The conversation that it belongs to.",
        directives=guarded("conversations:read"),
    )
    @links(conversations.OF_CONTACT, "contact_id")
    def conversation(self, info: Info) -> Load[Any]:
        """Return the conversation."""
        return info.context.load(conversations.FindByContacts(columns_of(info)), self.contact_id)


@strawberry.type
class Accepted:
    """The message that a send has written, or a cancellation has changed."""

    message_id: strawberry.ID = strawberry.field(description="The message's id, as a string.")

    @strawberry.field(
        graphql_type=Message | None,
        description="The message as it is now; null once its contact was deleted.",
        directives=guarded("messages:read"),
    )
    def message(self, info: Info) -> Load[Any]:
        """Return the message; it is read only if it is selected."""
        return info.context.load(queries.find_many, int(self.message_id))

    @strawberry.field(
        graphql_type=lazily("Conversation", "app.graphql.conversations") | None,
        description="The conversation as it is now; null once its contact was deleted.",
        directives=guarded("conversations:read"),
    )
    async def conversation(self, info: Info) -> Any:
        """Return the conversation of the message."""
        message = await info.context.load(queries.find_many, int(self.message_id))
        return await info.context.load(conversations.FindByContacts(), message.contact_id) if message else None


@strawberry.type(description="An accepted message: stored, debited, and about to be handed to the carrier.")
class SentMessage(Accepted):
    """The answer to an accepted send."""

    segments: int = strawberry.field(description="The number of SMS segments.")
    status: MessageStatus = strawberry.field(description="Always pending here; receipts change it.")
    credits_remaining: BigInt = strawberry.field(description="The balance right after this text was debited.")


@strawberry.type(description="A message that the carrier has accepted.")
class TakenMessage(Accepted):
    """The answer to a send that waited for the carrier."""

    from_number: str = strawberry.field(description="The number it was sent from.")
    to_number: str = strawberry.field(description="The number it was sent to, in E.164 form.")
    segments: int = strawberry.field(description="The number of SMS segments.")
    status: MessageStatus = strawberry.field(description="Always sent here; receipts change it.")


REFUSALS = (
    "account_deleted",
    "account_deletion_pending",
    "account_suspended",
    "contact_dnd",
    "contact_held",
    "contact_opted_out",
    "idempotency_key_reused",
    "frequency_cap",
    "insufficient_credits",
    "invalid_phone",
    "landline",
    "message_too_long",
    "no_sending_number",
    "not_found",
    "quiet_hours",
)
"""Reasons for which a text is refused, whichever way it is sent."""

To = Annotated[str, strawberry.argument(description="The recipient in E.164 form, such as +12025550143.")]
Body = Annotated[
    str,
    strawberry.argument(
        description=f"The text, 1 to {MAX_LENGTH} characters.",
        directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
    ),
]
FromNumber = Annotated[
    BigInt | None,
    strawberry.argument(
        description="The number to send from. If none, that of the latest text with the recipient, or the primary one."
    ),
]
SendAt = Annotated[
    datetime | None,
    strawberry.argument(
        description=f"The time at which it is to leave, at most {scheduling.LONGEST.days} days away; it is debited "
        "now, and passes all checks again then. At once if null."
    ),
]
FromNumberOrPrimary = Annotated[
    BigInt | None, strawberry.argument(description="The number to send from; the primary one if none.")
]


CERTIFIES = "certifies that the recipient gave prior express written consent."


@strawberry.type
class MessageQuery:
    """Reading messages."""

    @strawberry.field(
        graphql_type=Connection[Message] | None,
        description="The account's messages, the newest first; null beside the error not_found for an unknown contact "
        "or conversation.",
        directives=guarded("messages:read", "not_found"),
    )
    async def messages(
        self,
        info: Info,
        status: Annotated[MessageStatus | None, strawberry.argument(description="Only this status.")] = None,
        direction: Annotated[Direction | None, strawberry.argument(description="Only this direction.")] = None,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="Only with this contact.")] = None,
        conversation_id: Annotated[BigInt | None, strawberry.argument(description="Only of this thread.")] = None,
        error_code: Annotated[
            str | None,
            strawberry.argument(
                description="Only those that failed for this reason.", graphql_type=MessageErrorCode | None
            ),
        ] = None,
        search: Annotated[
            str | None,
            strawberry.argument(
                description="A part of the text, in any case. It needs a contact, a conversation, or since and until "
                f"at most {queries.SEARCHED_WITHIN.days} days apart; until is now if it is left out.",
                directives=[Constraint(max_length=queries.MAX_SEARCH)],
            ),
        ] = None,
        since: Annotated[
            datetime | None, strawberry.argument(description="Only those accepted or received from this time on.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Only those accepted or received before this time.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Message]:
        """Return one page of messages."""
        wanted = MessageFilter(status, direction, contact_id, conversation_id, error_code, search, since, until)
        return await queries.find_page(
            info.context.unit, wanted, window(info, "messages", first, after, last, before, offset)
        )

    @strawberry.field(
        graphql_type=Message | None,
        description="One message; null beside the error not_found.",
        directives=guarded("messages:read", "not_found"),
    )
    async def message(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The message's id.")]
    ) -> models.Message:
        """Return one message."""
        return await queries.get(info.context.unit, id)


@strawberry.type
class MessageMutation:
    """Sending messages."""

    @strawberry.mutation(
        description=(
            "Send one text to one recipient, and return the message. Its credits are debited at once, and refunded if "
            "it fails."
        ),
        directives=guarded("messages:send", "api_consent_attested_required", *REFUSALS),
    )
    async def send_message(
        self,
        info: Info,
        to: To,
        body: Body,
        consent_attested: Annotated[bool | None, strawberry.argument(description=f"Must be true: {CERTIFIES}")] = None,
        from_phone_number_id: FromNumber = None,
        idempotency_key: IdempotencyKey = None,
        send_at: SendAt = None,
    ) -> SentMessage:
        """Accept a send."""
        at = scheduling.check(info.context.unit, send_at)
        send = Send(to, body, consent_attested is True, from_phone_number_id, idempotency_key, send_at=at)
        return accepted(info, await info.context.services.acceptor.accept(info.context.unit.actor, send))

    @strawberry.mutation(
        description=(
            "Send one text, wait until the carrier accepts it, and return the message: it waits 10 seconds at most, "
            "after 5 seconds at most for the pace of the sending number. After carrier_timeout the text must not be "
            "sent again."
        ),
        directives=guarded(
            "messages:send",
            "api_consent_attested_required",
            "carrier_refused",
            "carrier_timeout",
            "number_busy",
            *REFUSALS,
        ),
    )
    async def send_message_now(
        self,
        info: Info,
        to: To,
        body: Body,
        attestation: Annotated[
            Attestation | None,
            strawberry.argument(description="The way in which consent is certified; required, and recorded."),
        ] = None,
        from_phone_number_id: FromNumberOrPrimary = None,
        idempotency_key: IdempotencyKey = None,
    ) -> TakenMessage:
        """Send a text and wait for the carrier."""
        services = info.context.services
        wish = Send(
            to,
            body,
            attestation is not None,
            from_phone_number_id,
            idempotency_key,
            attestation=attestation or Attestation.api,
            keeps_number=False,
        )
        taken = await synchronous.send(services.acceptor, services.handoff, info.context.unit.actor, wish)
        info.context.replayed = taken.replayed
        return TakenMessage(
            message_id=strawberry.ID(str(taken.message_id)),
            from_number=taken.from_number,
            to_number=taken.to_number,
            segments=taken.segments,
            status=MessageStatus.sent,
        )


def accepted(info: Info, done: Acceptance) -> SentMessage:
    """Return the answer to an accepted send."""
    info.context.replayed = done.replayed
    return SentMessage(
        message_id=strawberry.ID(str(done.message_id)),
        segments=done.segments,
        status=MessageStatus(done.status),
        credits_remaining=BigInt(done.credits_remaining),
    )


def _row(message: Message) -> models.Message:
    """Return the row that the resolvers answer in place of a message."""
    return cast("models.Message", message)
