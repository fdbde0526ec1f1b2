"""Notices to users, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.conversations import queries as conversations
from app.domain.kernel.paging import Page
from app.domain.notices import models, queries, settings
from app.domain.notices.models import NoticeKind
from app.graphql.conversations import Conversation
from app.graphql.core.context import Info, columns_of
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    NoticeKind,
    "The kind of a notice.",
    {
        "new_message": "A contact wrote: to the assignee of the conversation, or to all users if there is none. "
        "Texts that an AI agent answers cause none.",
        "assigned": "A conversation was assigned to the user by another one.",
        "handed_over": "An AI agent handed a conversation over.",
        "low_balance": "The balance fell below the threshold of the account. For owners.",
        "campaign": "A campaign has ended, or was paused by itself. For owners.",
        "automation": "An automation has the action notify. For owners.",
        "webhook": "A webhook is failing, or was disabled or removed. For owners.",
        "integration": "An integration has stopped with the credential that it depends on. For owners.",
        "number": "A sending number was paused by itself. For owners.",
    },
)

Kind = Annotated[NoticeKind, strawberry.argument(description="The kind of notices.")]
InBrowser = Annotated[bool, strawberry.argument(description="Whether they are shown in the browser.")]
ByMail = Annotated[bool, strawberry.argument(description="Whether they are mailed.")]


@strawberry.type(description="A notice to a user.")
class Notice:
    """A notice."""

    id: BigInt = strawberry.field(description="The notice's id.")
    kind: NoticeKind = strawberry.field(description="The kind of the notice.")
    title: str = strawberry.field(description="One line.")
    body: str = strawberry.field(description="More about it; empty where the conversation says the rest.")
    count: int = strawberry.field(
        description="The number of texts that it is about: those of a contact share a notice until it is read."
    )
    read_at: datetime | None = strawberry.field(description="The time at which it was read; null if it was not.")
    created_at: datetime = strawberry.field(
        description="The time of its subject, of the latest text if it is about several."
    )
    subject_id: BigInt | None = strawberry.field(
        description="The id of the campaign, webhook, integration, number or latest text that it is about, or null."
    )
    contact_id: BigInt | None = strawberry.field(description="The id of the contact; null if it is about none.")

    @strawberry.field(
        graphql_type=Conversation | None,
        description="The conversation that it is about; null if it is about none.",
        directives=guarded("conversations:read"),
    )
    def conversation(self, info: Info) -> Load[Any]:
        """Return the conversation."""
        return info.context.load(conversations.FindByContacts(columns_of(info)), self.contact_id)


@strawberry.type(description="The choice of the user for a kind of notices.")
class NoticeSetting:
    """A choice."""

    kind: NoticeKind = strawberry.field(description="The kind of notices.")
    in_browser: bool = strawberry.field(description="Whether they are shown in the browser.")
    by_mail: bool = strawberry.field(
        description="Whether they are mailed: those about a conversation five minutes later, unless they were read."
    )


@strawberry.type(description="The notices that are left to read.")
class UnreadNotices:
    """The answer to the reading of notices."""

    unread: int = strawberry.field(description="The number of unread notices of the user.")


@strawberry.type
class NoticeQuery:
    """Reading notices."""

    @strawberry.field(
        graphql_type=Connection[Notice],
        description="The notices of the signed-in user, the newest first. They are kept for 90 days.",
        directives=guarded("account:read", "person_required"),
    )
    async def notices(
        self,
        info: Info,
        unread: Annotated[bool, strawberry.argument(description="Only unread ones.")] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Notice]:
        """Return one page of notices."""
        wanted = window(info, "notices", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, wanted, is_unread=unread)

    @strawberry.field(
        graphql_type=list[NoticeSetting],
        description="The choices of the signed-in user, one for each kind of notices that the user can get, at most 8.",
        directives=guarded("account:read", "person_required"),
    )
    async def notice_settings(self, info: Info) -> Any:
        """Return the choices."""
        return await settings.list_settings(info.context.unit)


@strawberry.type
class NoticeMutation:
    """Reading notices, and choosing them."""

    @strawberry.mutation(
        description=(
            "Mark the signed-in user's notices up to an id, or between two ids, as read, and return the number of "
            "unread ones. Reading a conversation marks those about its texts, for all users."
        ),
        directives=guarded("account:read", "person_required"),
    )
    async def read_notices(
        self,
        info: Info,
        up_to: Annotated[BigInt, strawberry.argument(description="The id of the latest one.")],
        since: Annotated[
            BigInt | None, strawberry.argument(description="The id of the earliest one; null for all before as well.")
        ] = None,
    ) -> UnreadNotices:
        """Mark notices as read."""
        return UnreadNotices(unread=await queries.read(info.context.unit, up_to, since or 0))

    @strawberry.mutation(
        graphql_type=NoticeSetting,
        description="Choose how the signed-in user gets a kind of notices, and return the choice.",
        directives=guarded("account:read", "person_required"),
    )
    async def update_notice_setting(self, info: Info, kind: Kind, in_browser: InBrowser, by_mail: ByMail) -> Any:
        """Store the choice."""
        chosen = settings.NoticeSetting(kind, in_browser=in_browser, by_mail=by_mail)
        return await settings.update_setting(info.context.unit, chosen)
