"""Conversations, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.contacts import queries as contacts
from app.domain.conversations import models, queries, review
from app.domain.conversations.models import ConversationStatus
from app.domain.conversations.queries import ConversationFilter
from app.domain.kernel.paging import Page
from app.domain.messages import queries as messages
from app.domain.messages import reading
from app.domain.messages.models import Message as MessageRow
from app.domain.messages.reading import ThreadFields
from app.graphql.accounts import User
from app.graphql.contacts import Contact
from app.graphql.core.context import Info, given
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message

describe(
    ConversationStatus,
    "The state of a conversation.",
    {"open": "It needs an answer or a decision.", "closed": "It is done, until the contact writes again."},
)

ConversationId = Annotated[BigInt, strawberry.argument(description="The conversation's id.")]


@strawberry.type(description="The thread of all messages with one contact.")
class Conversation:
    """A conversation."""

    id: BigInt = strawberry.field(description="The conversation's id.")
    contact_id: BigInt = strawberry.field(description="The id of the contact.")
    status: ConversationStatus = strawberry.field(description="The state of the conversation.")
    assignee_id: BigInt | None = strawberry.field(description="The id of the assigned user.")
    read_up_to: BigInt | None = strawberry.field(
        description="The id of the last message that was marked as seen; null before the first."
    )
    unread_count: BigInt = strawberry.field(description="Number of inbound messages after read_up_to.")
    possible_opt_out: bool = strawberry.field(description="True while a reply may have been an opt-out.")
    wrong_number: bool = strawberry.field(
        description="True when a reply said that the number belongs to another person."
    )
    last_message_at: datetime = strawberry.field(description="The time of the latest message.")
    created_at: datetime = strawberry.field(description="The time of its first message.")

    @strawberry.field(graphql_type=Contact, description="The contact.", directives=guarded("contacts:read"))
    async def contact(self, info: Info) -> Any:
        """Return the contact."""
        return await info.context.load(contacts.find_many, self.contact_id)

    @strawberry.field(
        graphql_type=User | None,
        description="The assigned user, removed or not; null while it is unassigned.",
        directives=guarded("conversations:read"),
    )
    async def assignee(self, info: Info) -> Any:
        """Return the assignee."""
        return await info.context.load(accounts.find_users, self.assignee_id)

    @strawberry.field(
        graphql_type=Message | None, description="The latest message.", directives=guarded("messages:read")
    )
    async def last_message(self, info: Info) -> Any:
        """Return the latest message."""
        return await info.context.load(messages.find_last, self.id)

    @strawberry.field(
        graphql_type=Connection[Message],
        description="The messages of the conversation, the newest first.",
        directives=guarded("messages:read"),
    )
    async def messages(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[MessageRow] | None:
        """Return one page of the messages."""
        place = window(info, "messages", first, after, last, before, offset)
        return await info.context.load(messages.FindPages(place), self.id)


@strawberry.input(description="The fields to change; what is left out stays as it is.")
class ConversationChanges:
    """What of a conversation is to change."""

    status: strawberry.Maybe[ConversationStatus | None] = strawberry.field(description="Close or reopen it.")
    read_up_to: strawberry.Maybe[BigInt | None] = strawberry.field(
        description="The id of the last message that was seen. Later messages stay unread, and an earlier id changes "
        "nothing. Not null."
    )
    assignee_id: strawberry.Maybe[BigInt | None] = strawberry.field(description="The user to assign, or null for none.")


@strawberry.type
class ConversationQuery:
    """Reading conversations."""

    @strawberry.field(
        graphql_type=Connection[Conversation],
        description="The account's conversations, the one with the latest message first.",
        directives=guarded("conversations:read"),
    )
    async def conversations(
        self,
        info: Info,
        status: Annotated[ConversationStatus | None, strawberry.argument(description="Only this status.")] = None,
        assignee_id: Annotated[BigInt | None, strawberry.argument(description="Only of this user.")] = None,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="Only with this contact.")] = None,
        unread_only: Annotated[bool, strawberry.argument(description="Only with unread texts.")] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Conversation]:
        """Return one page of conversations."""
        wanted = ConversationFilter(status, assignee_id, contact_id, unread_only)
        return await queries.find_page(
            info.context.unit, wanted, window(info, "conversations", first, after, last, before, offset)
        )

    @strawberry.field(
        graphql_type=Conversation | None,
        description="One conversation; null beside the error not_found.",
        directives=guarded("conversations:read", "not_found"),
    )
    async def conversation(self, info: Info, id: ConversationId) -> models.Conversation:
        """Return one conversation."""
        return await queries.get(info.context.unit, id)


@strawberry.type
class ConversationMutation:
    """Changing conversations."""

    @strawberry.mutation(
        graphql_type=Conversation,
        description="Close or reopen a conversation, mark it read or assign it to a user.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def update_conversation(
        self,
        info: Info,
        id: ConversationId,
        changes: Annotated[ConversationChanges, strawberry.argument(description="The fields to change.")],
    ) -> models.Conversation:
        """Change a conversation."""
        return await reading.update(info.context.unit, id, given(vars(changes), ThreadFields))

    @strawberry.mutation(
        graphql_type=Conversation,
        description="Decide whether an unclear reply was an opt-out. Undecided, it becomes one after 24 hours.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def review_opt_out(
        self,
        info: Info,
        id: ConversationId,
        opted_out: Annotated[bool, strawberry.argument(description="True if it was an opt-out.")],
    ) -> models.Conversation:
        """Decide on an unclear reply."""
        return await review.decide(info.context.unit, id, opted_out=opted_out)
