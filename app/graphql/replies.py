"""Replies in conversations, and texts that are sent later, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.kernel.paging import Page
from app.domain.messages import models, queries, replies
from app.domain.messages.models import MessageStatus
from app.domain.messages.replies import Reply
from app.domain.messages.sending import scheduling
from app.graphql.conversations import ConversationId
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.messages import CERTIFIES, REFUSALS, Accepted, Body, Message, SendAt, SentMessage, accepted

ConsentAttested = Annotated[
    bool | None,
    strawberry.argument(
        description=(
            "Must be true when the contact's latest message is older than 24 hours, or came from another phone than "
            f"the contact has now: {CERTIFIES}"
        )
    ),
]


@strawberry.type(description="A text that waits for the time at which it is to leave.")
class ScheduledMessage:
    """A scheduled text."""

    message_id: BigInt = strawberry.field(description="The id of the message.")
    send_at: datetime = strawberry.field(description="The time at which it is to leave.")

    @strawberry.field(graphql_type=Message, description="The message.", directives=guarded("messages:read"))
    def message(self, info: Info) -> Load[Any]:
        """Return the message."""
        return info.context.load(queries.find_many, self.message_id)


@strawberry.type(description="A canceled text, whose credits were refunded.")
class CanceledMessage(Accepted):
    """The answer to a cancellation."""

    status: MessageStatus = strawberry.field(description="Always failed.")


@strawberry.type
class ReplyQuery:
    """Reading texts that are sent later."""

    @strawberry.field(
        graphql_type=Connection[ScheduledMessage],
        description="The texts that wait for the time at which they are to leave, the next one first.",
        directives=guarded("messages:read"),
    )
    async def scheduled_messages(
        self,
        info: Info,
        conversation_id: Annotated[BigInt | None, strawberry.argument(description="Only of this thread.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.ScheduledText]:
        """Return one page of the scheduled texts."""
        place = window(info, "scheduled_messages", first, after, last, before, offset)
        return await scheduling.find_page(info.context.unit, conversation_id, place)


@strawberry.type
class ReplyMutation:
    """Replying, and canceling."""

    @strawberry.mutation(
        description=(
            "Send one text to the contact of a conversation, from the number that the contact wrote to last, and "
            "return the message. Its credits are debited at once, and refunded if it fails. Within 24 hours of the "
            "contact's latest message, if that came from the contact's present phone, it is an answer, which needs no "
            "certification of consent and is sent before other texts. With expected_version, nothing is sent if "
            "someone has answered or changed the conversation since."
        ),
        directives=guarded("messages:send", "api_consent_attested_required", "conversation_changed", *REFUSALS),
    )
    async def reply(
        self,
        info: Info,
        conversation_id: ConversationId,
        body: Body,
        consent_attested: ConsentAttested = None,
        idempotency_key: IdempotencyKey = None,
        expected_version: Annotated[
            BigInt | None,
            strawberry.argument(
                description="The version of the conversation that the sender has seen; null sends in any case."
            ),
        ] = None,
        send_at: SendAt = None,
    ) -> SentMessage:
        """Reply in a conversation."""
        unit, acceptor = info.context.unit, info.context.services.acceptor
        wanted = Reply(body, consent_attested is True, idempotency_key, expected_version, send_at)
        return accepted(info, await replies.reply(unit, acceptor, conversation_id, wanted))

    @strawberry.mutation(
        description=(
            "Cancel a text that has not left, refund its credits, and return it. It fails with the code canceled; "
            "canceled again, it is answered as it is. The error conflict says that it is too late."
        ),
        directives=guarded("messages:send", "conflict", "not_found"),
    )
    async def cancel_message(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The message's id.")]
    ) -> CanceledMessage:
        """Cancel a message."""
        canceled = await scheduling.cancel(info.context.unit, id)
        return CanceledMessage(message_id=strawberry.ID(str(canceled.id)), status=MessageStatus(canceled.status))
