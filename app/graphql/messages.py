"""Messages, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.kernel.paging import Page, Window
from app.domain.messages import failures, models, queries
from app.domain.messages.desk import Send
from app.domain.messages.models import Direction, MessageStatus
from app.domain.messages.queries import MessageFilter
from app.graphql.contacts import Contact
from app.graphql.context import Info
from app.graphql.directives import guarded
from app.graphql.enums import describe
from app.graphql.paging import After, Connection, First, Offset
from app.graphql.scalars import BigInt

describe(
    Direction,
    "Which way a message went.",
    {"outbound": "From the account to a contact.", "inbound": "From a contact to the account."},
)
describe(
    MessageStatus,
    "How far a message has come.",
    {
        "pending": "Accepted and paid for, and not yet with the carrier.",
        "sent": "The carrier has taken it.",
        "delivered": "It has arrived.",
        "failed": "It did not arrive, and its credits were given back.",
        "received": "It came in from a contact.",
    },
)

IdempotencyKey = Annotated[
    str | None,
    strawberry.argument(description="Repeat a request with the same key within 24 hours to have it done once."),
]


@strawberry.type(description="One text, out or in.")
class Message:
    """A message."""

    id: BigInt = strawberry.field(description="The message's id.")
    contact_id: BigInt = strawberry.field(description="Whom it was exchanged with.")
    conversation_id: BigInt = strawberry.field(description="The thread it belongs to.")
    direction: Direction = strawberry.field(description="Which way it went.")
    from_number: str = strawberry.field(description="The number it came from.")
    to_number: str = strawberry.field(description="The number it went to.")
    body: str = strawberry.field(description="The text.")
    status: MessageStatus = strawberry.field(description="How far it has come.")
    segments: int = strawberry.field(description="How many SMS parts it takes.")
    encoding: str = strawberry.field(description="GSM-7, or UCS-2 where a character needs it.")
    credits: BigInt = strawberry.field(description="How many credits were debited for it.")
    cost: float = strawberry.field(description="What it cost, in the account's currency; 0 once failed.")
    error_code: str | None = strawberry.field(description="Why it failed, as a code.")
    provider_message_id: str | None = strawberry.field(description="The carrier's id of it.")
    unconfirmed: bool = strawberry.field(description="True when the carrier cannot say whether it arrived.")
    created_at: datetime = strawberry.field(description="When it was accepted or received.")
    sent_at: datetime | None = strawberry.field(description="When the carrier took it.")
    delivered_at: datetime | None = strawberry.field(description="When it arrived.")

    @strawberry.field(description="Why it failed and what to do, in a sentence.")
    def status_description(self) -> str | None:
        """Return the failure's sentence."""
        return failures.describe(self.error_code) if self.error_code else None

    @strawberry.field(
        graphql_type=Contact, description="Whom it was exchanged with.", directives=guarded("contacts:read")
    )
    async def contact(self, info: Info) -> Any:
        """Return the contact."""
        return await info.context.contacts.load(self.contact_id)


@strawberry.type(description="An accepted text: kept, paid for, and about to be handed to the carrier.")
class SentMessage:
    """What a sender is told."""

    message_id: strawberry.ID = strawberry.field(description="The message's id, as a string.")
    segments: int = strawberry.field(description="How many SMS parts it takes.")
    status: MessageStatus = strawberry.field(description="Always pending here; receipts change it.")
    credits_remaining: BigInt = strawberry.field(description="The balance right after this text was debited.")


@strawberry.type
class MessageQuery:
    """Reading messages."""

    @strawberry.field(
        graphql_type=Connection[Message],
        description="The account's messages, the newest first.",
        directives=guarded("messages:read"),
    )
    async def messages(
        self,
        info: Info,
        status: Annotated[MessageStatus | None, strawberry.argument(description="Only this status.")] = None,
        direction: Annotated[Direction | None, strawberry.argument(description="Only this direction.")] = None,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="Only with this contact.")] = None,
        conversation_id: Annotated[BigInt | None, strawberry.argument(description="Only of this thread.")] = None,
        first: First = 50,
        after: After = None,
        offset: Offset = 0,
    ) -> Page[models.Message]:
        """Return one page of messages."""
        wanted = MessageFilter(status, direction, contact_id, conversation_id)
        return await queries.find_page(info.context.unit, wanted, Window(first, after, offset))

    @strawberry.field(
        graphql_type=Message, description="One message.", directives=guarded("messages:read", "not_found")
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
        description="Send one text to one recipient. Its credits are debited at once, and refunded if it fails.",
        directives=guarded(
            "messages:send",
            "account_suspended",
            "api_consent_attested_required",
            "contact_dnd",
            "contact_held",
            "contact_opted_out",
            "idempotency_key_reused",
            "insufficient_credits",
            "invalid_phone",
            "landline",
            "message_too_long",
            "no_sending_number",
            "not_found",
        ),
    )
    async def send_message(
        self,
        info: Info,
        to: Annotated[str, strawberry.argument(description="The recipient in E.164 form, such as +12025550143.")],
        message: Annotated[str, strawberry.argument(description="The text, 1 to 1600 characters.")],
        consent_attested: Annotated[
            bool | None,
            strawberry.argument(
                description="Must be true: certifies that the recipient gave prior express written consent."
            ),
        ] = None,
        from_phone_number_id: Annotated[
            BigInt | None, strawberry.argument(description="The number to send from; the primary one if none.")
        ] = None,
        idempotency_key: IdempotencyKey = None,
    ) -> SentMessage:
        """Accept a send."""
        send = Send(to, message, consent_attested is True, from_phone_number_id, idempotency_key)
        done = await info.context.services.desk.accept(info.context.unit.actor, send)
        info.context.replayed = done.replayed
        return SentMessage(
            message_id=strawberry.ID(str(done.message_id)),
            segments=done.segments,
            status=MessageStatus(done.status),
            credits_remaining=BigInt(done.credits_remaining),
        )
