"""Campaigns and their recipients, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.campaigns import models, queries, reasons
from app.domain.campaigns.models import Answer, CampaignStatus, PauseReason, RecipientState
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import PipelineStage
from app.domain.kernel import instants
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Page
from app.graphql.actors import Actor, actor_of
from app.graphql.contacts import Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    CampaignStatus,
    "The status of a campaign.",
    {
        "draft": "It can be changed, and sends nothing.",
        "scheduled": "It starts at its time. It can be unscheduled until then, and changed as a draft.",
        "sending": "Its texts leave, at the pace of the numbers.",
        "paused": "It sends nothing until it is resumed; reason says why.",
        "completed": "No text is left to send. Reports on sent texts may still arrive.",
        "canceled": "It was canceled.",
        "failed": "It could not send anything; reason says why.",
    },
)
describe(
    RecipientState,
    "The state of a recipient. The recipients of all states together are the audience.",
    {
        "queued": "Its text is not accepted yet.",
        "suppressed": "It gets no text; reason says why.",
        "deferred": "Its text waits for local_at on the clock of the recipient.",
        "claimed": "Its text was debited and is on its way to the carrier.",
        "sent": "The carrier took the text.",
        "delivered": "The text was delivered.",
        "failed": "The text failed and was refunded; reason is the code of the failure.",
        "canceled": "The campaign was canceled before the text left.",
    },
)
describe(
    Answer,
    "The answer of a recipient, within 72 hours of the text.",
    {"replied": "A reply.", "opted_out": "An opt-out."},
    name="RecipientAnswer",
)
describe(
    PauseReason,
    "The cause of a pause or of a failed campaign.",
    {
        "requested": "A user paused it.",
        "insufficient_credits": "The balance does not pay for the next text. It goes on by itself after a top-up.",
        "over_max_credits": "Its exact cost is more than max_credits. Nothing was sent.",
        "account": "The account is suspended, or its deletion was requested.",
        "credential_ended": "The key, application or user that sent it has ended, or may not send campaigns any more.",
        "no_sending_number": "The account has no active number that it can send from.",
        "filtered": "Carriers filtered more than 10 % of its last 200 results.",
        "opt_outs": "More than 3 % of its last 200 recipients opted out.",
        "sender_refused": "The carrier refused the sender or the account six times in a row.",
        "no_recipients": "No contact of its audience may be texted.",
    },
)

CampaignId = Annotated[BigInt, strawberry.argument(description="The campaign's id.")]
LocalTime = Annotated[
    str | None,
    strawberry.argument(
        description="Text each recipient when the clock there shows this time, such as 2026-11-27T10:00, or later as "
        "quiet hours allow. Where it is past, the text is due at once."
    ),
]
REASON_DESCRIPTION = "The reason as a sentence, with the advised action; null without a reason."
COST_LIMIT = "The most credits that it may cost; one that costs more sends nothing."
MAX_CREDITS = f"{COST_LIMIT} Null for no limit."


@strawberry.type(description="The contacts that a campaign reaches: those that satisfy every condition.")
class CampaignAudience:
    """An audience."""

    everyone: bool = strawberry.field(description="True for all contacts of the account.")
    tags: list[str] = strawberry.field(description="Contacts with any of these tags; empty for no condition.")
    stage: PipelineStage | None = strawberry.field(description="Contacts of this stage; null for no condition.")
    contact_ids: list[BigInt] = strawberry.field(description="Only these contacts; empty for no condition.")
    excluded_tags: list[str] = strawberry.field(description="Contacts with any of these tags are suppressed.")
    segment_id: BigInt | None = strawberry.field(description="Contacts of this segment; null for no condition.")
    excluded_segment_id: BigInt | None = strawberry.field(description="Segment to leave out.")
    requires_consent: bool = strawberry.field(description="True to suppress contacts without a recorded consent.")
    skips_live_conversations: bool = strawberry.field(
        description="True to suppress contacts that wrote within 24 hours before the campaign starts."
    )


@strawberry.type(description="The number of recipients in one state, with one reason.")
class RecipientCount:
    """A count of recipients."""

    state: RecipientState = strawberry.field(description="The state.")
    reason: str = strawberry.field(
        description="The reason of the suppression, the code of the failure, or deferred for a text that waits for its "
        "recipient's hours; empty for others."
    )
    recipients: BigInt = strawberry.field(description="Number of recipients.")
    segments: BigInt = strawberry.field(description="The SMS parts of their texts.")
    credits: BigInt = strawberry.field(description="The credits of their texts, without those that were refunded.")

    @strawberry.field(description=REASON_DESCRIPTION)
    def description(self) -> str | None:
        """Return the sentence."""
        return reasons.describe(self.reason)


@strawberry.type(description="One text to many contacts.")
class Campaign:
    """A campaign."""

    id: BigInt = strawberry.field(description="The campaign's id.")
    name: str = strawberry.field(description="The name of the campaign.")
    version: int = strawberry.field(description="The version: 1 at first, and one more with each change of the draft.")
    status: CampaignStatus = strawberry.field(description="The status of the campaign.")
    reason: strawberry.Private[str]
    body: str = strawberry.field(description="The text, with its placeholders.")
    audience: strawberry.Private[dict[str, Any]]
    phone_number_id: BigInt | None = strawberry.field(
        description="The number that all texts leave from; null to let each leave from the best one."
    )
    is_smart_encoded: bool = strawberry.field(
        description="True to replace typographic characters where that saves SMS parts."
    )
    is_strict: bool = strawberry.field(description="True to suppress contacts that lack a value of a placeholder.")
    max_credits: BigInt | None = strawberry.field(description=MAX_CREDITS)
    created_by: strawberry.Private[str]
    scheduled_at: datetime | None = strawberry.field(description="The time at which it starts; null for at once.")
    local_at: strawberry.Private[datetime | None]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    updated_at: datetime = strawberry.field(description="The time of its latest change.")
    sent_at: datetime | None = strawberry.field(description="The time at which it started; null before.")
    ended_at: datetime | None = strawberry.field(description="The time at which it ended; null before.")

    @strawberry.field(
        name="reason",
        graphql_type=PauseReason | None,
        description="The reason of the pause or failure; null otherwise.",
    )
    def reason_of(self) -> PauseReason | None:
        """Return the reason."""
        return PauseReason(self.reason) if self.reason else None

    @strawberry.field(
        name="local_at",
        description="The time on the clock of each recipient at which the text is due, such as 2026-11-27T10:00; null "
        "where all are due when it starts.",
    )
    def local_at_of(self) -> str | None:
        """Return the local time, without a zone."""
        return self.local_at.isoformat(timespec="minutes") if self.local_at else None

    @strawberry.field(name="audience", graphql_type=CampaignAudience, description="The contacts that it reaches.")
    def audience_of(self) -> CampaignAudience:
        """Return the audience."""
        stored = self.audience
        stage = PipelineStage(stored["stage"]) if stored["stage"] else None
        ids = [BigInt(id) for id in stored["contact_ids"]]
        return CampaignAudience(
            everyone=stored["everyone"],
            tags=stored["tags"],
            stage=stage,
            contact_ids=ids,
            excluded_tags=stored["excluded_tags"],
            segment_id=stored.get("segment_id"),
            excluded_segment_id=stored.get("excluded_segment_id"),
            requires_consent=stored.get("requires_consent", False),
            skips_live_conversations=stored.get("skips_live_conversations", False),
        )

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)

    @strawberry.field(
        graphql_type=list[RecipientCount],
        description="Its recipients by state and reason; their sum is the audience, at any time. Empty before it is "
        "sent.",
    )
    def counts(self, info: Info) -> Load[Any]:
        """Return the counts."""
        return info.context.load_rows(queries.find_counts, "campaign_id", self.id)


@strawberry.type(description="A contact as a recipient of a campaign.")
class CampaignRecipient:
    """A recipient."""

    id: BigInt = strawberry.field(description="The recipient's id.")
    campaign_id: BigInt = strawberry.field(description="The campaign.")
    contact_id: BigInt | None = strawberry.field(description="The contact; null once it was deleted.")
    phone: str | None = strawberry.field(
        description="The phone; null once the contact was deleted.", directives=guarded("contacts:read")
    )
    state: RecipientState = strawberry.field(description="The state.")
    reason: str = strawberry.field(
        description="The reason of the suppression, the code of the failure, or deferred for a text that waits for its "
        "recipient's hours; empty for others."
    )
    segments: BigInt = strawberry.field(description="The SMS parts of the text.")
    credits: BigInt = strawberry.field(description="The credits of the text; 0 once they were refunded.")
    number: strawberry.Private[str]
    message_id: BigInt | None = strawberry.field(description="The message; null before the text was accepted.")
    due_at: datetime | None = strawberry.field(
        description="The time of a deferred text on the clock of the recipient; null for others."
    )
    sent_at: datetime | None = strawberry.field(description="The time at which the carrier took the text.")
    settled_at: datetime | None = strawberry.field(description="The time of the final state.")
    replied_at: datetime | None = strawberry.field(description="The time of the first reply within 72 hours.")
    opted_out_at: datetime | None = strawberry.field(description="The time of an opt-out within 72 hours.")

    @strawberry.field(description=REASON_DESCRIPTION)
    def description(self) -> str | None:
        """Return the sentence."""
        return reasons.describe(self.reason)

    @strawberry.field(
        graphql_type=Contact | None,
        description="The contact; null once it was deleted.",
        directives=guarded("contacts:read"),
    )
    async def contact(self, info: Info) -> Any:
        """Return the contact."""
        return await info.context.load(contacts.find_many, self.contact_id)

    @strawberry.field(description="The number that the text left from; null before it was chosen.")
    def from_number(self) -> str | None:
        """Return the number."""
        return self.number or None


@strawberry.type
class CampaignQuery:
    """Reading campaigns."""

    @strawberry.field(
        graphql_type=Connection[Campaign],
        description="The account's campaigns, the newest first.",
        directives=guarded("campaigns:read"),
    )
    async def campaigns(
        self,
        info: Info,
        status: Annotated[CampaignStatus | None, strawberry.argument(description="Only this status.")] = None,
        search: Annotated[
            str | None, strawberry.argument(description="Only names that contain this, in any case.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Campaign]:
        """Return one page of campaigns."""
        wanted = window(info, "campaigns", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, status, search, wanted)

    @strawberry.field(
        graphql_type=Campaign | None,
        description="One campaign; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def campaign(self, info: Info, id: CampaignId) -> models.Campaign:
        """Return one campaign."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=Connection[CampaignRecipient] | None,
        description="The recipients of a campaign that was sent, the last of its audience first; null beside the error "
        "not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def campaign_recipients(
        self,
        info: Info,
        campaign_id: CampaignId,
        state: Annotated[RecipientState | None, strawberry.argument(description="Only this state.")] = None,
        reason: Annotated[
            str | None, strawberry.argument(description="Only this reason; fastest together with its state.")
        ] = None,
        answer: Annotated[Answer | None, strawberry.argument(description="Only those with this answer.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Recipient]:
        """Return one page of recipients."""
        wanted = window(info, "campaign_recipients", first, after, last, before, offset)
        filter = queries.RecipientFilter(state, reason, answer)
        return await queries.find_recipients(info.context.unit, campaign_id, filter, wanted)


def read_local_time(written: str | None) -> datetime | None:
    """Return a date and time without a zone; raise `InvalidInput` for another text."""
    if written is None:
        return None
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        found = None
    if found is None or found.tzinfo:
        reason = "local_at must be a date and a time without a zone, such as 2026-11-27T10:00."
        raise InvalidInput(reason=reason, field="local_at")
    return instants.bound(found)
