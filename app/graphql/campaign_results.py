"""Results of campaigns, as the contract shows them."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from app.domain.campaigns import breakdown, diagnosis
from app.domain.campaigns.breakdown import BreakdownGroup
from app.domain.campaigns.findings import FindingCode, Verdict
from app.graphql.campaigns import CampaignId
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    BreakdownGroup,
    "The grouping of the results of a campaign.",
    {
        "state": "By state.",
        "reason": "By the reason of a suppression or failure; other recipients by state.",
        "number": "By sending number.",
        "area": "By area code in North America, else by the first two digits of the calling code.",
        "hour": "By the hour in which the text left, in UTC.",
        "segments": "By the number of SMS parts.",
    },
    name="CampaignBreakdownGroup",
)
describe(
    FindingCode,
    "A finding about a campaign.",
    {
        "still_running": "Texts have not left yet.",
        "paused": "It is paused.",
        "credits_exhausted": "It waits for credits.",
        "audience_shrink": "More than a fifth of the audience got no text.",
        "delivery_below_usual": "Significantly fewer texts were delivered than in the 28 days before.",
        "number_below_usual": "A number delivered significantly less than in the 28 days before.",
        "hour_below_others": "The texts of an hour were delivered significantly less than the others.",
        "area_below_others": "The texts to an area were delivered significantly less than the others.",
        "number_health": "A number of the campaign has a health below 80.",
        "filtered": "Carriers filtered more than one text of fifty.",
        "sender_refused": "The carrier refused the sender or its account.",
        "landlines": "More than one phone of twenty is a landline.",
        "opt_outs": "More than one contact of a hundred opted out.",
        "many_segments": "Most texts take more than one SMS part.",
        "stale_contacts": "Many contacts have not written for a year.",
        "deferred": "More than a fifth of the texts wait for their hour.",
        "throttled": "The carrier refused texts as too many for its limits.",
        "no_opt_out_text": "The text does not say how to opt out.",
    },
    name="CampaignProblem",
)
describe(
    Verdict,
    "The weight of a finding.",
    {
        "note": "Information only.",
        "warning": "It may harm the campaign or the numbers.",
        "problem": "It harms the campaign or the numbers.",
    },
    name="FindingVerdict",
)


@strawberry.type(description="The recipients of one group of a campaign, and the results of their texts.")
class CampaignBreakdownRow:
    """A row of a breakdown."""

    key: str = strawberry.field(description="The group, such as a number or an hour.")
    recipients: BigInt = strawberry.field(description="Number of recipients.")
    sent: BigInt = strawberry.field(description="Number of texts without a final report yet.")
    delivered: BigInt = strawberry.field(description="Number of delivered texts.")
    failed: BigInt = strawberry.field(description="Number of failed texts.")
    replies: BigInt = strawberry.field(description="Number of contacts who replied within 72 hours.")
    opt_outs: BigInt = strawberry.field(description="Number of contacts who opted out within 72 hours.")
    segments: BigInt = strawberry.field(description="SMS parts of the texts.")
    credits: BigInt = strawberry.field(description="Credits of the texts, without those that were refunded.")


@strawberry.type(description="One cause for which a campaign reaches fewer people than it could.")
class CampaignFinding:
    """A finding."""

    code: FindingCode = strawberry.field(description="The finding.")
    verdict: Verdict = strawberry.field(description="Its weight.")
    text: str = strawberry.field(description="Its figures.")
    fix: str = strawberry.field(description="The advised action.")


@strawberry.type
class CampaignResultsQuery:
    """Reading the results of campaigns."""

    @strawberry.field(
        graphql_type=list[CampaignBreakdownRow] | None,
        description=f"The results of a campaign by groups, the largest first, at most {breakdown.MAX_GROUPS:,}; null "
        "beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def campaign_breakdown(
        self,
        info: Info,
        id: CampaignId,
        by: Annotated[BreakdownGroup, strawberry.argument(description="The grouping.")] = BreakdownGroup.reason,
    ) -> Sequence[breakdown.BreakdownRow]:
        """Return the groups."""
        return await breakdown.break_down(info.context.unit, id, by)

    @strawberry.field(
        graphql_type=list[CampaignFinding] | None,
        description="The causes for which a campaign reaches fewer people than it could, the most severe first, at "
        f"most {len(FindingCode)}; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def diagnose_campaign(self, info: Info, id: CampaignId) -> Sequence[diagnosis.Finding]:
        """Return the findings."""
        return await diagnosis.diagnose(info.context.unit, id)
