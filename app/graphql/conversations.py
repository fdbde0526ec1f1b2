"""Conversations, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.contacts import queries as contacts
from app.domain.conversations import models, queries, review, service
from app.domain.conversations.models import AiState, ConversationStatus
from app.domain.conversations.queries import ConversationFilter, ConversationSort
from app.domain.conversations.service import ConversationFields
from app.domain.kernel.paging import Page
from app.domain.messages import queries as messages
from app.domain.messages import reading
from app.domain.messages.models import Message as MessageRow
from app.domain.messages.reading import ThreadFields
from app.graphql.accounts import User
from app.graphql.contacts import Contact
from app.graphql.core.context import Info, given, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load, links, reads
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message

describe(
    ConversationStatus,
    "The state of a conversation.",
    {
        "open": "It needs an answer or a decision.",
        "closed": "It is done, until the contact writes again.",
        "snoozed": "It waits until snoozed_until, or until the contact writes.",
    },
)
describe(
    AiState,
    "State of AI agents in a conversation.",
    {
        "none": "No agent has answered in it.",
        "active": "An agent answers.",
        "paused": "No agent answers, because a person did, or paused it.",
        "handed_over": "An agent has handed it to people.",
    },
)
describe(
    ConversationSort,
    "The order of a list of conversations.",
    {
        "latest": "The one with the latest last_message_at first.",
        "oldest_waiting": "Only those whose contact waits for an answer, the one that has waited for longest first.",
    },
)

ConversationId = Annotated[BigInt, strawberry.argument(description="The conversation's id.")]
ConversationIds = Annotated[
    list[BigInt],
    strawberry.argument(
        description=f"The ids of the conversations, {service.MAX_TOGETHER} at most.",
        directives=[Constraint(max_items=service.MAX_TOGETHER)],
    ),
]
AssigneeId = Annotated[
    BigInt | None, strawberry.argument(description="The id of a user, or null to remove the assignment.")
]
SNOOZED_UNTIL = "Snooze it until this time, at most a year away. It returns earlier when the contact writes."


@strawberry.type(description="The thread of all messages with one contact.")
class Conversation:
    """A conversation."""

    id: BigInt = strawberry.field(description="The conversation's id.")
    contact_id: BigInt = strawberry.field(description="The id of the contact.")
    status: ConversationStatus = strawberry.field(description="The state of the conversation.")
    snoozed_until: datetime | None = strawberry.field(description="The time at which a snoozed one is open again.")
    assignee_id: BigInt | None = strawberry.field(description="The id of the assigned user.")
    version: BigInt = strawberry.field(
        description="Grows when a text is sent in it, and when its status or assignee changes: pass it as "
        "expected_version, and nothing that others did meanwhile is overwritten."
    )
    ai_state: AiState = strawberry.field(description="State of AI agents in it.")
    read_up_to: BigInt | None = strawberry.field(
        description="The id of the last message that was marked as seen; null before the first."
    )
    unread_count: BigInt = strawberry.field(description="Number of inbound messages after read_up_to.")
    possible_opt_out: bool = strawberry.field(description="True while a reply may have been an opt-out.")
    wrong_number: bool = strawberry.field(
        description="True when a reply said that the number belongs to another person."
    )
    waiting_since: datetime | None = strawberry.field(
        description="The time of the contact's first text that has no answer; null if the contact waits for none."
    )
    created_at: datetime = strawberry.field(description="The time of its first message.")

    @strawberry.field(
        description="The time of the latest message; of one of a campaign, sequence or automation only if it has no "
        "other."
    )
    @reads("last_message_at", "last_outbound_at", "created_at")
    def last_message_at(self) -> datetime:
        """Return the time of the latest message."""
        return row_of(self, models.Conversation).shown_at

    @strawberry.field(
        graphql_type=BigInt | None,
        description="The id of the first inbound message after read_up_to; null if all were read.",
        directives=guarded("messages:read"),
    )
    async def first_unread_message_id(self, info: Info) -> Any:
        """Return the id of the first unread message; nothing is read for a conversation without one."""
        if not self.unread_count:
            return None
        return await info.context.load(messages.find_first_unread, (self.id, self.read_up_to))

    @strawberry.field(
        graphql_type=datetime | None,
        description="The time at which a possible opt-out becomes one, unless a user decides; null if there is none.",
        directives=guarded("contacts:read"),
    )
    async def review_due_at(self, info: Info) -> Any:
        """Return the end of the contact's hold."""
        contact = await info.context.load(contacts.find_many, self.contact_id) if self.possible_opt_out else None
        return contact.held_until if contact else None

    @strawberry.field(graphql_type=Contact, description="The contact.", directives=guarded("contacts:read"))
    @reads("contact_id")
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)

    @strawberry.field(
        graphql_type=User | None,
        description="The assigned user, removed or not; null while it is unassigned.",
        directives=guarded("conversations:read"),
    )
    def assignee(self, info: Info) -> Load[Any]:
        """Return the assignee."""
        return info.context.load(accounts.find_users, self.assignee_id)

    @strawberry.field(
        graphql_type=Message | None,
        description="The latest message; one of a campaign, sequence or automation only if it has no other.",
        directives=guarded("messages:read"),
    )
    @reads("id")
    def last_message(self, info: Info) -> Load[Any]:
        """Return the latest message."""
        return info.context.load(messages.find_last, self.id)

    @strawberry.field(
        graphql_type=Connection[Message],
        description="The messages of the conversation, the newest first.",
        directives=guarded("messages:read"),
    )
    @links(messages.OF_CONVERSATION, "id")
    def messages(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Load[Page[MessageRow] | None]:
        """Return one page of the messages."""
        place = window(info, "messages", first, after, last, before, offset)
        return info.context.load(messages.FindPages(place), self.id)


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class ConversationChanges:
    """Changes to a conversation; a field that is left out stays as it is."""

    status: strawberry.Maybe[ConversationStatus | None] = strawberry.field(
        description="Close it, reopen it, or snooze it until snoozed_until."
    )
    snoozed_until: strawberry.Maybe[datetime | None] = strawberry.field(description=f"{SNOOZED_UNTIL} Not null.")
    read_up_to: strawberry.Maybe[BigInt | None] = strawberry.field(
        description="The id of the last message that was seen. Later messages stay unread, and an earlier id changes "
        "nothing. Not null."
    )
    unread: strawberry.Maybe[bool | None] = strawberry.field(
        description="True makes the latest inbound message unread, unless there is an unread one; false changes "
        "nothing. Not null, and not together with read_up_to."
    )


@strawberry.type(description="The sizes of the views of an inbox, each counted up to 100: 100 stands for 100 or more.")
class ConversationCounts:
    """The sizes of views."""

    open: int = strawberry.field(description="The number of open conversations.")
    mine: int = strawberry.field(description="Those that are open and assigned to the signed-in user; 0 for a key.")
    unassigned: int = strawberry.field(description="Those that are open and not assigned.")
    unread: int = strawberry.field(description="Those with unread texts.")
    snoozed: int = strawberry.field(description="Those that are snoozed.")
    possible_opt_out: int = strawberry.field(description="Those with a reply that may have been an opt-out.")


@strawberry.type(description="The result of a change of several conversations.")
class ConversationsChanged:
    """The conversations that were found, and the ids that were not."""

    conversations: list[Conversation] = strawberry.field(description="The conversations as they are now, by id.")
    not_found: list[BigInt] = strawberry.field(description="The ids of which the account has no conversation.")


@strawberry.type
class ConversationQuery:
    """Reading conversations."""

    @strawberry.field(
        graphql_type=Connection[Conversation],
        description="The account's conversations, the one with the latest last_message_at first. Those with texts of "
        "campaigns, sequences and automations only, which the contact has not answered, are found by search and "
        "contact_id.",
        directives=guarded("conversations:read"),
    )
    async def conversations(
        self,
        info: Info,
        status: Annotated[ConversationStatus | None, strawberry.argument(description="Only this status.")] = None,
        assignee_id: Annotated[BigInt | None, strawberry.argument(description="Only of this user.")] = None,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="Only with this contact.")] = None,
        unread_only: Annotated[bool, strawberry.argument(description="Only with unread texts.")] = False,
        unassigned: Annotated[bool, strawberry.argument(description="Only those that are not assigned.")] = False,
        possible_opt_out: Annotated[
            bool, strawberry.argument(description="Only with a reply that may have been an opt-out.")
        ] = False,
        phone_number_id: Annotated[
            BigInt | None,
            strawberry.argument(description="Only those whose latest text was sent from this number, or to it."),
        ] = None,
        search: Annotated[
            str | None,
            strawberry.argument(description="A part of the name, phone or e-mail address of the contact."),
        ] = None,
        sort: Annotated[ConversationSort, strawberry.argument(description="The order.")] = ConversationSort.latest,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Conversation]:
        """Return one page of conversations."""
        wanted = ConversationFilter(
            status, assignee_id, contact_id, unread_only, unassigned, possible_opt_out, phone_number_id, search
        )
        place = window(info, f"conversations {sort}", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, wanted, place, sort)

    @strawberry.field(
        graphql_type=Conversation | None,
        description="One conversation; null beside the error not_found.",
        directives=guarded("conversations:read", "not_found"),
    )
    async def conversation(self, info: Info, id: ConversationId) -> models.Conversation:
        """Return one conversation."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=ConversationCounts,
        description="The sizes of the views of the caller's inbox.",
        directives=guarded("conversations:read"),
    )
    async def conversation_counts(self, info: Info) -> queries.ConversationCounts:
        """Return the sizes of the views."""
        return await queries.count(info.context.unit)


@strawberry.type
class ConversationMutation:
    """Changing conversations."""

    @strawberry.mutation(
        graphql_type=Conversation,
        description="Close, reopen or snooze a conversation, or mark it read or unread, and return it.",
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
        description=(
            "Assign a conversation to a user, or remove its assignment, and return it. With expected_version, a "
            "conversation that others changed meanwhile stays as it is: the error conflict names its present assignee "
            "and version."
        ),
        directives=guarded("conversations:write", "conflict", "not_found"),
    )
    async def assign_conversation(
        self,
        info: Info,
        id: ConversationId,
        assignee_id: AssigneeId = None,
        expected_version: Annotated[
            BigInt | None,
            strawberry.argument(description="The version that the caller has seen; null assigns in any case."),
        ] = None,
    ) -> models.Conversation:
        """Assign a conversation."""
        return await service.assign(info.context.unit, id, assignee_id, expected_version)

    @strawberry.mutation(
        description="Close, reopen or snooze several conversations in one transaction, and return them.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def update_conversations(
        self,
        info: Info,
        ids: ConversationIds,
        status: Annotated[ConversationStatus, strawberry.argument(description="Their new state.")],
        snoozed_until: Annotated[datetime | None, strawberry.argument(description=SNOOZED_UNTIL)] = None,
    ) -> ConversationsChanged:
        """Change conversations."""
        fields: ConversationFields = {"status": status}
        if snoozed_until:
            fields["snoozed_until"] = snoozed_until
        return _changed(ids, await service.update_many(info.context.unit, ids, fields))

    @strawberry.mutation(
        description=(
            "Assign several conversations to a user, or remove their assignments, in one transaction, and return them."
        ),
        directives=guarded("conversations:write", "not_found"),
    )
    async def assign_conversations(
        self, info: Info, ids: ConversationIds, assignee_id: AssigneeId = None
    ) -> ConversationsChanged:
        """Assign conversations."""
        return _changed(ids, await service.assign_many(info.context.unit, ids, assignee_id))

    @strawberry.mutation(
        graphql_type=Conversation,
        description=(
            "Decide whether an unclear reply was an opt-out, and return the conversation. Undecided, it becomes one "
            "after 24 hours."
        ),
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


def _changed(ids: Sequence[int], found: Sequence[models.Conversation]) -> ConversationsChanged:
    known = {each.id for each in found}
    missing = [BigInt(id) for id in dict.fromkeys(ids) if id not in known]
    return ConversationsChanged(conversations=cast("list[Conversation]", found), not_found=missing)
