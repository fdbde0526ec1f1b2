"""Live updates, as the contract shows them."""

from collections.abc import AsyncGenerator, Collection
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.agents import queries as agents
from app.domain.billing import queries as billing
from app.domain.campaigns import queries as campaigns
from app.domain.contacts import queries as contacts
from app.domain.conversations import queries as conversations
from app.domain.conversations.models import Conversation as ConversationRow
from app.domain.jobs import queries as jobs
from app.domain.kernel.events import UpdateKind
from app.domain.live import feed
from app.domain.live.presence import LASTS_SECONDS, Presence
from app.domain.messages import queries as messages
from app.domain.notices import queries as notices
from app.graphql.actors import Actor, actor_of
from app.graphql.agent_runs import AiAgentRun
from app.graphql.agents import AiAgent
from app.graphql.billing import Balance
from app.graphql.campaigns import Campaign
from app.graphql.contacts import Contact
from app.graphql.conversations import Conversation, ConversationId
from app.graphql.core.context import Context, Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.scalars import BigInt
from app.graphql.jobs import Job
from app.graphql.messages import Message
from app.graphql.threads import Note, note_of

IDS = ("job_id", "campaign_id", "note_id", "agent_id", "run_id")
SHOWN_TOGETHER = 20
"""The maximum number of updates whose records are read in one transaction."""

describe(
    UpdateKind,
    "The kind of an update.",
    {
        "new_message": "A text came in.",
        "message_status": (
            "A reply, or an answer to STOP, START or HELP, was accepted, or a text was sent, delivered or failed."
        ),
        "conversation_changed": (
            "A conversation began or changed, was read, or an unclear reply in it was decided on."
        ),
        "job_progress": "A job began, went on or ended.",
        "note_added": "An internal note was added, edited or deleted.",
        "presence": "A user looks at a conversation, or types in it.",
        "contact_changed": "A contact changed: its details, tags, stage, assignee, do-not-disturb or status.",
        "balance_changed": "Credits were added, taken back, or spent on something other than a text.",
        "agent_state": "An AI agent changed, or one of its runs came to a result.",
        "campaign_progress": "A campaign was changed, or, at most once a second, its recipients came to other states.",
        "notice": "Users got notices.",
    },
)


@strawberry.interface(description="A change in the account. The records that it leads to are shown as they are now.")
class Update:
    """An update; each kind has its own type."""

    id: BigInt = strawberry.field(description="The position of the update: pass it as `after` to go on from here.")
    kind: UpdateKind = strawberry.field(description="The kind of change, which has a type of its own.")
    at: datetime = strawberry.field(description="The time of the change.")
    contact_id: BigInt | None = strawberry.field(
        description="The id of the contact that it is about, also after its deletion; null if it is about none."
    )
    conversation_id: BigInt | None = strawberry.field(
        description="The id of the conversation with that contact, also after its deletion; null if there was none."
    )
    message_id: BigInt | None = strawberry.field(
        description="The id of the message that it is about, also after its deletion; null if it is about none."
    )
    actor_label: strawberry.Private[str | None]
    job_id: strawberry.Private[int | None]
    campaign_id: strawberry.Private[int | None]
    note_id: strawberry.Private[int | None]
    agent_id: strawberry.Private[int | None]
    run_id: strawberry.Private[int | None]

    @strawberry.field(
        description="The user, key, application or agent that caused the change; null where it is not known."
    )
    def actor(self) -> Actor | None:
        """Return the actor."""
        return actor_of(self.actor_label) if self.actor_label else None


@strawberry.type
class _InConversation(Update):
    """An update of a conversation."""

    @strawberry.field(
        graphql_type=Conversation | None,
        description="The conversation; null once its contact was deleted.",
        directives=guarded("conversations:read"),
    )
    def conversation(self, info: Info) -> Load[Any]:
        """Return the conversation."""
        return info.context.load(conversations.FindByContacts(), self.contact_id)


@strawberry.type
class _OfMessage(_InConversation):
    """An update of a message."""

    @strawberry.field(
        graphql_type=Message | None,
        description="The message; null once its contact was deleted.",
        directives=guarded("messages:read"),
    )
    async def message(self, info: Info) -> Any:
        """Return the message."""
        return None if self.message_id is None else await info.context.load(messages.find_many, self.message_id)


@strawberry.type(description="A text came in.")
class NewMessageUpdate(_OfMessage):
    """A message was received."""


@strawberry.type(
    description="A reply, or an answer to STOP, START or HELP, was accepted, or a text was sent, delivered or failed."
)
class MessageStatusUpdate(_OfMessage):
    """The status of a message changed."""


@strawberry.type(description="A conversation began or changed, was read, or an unclear reply in it was decided on.")
class ConversationUpdate(_InConversation):
    """A conversation changed."""


@strawberry.type(description="An internal note was added, edited or deleted.")
class NoteUpdate(_InConversation):
    """A note changed."""

    @strawberry.field(
        graphql_type=Note | None,
        description="The note; null once it was deleted.",
        directives=guarded("conversations:read"),
    )
    async def note(self, info: Info) -> Any:
        """Return the note."""
        row = await info.context.load(conversations.find_notes, self.note_id)
        return note_of(row) if row else None


@strawberry.type(
    description=f"A user looks at a conversation, or types in it. It is valid for {LASTS_SECONDS} seconds. It is not "
    "stored and never replayed: its id is that of the latest update."
)
class PresenceUpdate(_InConversation):
    """A user is present."""

    typing: bool = strawberry.field(description="True while the user writes an answer.")


@strawberry.type(
    description="A contact changed: its details, tags, stage, assignee, do-not-disturb or status. New contacts are "
    "reported by ConversationUpdate with their first text, imported ones by JobProgressUpdate."
)
class ContactUpdate(_InConversation):
    """A contact changed."""

    @strawberry.field(
        graphql_type=Contact | None,
        description="The contact; null once it was deleted.",
        directives=guarded("contacts:read"),
    )
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)


@strawberry.type(
    description="Credits were added, taken back, or spent on something other than a text. The debit of a text, and its "
    "refund, are reported by MessageStatusUpdate."
)
class BalanceUpdate(Update):
    """The balance changed."""

    @strawberry.field(graphql_type=Balance, description="The balance as it is now.", directives=guarded("billing:read"))
    def balance(self, info: Info) -> Load[Any]:
        """Return the balance."""
        return info.context.load(billing.find_balances, info.context.unit.actor.account_id)


@strawberry.type(
    description="An AI agent was changed, activated, paused or deleted, or one of its runs came to a result, such as a "
    "draft that waits for approval."
)
class AgentUpdate(_InConversation):
    """An AI agent changed, or decided."""

    @strawberry.field(
        graphql_type=AiAgent | None,
        description="The AI agent; null once it was deleted, and for a run that none was chosen for.",
        directives=guarded("agents:read"),
    )
    def agent(self, info: Info) -> Load[Any]:
        """Return the agent."""
        return info.context.load(agents.find_many, self.agent_id)

    @strawberry.field(
        graphql_type=AiAgentRun | None,
        description="The run; null for a change of the AI agent, and once its contact was deleted.",
        directives=guarded("agents:read"),
    )
    def run(self, info: Info) -> Load[Any]:
        """Return the run."""
        return info.context.load(agents.find_many_runs, self.run_id)


@strawberry.type(description="A job began, went on or ended; at most once a second for each job.")
class JobProgressUpdate(Update):
    """The progress of a job."""

    @strawberry.field(name="job_id", description="The id of the job, also after its deletion.")
    def id_of_job(self) -> BigInt:
        """Return the id."""
        return cast(BigInt, self.job_id)

    @strawberry.field(
        graphql_type=Job | None,
        description="The job; null once it was deleted.",
        directives=guarded("contacts:read"),
    )
    def job(self, info: Info) -> Load[Any]:
        """Return the job."""
        return info.context.load(jobs.find_many, self.job_id)


@strawberry.type(description="A campaign was changed, or its recipients came to other states.")
class CampaignUpdate(Update):
    """A campaign made progress."""

    @strawberry.field(name="campaign_id", description="The id of the campaign, also after its deletion.")
    def id_of_campaign(self) -> BigInt:
        """Return the id."""
        return cast(BigInt, self.campaign_id)

    @strawberry.field(
        graphql_type=Campaign | None,
        description="The campaign; null once it was deleted.",
        directives=guarded("campaigns:read"),
    )
    def campaign(self, info: Info) -> Load[Any]:
        """Return the campaign."""
        return info.context.load(campaigns.find_many, self.campaign_id)


@strawberry.type(description="Users of the account got notices, or read them.")
class NoticeUpdate(Update):
    """Users got notices, or read them."""

    @strawberry.field(description="The number of unread notices of the subscribed user; 0 for a key.")
    async def unread(self, info: Info) -> int:
        """Return the number."""
        return await notices.count_unread(info.context.unit)


UPDATES: dict[UpdateKind, type[Update]] = {
    UpdateKind.new_message: NewMessageUpdate,
    UpdateKind.message_status: MessageStatusUpdate,
    UpdateKind.conversation_changed: ConversationUpdate,
    UpdateKind.job_progress: JobProgressUpdate,
    UpdateKind.campaign_progress: CampaignUpdate,
    UpdateKind.note_added: NoteUpdate,
    UpdateKind.presence: PresenceUpdate,
    UpdateKind.contact_changed: ContactUpdate,
    UpdateKind.balance_changed: BalanceUpdate,
    UpdateKind.agent_state: AgentUpdate,
    UpdateKind.notice: NoticeUpdate,
}
"""The type of each kind of update."""


@strawberry.type
class UpdateQuery:
    """Reading the position of the updates."""

    @strawberry.field(
        description="The id of the latest update. Read it before you load records, and pass it as `after`: then "
        "no update is missed.",
        directives=guarded("messages:read"),
    )
    async def last_update_id(self, info: Info) -> BigInt:
        """Return the newest position."""
        return BigInt(await info.context.services.feed.start(info.context.unit.actor.account_id, None))


@strawberry.type
class UpdateMutation:
    """Being seen."""

    @strawberry.mutation(
        graphql_type=Conversation,
        description=f"Show the other users that the caller looks at a conversation, or types in it, for "
        f"{LASTS_SECONDS} seconds, and return it: repeat it every 10 seconds. Nothing is stored.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def announce_presence(
        self,
        info: Info,
        conversation_id: ConversationId,
        typing: Annotated[bool, strawberry.argument(description="True while the caller writes an answer.")] = False,
    ) -> ConversationRow:
        """Announce a presence."""
        unit = info.context.unit
        conversation = await conversations.get(unit, conversation_id)
        about = conversation.id, conversation.contact_id, unit.actor.label, typing, unit.clock.now()
        await info.context.services.live.announce(Presence(unit.actor.account_id, *about))
        return conversation


@strawberry.type
class UpdateSubscription:
    """Looking on."""

    @strawberry.subscription(
        graphql_type=Update,
        description="New messages, changes of the status of sent ones, changes of conversations, contacts, balances "
        "and AI agents, notes, presences, notices, and the progress of jobs and campaigns, as they happen. Each "
        "arrives once, in the same order for all subscribers; after a disconnect, `after` returns the missed ones.",
        directives=guarded("messages:read", "too_many_streams", "updates_missed"),
    )
    async def updates(
        self,
        info: Info,
        after: Annotated[
            BigInt | None,
            strawberry.argument(description="The last update's id: the updates after it come first, 1,000 at most."),
        ] = None,
        kinds: Annotated[
            list[UpdateKind] | None, strawberry.argument(description="Only updates of these kinds.")
        ] = None,
    ) -> AsyncGenerator[list[Update] | None, None]:
        """Begin to look on."""
        context = info.context
        account_id = context.unit.actor.account_id
        position = await context.services.feed.start(account_id, context.last_event_id or after)
        return _follow(context, account_id, position, kinds or UpdateKind)


async def _follow(
    context: Context, account_id: int, position: int, kinds: Collection[UpdateKind]
) -> AsyncGenerator[list[Update] | None, None]:
    """Read on whenever there may be news; yield up to `SHOWN_TOGETHER` updates at a time, and None for none.

    Updates that a client has not taken yet wait in the database, not here.
    """
    with context.services.live.watch(account_id) as watch:
        while True:
            page = await context.services.feed.read(account_id, position)
            wanted = [_typed(update) for update in page if update.kind in kinds]
            for start in range(0, max(len(wanted), 1), SHOWN_TOGETHER):
                yield wanted[start : start + SHOWN_TOGETHER] or None
            if page:
                position = page[-1].id
            if len(page) < feed.PAGE:
                await watch.wait()
                for present in watch.take_present() if UpdateKind.presence in kinds else ():
                    yield [_present(present, position)]


def _typed(update: feed.Update) -> Update:
    return UPDATES[update.kind](
        id=BigInt(update.id),
        kind=update.kind,
        at=update.at,
        contact_id=_big(update.contact_id),
        conversation_id=_big(update.conversation_id),
        message_id=_big(update.message_id),
        actor_label=update.actor,
        **{name: getattr(update, name) for name in IDS},
    )


def _present(presence: Presence, position: int) -> Update:
    return PresenceUpdate(
        id=BigInt(position),
        kind=UpdateKind.presence,
        at=presence.at,
        contact_id=BigInt(presence.contact_id),
        conversation_id=BigInt(presence.conversation_id),
        actor_label=presence.actor,
        typing=presence.typing,
        **dict.fromkeys(("message_id", *IDS)),
    )


def _big(id: int | None) -> BigInt | None:
    return None if id is None else BigInt(id)
