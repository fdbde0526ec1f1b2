"""Previews of campaigns, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.campaigns import models, previews, reasons, samples
from app.domain.campaigns.previews import Preview, Start
from app.domain.campaigns.reasons import Reason
from app.domain.campaigns.samples import Sample
from app.domain.kernel.sms_parts import MAX_LENGTH, Encoding
from app.graphql.campaigns import REASON_DESCRIPTION, Campaign, CampaignId, LocalTime, read_local_time
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt
from app.graphql.texts import TextFinding, find_findings

describe(
    Reason,
    "The reason for which a contact gets no text of a campaign.",
    {reason: reasons.DESCRIPTIONS[reason] for reason in Reason},
    name="CampaignExclusionReason",
)


@strawberry.type(description="The number of contacts that get no text for one reason.")
class ExcludedCount:
    """A count of contacts that get no text."""

    reason: Reason = strawberry.field(description="The reason.")
    count: BigInt = strawberry.field(description="Number of contacts.")

    @strawberry.field(description=REASON_DESCRIPTION)
    def description(self) -> str | None:
        """Return the sentence."""
        return reasons.describe(self.reason)


@strawberry.type(description="The number of texts with a number of SMS parts.")
class PartsCount:
    """A bar of the histogram of parts."""

    segments: int = strawberry.field(description="The SMS parts of a text.")
    count: BigInt = strawberry.field(description="Number of texts.")


@strawberry.type(description="The number of texts in one alphabet.")
class EncodingCount:
    """A count of texts."""

    encoding: Encoding = strawberry.field(description="The alphabet.")
    count: BigInt = strawberry.field(description="Number of texts.")


@strawberry.type(description="A character outside GSM-7, because of which texts are sent in UCS-2.")
class CampaignCharacter:
    """A character that costs parts."""

    character: str = strawberry.field(description="The character.")
    replacement: str | None = strawberry.field(
        description="Its replacement by smart encoding; empty where it is removed, null where there is none."
    )
    texts: BigInt = strawberry.field(description="Number of texts with it.")
    credits: BigInt = strawberry.field(
        description="Credits that these texts cost more than with characters of GSM-7 in place of all others."
    )


@strawberry.type(description="The text that one contact would get.")
class SampleText:
    """A rendered text."""

    contact_id: BigInt = strawberry.field(description="The contact.")
    phone: str = strawberry.field(description="The phone.")
    body: str = strawberry.field(description="The text as it would be sent.")
    encoding: Encoding = strawberry.field(description="The alphabet that it is sent in.")
    segments: int = strawberry.field(description="Its SMS parts.")
    credits: int = strawberry.field(description="Its price in credits.")
    missing: list[str] = strawberry.field(description="The placeholders that have no value for this contact.")


@strawberry.type(description="The number of texts to people who may be in the same time zones.")
class ZoneCount:
    """A count of texts."""

    zones: list[str] = strawberry.field(description="The zones (IANA), in all of which it must be daytime.")
    opens_at: datetime | None = strawberry.field(
        description="The time from which these texts leave: that of the start, or local_at on the clock of the first "
        "zone, or the next time that quiet hours allow; null if they do not within two weeks."
    )
    count: BigInt = strawberry.field(description="Number of texts.")


@strawberry.type(description="The result of a campaign if it were sent now: every text is rendered and counted.")
class CampaignPreview:
    """A preview."""

    preview_id: str = strawberry.field(
        description="Pass it to send_campaign, which refuses if the campaign, the size of its audience or a setting of "
        "its texts has changed."
    )
    audience: BigInt = strawberry.field(description="Number of contacts in the audience.")
    recipients: BigInt = strawberry.field(description="Number of contacts that would get a text.")
    segments: BigInt = strawberry.field(description="SMS parts of all texts.")
    credits: BigInt = strawberry.field(description="The exact price in credits.")
    max_credits: BigInt = strawberry.field(
        description="The most credits of a campaign that is sent with this preview_id and without max_credits: the "
        "price, or the limit of the campaign if that is lower."
    )
    cost: float = strawberry.field(description="The exact price in the account's currency.")
    currency: str = strawberry.field(description="The currency, such as USD.")
    eta_seconds: BigInt = strawberry.field(
        description="Seconds that the texts need at the pace of the account's numbers; 0 without a pace."
    )

    @strawberry.field(graphql_type=Campaign, description="The campaign.")
    def campaign(self) -> models.Campaign:
        """Return the campaign."""
        return row_of(self, Preview).campaign

    @strawberry.field(description="The contacts that would get no text, by reason.")
    def excluded(self) -> list[ExcludedCount]:
        """Return the counts by reason."""
        found = row_of(self, Preview).excluded
        return [ExcludedCount(reason=Reason(reason), count=BigInt(count)) for reason, count in found.items()]

    @strawberry.field(description="The texts by their number of SMS parts.")
    def histogram(self) -> list[PartsCount]:
        """Return the counts by parts."""
        found = row_of(self, Preview).histogram
        return [PartsCount(segments=segments, count=BigInt(count)) for segments, count in found.items()]

    @strawberry.field(description="The texts by alphabet; one name outside GSM-7 can double the price of a text.")
    def encodings(self) -> list[EncodingCount]:
        """Return the counts by alphabet."""
        found = row_of(self, Preview).encodings
        return [EncodingCount(encoding=Encoding(name), count=BigInt(count)) for name, count in found.items()]

    @strawberry.field(
        graphql_type=list[CampaignCharacter],
        description="The characters outside GSM-7 in the texts as they would be sent, those that cost most first, at "
        f"most {previews.MOST_CHARACTERS}.",
    )
    def characters(self) -> Sequence[Any]:
        """Return the characters."""
        return row_of(self, Preview).characters

    @strawberry.field(description="The texts by the time zones of their recipients, the largest group first.")
    def zones(self) -> list[ZoneCount]:
        """Return the counts by zones."""
        found = row_of(self, Preview).zones
        return [
            ZoneCount(zones=list(each.zones), opens_at=each.opens_at, count=BigInt(each.recipients)) for each in found
        ]

    @strawberry.field(description="Advice about the text, the most severe first.")
    async def findings(
        self,
        info: Info,
        first_promotional: Annotated[
            bool,
            strawberry.argument(
                description="Whether it may be the first promotional text to a person, who must be told how to opt out."
            ),
        ] = True,
    ) -> list[TextFinding]:
        """Return the findings."""
        shown = row_of(self, Preview).campaign
        return await find_findings(info, shown.account_id, shown.body, is_first_promotional=first_promotional)

    @strawberry.field(
        graphql_type=list[SampleText],
        description="Up to five texts: the shortest, the longest, one with a missing value, and two at random.",
        directives=guarded("contacts:read"),
    )
    def samples(self) -> Sequence[Any]:
        """Return the samples."""
        return row_of(self, Preview).samples


@strawberry.type
class CampaignPreviewQuery:
    """Previewing campaigns."""

    @strawberry.field(
        graphql_type=CampaignPreview | None,
        description="Preview a campaign: recipients, texts, and the exact price. Nothing is sent or written; null "
        "beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def preview_campaign(
        self,
        info: Info,
        id: CampaignId,
        local_at: LocalTime = None,
        at: Annotated[
            datetime | None,
            strawberry.argument(description="The time at which it would start; null for now, or as it is scheduled."),
        ] = None,
    ) -> Preview:
        """Return the preview."""
        services, start = info.context.services, Start(at, read_local_time(local_at))
        max_segments = services.acceptor.max_segments
        return await previews.preview(info.context.unit, services.database.pool, id, max_segments, start)

    @strawberry.field(
        graphql_type=SampleText | None,
        description="Preview a text with placeholders as one contact would get it. Nothing is sent or written; null "
        "beside the error not_found.",
        directives=guarded("contacts:read", "message_too_long", "not_found"),
    )
    async def preview_text(
        self,
        info: Info,
        body: Annotated[
            str,
            strawberry.argument(
                description="The text, 1 to 1600 characters. A faulty placeholder is refused.",
                directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
            ),
        ],
        contact_id: Annotated[BigInt, strawberry.argument(description="The contact.")],
        is_smart_encoded: Annotated[
            bool | None,
            strawberry.argument(
                description="Whether typographic characters are replaced, as in a campaign; null for the account's "
                "setting."
            ),
        ] = None,
    ) -> Sample:
        """Return the text."""
        return await samples.render(info.context.unit, body, contact_id, is_smart_encoded=is_smart_encoded)
