"""Changes of campaigns, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.campaigns import audience, models, queries, service, trial
from app.domain.campaigns.service import CampaignFields, Canceled, Order
from app.domain.contacts.models import PipelineStage
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.graphql.campaigns import COST_LIMIT, MAX_CREDITS, Campaign, CampaignId, LocalTime, read_local_time
from app.graphql.core import versions
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.scalars import BigInt
from app.graphql.messages import SentMessage, accepted
from app.graphql.replies import ConsentAttested

BODY = (
    "The text, 1 to 1600 characters, with placeholders such as {first_name} or {first_name|there}. An unknown value "
    "leaves its fallback, or nothing."
)


@strawberry.input(description="The contacts that a campaign reaches: those that satisfy every condition.")
class AudienceInput:
    """The conditions that choose an audience."""

    everyone: bool = strawberry.field(default=False, description="All contacts of the account.")
    tags: list[str] | None = strawberry.field(
        default=None,
        description="Contacts with any of these tags.",
        directives=[Constraint(max_items=audience.MAX_TAGS)],
    )
    stage: PipelineStage | None = strawberry.field(default=None, description="Contacts of this stage.")
    contact_ids: list[BigInt] | None = strawberry.field(
        default=None,
        description="Only these contacts.",
        directives=[Constraint(max_items=audience.MAX_IDS)],
    )
    excluded_tags: list[str] | None = strawberry.field(
        default=None,
        description="Contacts with any of these tags are suppressed.",
        directives=[Constraint(max_items=audience.MAX_TAGS)],
    )
    segment_id: BigInt | None = strawberry.field(default=None, description="Contacts of this segment.")
    excluded_segment_id: BigInt | None = strawberry.field(default=None, description="A segment that is left out.")
    requires_consent: bool = strawberry.field(
        default=False,
        description="Only with a recorded consent.",
    )
    skips_live_conversations: bool = strawberry.field(default=False, description="Not if they wrote in the last day.")

    def read(self) -> audience.Audience:
        """Return the audience of the domain."""
        tags, ids, excluded = self.tags or (), self.contact_ids or (), self.excluded_tags or ()
        return audience.Audience(
            self.everyone,
            tags,
            self.stage,
            ids,
            excluded,
            self.segment_id,
            excluded_segment_id=self.excluded_segment_id,
            requires_consent=self.requires_consent,
            skips_live_conversations=self.skips_live_conversations,
        )


@strawberry.type(description="A canceled campaign.")
class CanceledCampaign:
    """The result of a cancellation."""

    campaign: Campaign = strawberry.field(description="The campaign.")
    canceled: BigInt = strawberry.field(description="Number of recipients that get no text.")
    left: BigInt = strawberry.field(description="Number of texts that had left.")
    in_flight: BigInt = strawberry.field(description="Number of texts in calls to carriers at this moment.")


@strawberry.type(description="A deleted campaign.")
class DeletedCampaign:
    """The result of a deletion."""

    deleted_id: BigInt = strawberry.field(description="The id of the campaign.")


@strawberry.input(description="A new campaign.")
class NewCampaign:
    """The fields of a new campaign."""

    name: str = strawberry.field(
        description="The name.", directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]
    )
    body: str = strawberry.field(description=BODY, directives=[Constraint(min_length=1, max_length=MAX_LENGTH)])
    audience: AudienceInput | None = strawberry.field(
        default=None, description="The contacts that it reaches; needed before it is sent."
    )
    phone_number_id: BigInt | None = strawberry.field(
        default=None, description="The number that all texts leave from. Without it, each leaves from the best one."
    )
    is_smart_encoded: bool = strawberry.field(
        default=True, description="Replace typographic characters where that saves SMS parts."
    )
    is_strict: bool = strawberry.field(
        default=False, description="Leave out contacts without a value of a placeholder."
    )
    max_credits: BigInt | None = strawberry.field(default=None, description=MAX_CREDITS)


@strawberry.input(description="Changes of a campaign; fields that are left out keep their values.")
class CampaignChanges:
    """The fields of a campaign that can be changed."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description="The name.", directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]
    )
    body: strawberry.Maybe[str | None] = strawberry.field(
        description=BODY, directives=[Constraint(min_length=1, max_length=MAX_LENGTH)]
    )
    audience: strawberry.Maybe[AudienceInput | None] = strawberry.field(description="The contacts that it reaches.")
    phone_number_id: strawberry.Maybe[BigInt | None] = strawberry.field(
        description="The number that all texts leave from; null to let each leave from the best one."
    )
    is_smart_encoded: strawberry.Maybe[bool | None] = strawberry.field(
        description="Replace typographic characters where that saves SMS parts."
    )
    is_strict: strawberry.Maybe[bool | None] = strawberry.field(
        description="Leave out contacts without a value of a placeholder."
    )
    max_credits: strawberry.Maybe[BigInt | None] = strawberry.field(description=MAX_CREDITS)
    clear_phone_number_id: bool = strawberry.field(
        default=False, description="True lets each text leave from the best number, as a null does."
    )
    clear_max_credits: bool = strawberry.field(default=False, description="True removes the limit, as a null does.")

    def read(self) -> CampaignFields:
        """Return the fields that the caller wrote or cleared; raise `InvalidInput`."""
        values = {name: value for name, value in vars(self).items() if not name.startswith("clear_")}
        written: dict[str, Any] = dict(given(values, CampaignFields))
        if "audience" in written:
            written["audience"] = written["audience"].read()
        for name in ("phone_number_id", "max_credits"):
            if getattr(self, f"clear_{name}") and written.setdefault(name, None) is not None:
                raise InvalidInput(reason=f"{name} is both set and cleared.", field=f"clear_{name}")
        return cast("CampaignFields", written)


@strawberry.type
class CampaignMutation:
    """Changing and sending campaigns."""

    @strawberry.mutation(
        graphql_type=Campaign,
        description="Create a campaign as a draft, and return it; nothing is sent.",
        directives=guarded("campaigns:write", "idempotency_key_reused", "message_too_long", "not_found"),
    )
    async def create_campaign(
        self,
        info: Info,
        campaign: Annotated[NewCampaign, strawberry.argument(description="The campaign.")],
        idempotency_key: IdempotencyKey = None,
    ) -> models.Campaign:
        """Create a draft."""
        unit, chosen = info.context.unit, (campaign.audience or AudienceInput()).read()
        fields = cast("CampaignFields", {**vars(campaign), "audience": chosen})
        digest = idempotency.fingerprint("create_campaign", campaign=campaign)
        id = await once(info, idempotency_key, digest, lambda: service.create(unit, fields))
        return await queries.get(unit, id)

    @strawberry.mutation(
        graphql_type=Campaign,
        description=(
            "Change a campaign that is a draft, and return it. A scheduled one is unscheduled first. With "
            "expected_version, nothing that others changed meanwhile is overwritten."
        ),
        directives=guarded("campaigns:write", "conflict", "message_too_long", "not_found"),
    )
    async def update_campaign(
        self,
        info: Info,
        id: CampaignId,
        changes: Annotated[CampaignChanges, strawberry.argument(description="The changes.")],
        expected_version: Annotated[int | None, versions.expected("campaign")] = None,
    ) -> models.Campaign:
        """Change a draft."""
        return await service.update(info.context.unit, id, changes.read(), expected_version)

    @strawberry.mutation(
        graphql_type=Campaign,
        description=(
            "Send a campaign, at once or at a time, and return it. Its content is fixed now, its audience and the "
            "values of contacts when it starts; each contact gets one text at most. The caller certifies that the "
            "recipients gave prior express written consent to be texted, which is recorded with each text. Sending "
            "again answers conflict."
        ),
        directives=guarded(
            "campaigns:send",
            "api_consent_attested_required",
            "conflict",
            "not_found",
            "over_max_credits",
            "preview_outdated",
        ),
    )
    async def send_campaign(
        self,
        info: Info,
        id: CampaignId,
        consent_attested: Annotated[
            bool | None,
            strawberry.argument(
                description="Must be true: certifies that all recipients gave prior express written consent."
            ),
        ] = None,
        preview_id: Annotated[
            str | None,
            strawberry.argument(
                description="The id of the preview that was seen; refuses if the campaign, the size of its audience or "
                "a setting of the account that its texts and price depend on has changed. Without max_credits, the "
                "campaign costs no more than that preview shows."
            ),
        ] = None,
        max_credits: Annotated[
            BigInt | None,
            strawberry.argument(
                description=f"{COST_LIMIT} Null keeps the price of the preview, or else the limit of the campaign."
            ),
        ] = None,
        at: Annotated[
            datetime | None,
            strawberry.argument(description="The time to start at, within a year; null for at once."),
        ] = None,
        local_at: LocalTime = None,
    ) -> models.Campaign:
        """Send a campaign."""
        order = Order(consent_attested is True, preview_id, max_credits, at, read_local_time(local_at))
        return await service.send(info.context.unit, id, order)

    @strawberry.mutation(
        graphql_type=Campaign,
        description="Make a scheduled campaign a draft again, and return it.",
        directives=guarded("campaigns:send", "conflict", "not_found"),
    )
    async def unschedule_campaign(self, info: Info, id: CampaignId) -> models.Campaign:
        """Take a schedule back."""
        return await service.unschedule(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=Campaign,
        description=(
            "Pause a campaign, and return it: texts whose hand-off has not begun wait. A paused one does not change."
        ),
        directives=guarded("campaigns:send", "conflict", "not_found"),
    )
    async def pause_campaign(self, info: Info, id: CampaignId) -> models.Campaign:
        """Pause a campaign."""
        return await service.pause(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=Campaign,
        description=(
            "Resume a paused campaign, and return it. One that is sending does not change; one that exceeds "
            "max_credits is refused."
        ),
        directives=guarded(
            "campaigns:send", "api_consent_attested_required", "conflict", "not_found", "over_max_credits"
        ),
    )
    async def resume_campaign(
        self,
        info: Info,
        id: CampaignId,
        max_credits: Annotated[
            BigInt | None, strawberry.argument(description=f"{COST_LIMIT} Null keeps the limit of the campaign.")
        ] = None,
        consent_attested: Annotated[
            bool | None,
            strawberry.argument(
                description="Must be true once the key, application or user that sent it has ended: the caller becomes "
                "the sender, and certifies the recipients' consent."
            ),
        ] = None,
    ) -> models.Campaign:
        """Resume a campaign."""
        return await service.resume(info.context.unit, id, max_credits, consent_attested=consent_attested)

    @strawberry.mutation(
        graphql_type=CanceledCampaign,
        description="Cancel a campaign, and return it: recipients whose text has not left get none, and their debit is "
        "refunded. Says how many texts had left, and how many are in flight.",
        directives=guarded("campaigns:send", "conflict", "not_found"),
    )
    async def cancel_campaign(self, info: Info, id: CampaignId) -> Canceled:
        """Cancel a campaign."""
        return await service.cancel(info.context.unit, id)

    @strawberry.mutation(
        description=(
            "Delete a campaign that is not running, with its recipients and results, and return its id. Its messages "
            "remain."
        ),
        directives=guarded("campaigns:write", "conflict", "not_found"),
    )
    async def delete_campaign(self, info: Info, id: CampaignId) -> DeletedCampaign:
        """Delete a campaign."""
        return DeletedCampaign(deleted_id=BigInt(await service.delete(info.context.unit, id)))

    @strawberry.mutation(
        description=(
            "Send the text of a campaign to one phone, rendered for the contact with that phone if there is one, and "
            "return the message. It costs its credits, and changes nothing of the campaign."
        ),
        directives=guarded("campaigns:send", *trial.REFUSALS),
    )
    async def send_test_campaign(
        self,
        info: Info,
        id: CampaignId,
        to: Annotated[str, strawberry.argument(description="The phone, in E.164 form or of the account's region.")],
        consent_attested: ConsentAttested = None,
        idempotency_key: IdempotencyKey = None,
    ) -> SentMessage:
        """Send a text to try a campaign."""
        unit, acceptor = info.context.unit, info.context.services.acceptor
        attested = consent_attested is True
        return accepted(info, await trial.send(unit, acceptor, id, to, idempotency_key, consent_attested=attested))
