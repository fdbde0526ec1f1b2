"""Live updates, as the contract shows them."""

from collections.abc import AsyncGenerator, Collection
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.conversations import queries as conversations
from app.domain.kernel.events import UpdateKind
from app.domain.live import feed
from app.domain.messages import queries as messages
from app.graphql.conversations import Conversation
from app.graphql.core.context import Context, Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message

describe(
    UpdateKind,
    "What an update is about.",
    {
        "new_message": "A text came in.",
        "message_status": "A text of the account's was sent, was delivered or failed.",
        "conversation_changed": "A conversation began, was closed, reopened, read, given to somebody or decided on.",
    },
)


@strawberry.type(description="Something that happened while somebody looks on. What it is about is shown as it is now.")
class Update:
    """An update."""

    id: BigInt = strawberry.field(description="Pass this as `after` to go on from here.")
    kind: UpdateKind = strawberry.field(description="What it is about.")
    at: datetime = strawberry.field(description="When it happened.")
    contact_id: strawberry.Private[int]
    message_id: strawberry.Private[int | None]

    @strawberry.field(
        graphql_type=Message | None,
        description="The message it is about; null for a change of a conversation, and once erased.",
    )
    async def message(self, info: Info) -> Any:
        """Return the message."""
        return None if self.message_id is None else await messages.find(info.context.unit, self.message_id)

    @strawberry.field(
        graphql_type=Conversation | None,
        description="The conversation that it belongs to; null once erased.",
        directives=guarded("conversations:read"),
    )
    async def conversation(self, info: Info) -> Any:
        """Return the conversation."""
        return await conversations.find_by_contact(info.context.unit, self.contact_id)


@strawberry.type
class UpdateQuery:
    """Beginning to look on."""

    @strawberry.field(
        description="The id of the latest update. Ask for it before you load what you show, and pass it as `after`: "
        "nothing falls in between.",
        directives=guarded("messages:read"),
    )
    async def last_update_id(self, info: Info) -> BigInt:
        """Return the newest position."""
        return BigInt(await info.context.services.feed.start(info.context.unit.actor.account_id, None))


@strawberry.type
class UpdateSubscription:
    """Looking on."""

    @strawberry.subscription(
        graphql_type=Update,
        description="New texts, the fate of sent ones and changes of conversations, as they happen. "
        "Each arrives once, in one order for all who look; after a disconnect, `after` brings what was missed.",
        directives=guarded("messages:read", "too_many_streams", "updates_missed"),
    )
    async def updates(
        self,
        info: Info,
        after: Annotated[
            BigInt | None,
            strawberry.argument(description="The last update's id: what followed it comes first, 1,000 at most."),
        ] = None,
        kinds: Annotated[
            list[UpdateKind] | None, strawberry.argument(description="Only updates of these kinds.")
        ] = None,
    ) -> AsyncGenerator[feed.Update | None, None]:
        """Begin to look on."""
        context = info.context
        account_id = context.unit.actor.account_id
        position = await context.services.feed.start(account_id, context.last_event_id or after)
        return _follow(context, account_id, position, kinds or UpdateKind)


async def _follow(
    context: Context, account_id: int, position: int, kinds: Collection[UpdateKind]
) -> AsyncGenerator[feed.Update | None, None]:
    """Read on whenever there may be news, and yield None where there was none.

    What a client has not taken yet waits in the database, not here.
    """
    with context.services.live.watch(account_id) as watch:
        while True:
            page = await context.services.feed.read(account_id, position)
            wanted = [update for update in page if update.kind in kinds]
            for update in wanted or (None,):
                yield update
            if page:
                position = page[-1].id
            if len(page) < feed.PAGE:
                await watch.wait()
