"""Integrations and the events that arrive for them, as the contract shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.accounts import credentials
from app.domain.integrations import models, queries, service, texts
from app.domain.integrations.models import BookingTextKind, EventStatus, IntegrationStatus
from app.domain.integrations.service import IntegrationFields
from app.domain.kernel.paging import Page
from app.graphql.core.context import Info, given, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.overlap import OverlapHours
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    IntegrationStatus,
    "Whether the events of an integration are applied, and its texts sent.",
    {
        "active": "Events are applied, and texts sent.",
        "paused": "Events and texts wait until it is resumed: the account paused it, or its creator has ended.",
        "removed": "It was removed: its events, bookings and texts are being deleted.",
    },
)
describe(
    EventStatus,
    "State of an event.",
    {
        "waiting": "It is about to be applied, or its integration is paused.",
        "applied": "It was applied.",
        "ignored": "It is of a kind that changes nothing.",
        "failed": "It could not be applied; the result says why.",
    },
    name="IntegrationEventStatus",
)
IntegrationId = Annotated[BigInt, strawberry.argument(description="The integration's id.")]
QUESTION = Constraint(max_length=service.MAX_QUESTION)
Secret = Annotated[
    str,
    strawberry.argument(
        description="The signing secret, as the tool has it; it is never shown again.",
        directives=[Constraint(min_length=service.MIN_SECRET, max_length=service.MAX_SECRET)],
    ),
]


@strawberry.type(description="A kind of integration.")
class IntegrationKind:
    """A scheduling tool."""

    name: str = strawberry.field(description="The name of the kind, for add_integration.")
    title: str = strawberry.field(description="The name of the tool.")


@strawberry.type(description="A text about bookings, with placeholders.")
class IntegrationText:
    """The wording of a kind of texts."""

    kind: BookingTextKind = strawberry.field(description="The kind of the text.")
    body: str = strawberry.field(description="The wording; empty where no such text is sent.")
    is_default: bool = strawberry.field(description="True where it is the service's own wording.")


@strawberry.input(description="The wording of a kind of texts.")
class IntegrationTextInput:
    """A wording."""

    kind: BookingTextKind = strawberry.field(description="The kind of the text.")
    body: str | None = strawberry.field(
        description="The wording, with placeholders; empty to send none, null for the service's own."
    )


@strawberry.type(
    description="A connection of the account to a tool, such as a scheduling tool. Its secret is not shown."
)
class Integration:
    """An integration."""

    id: BigInt = strawberry.field(description="The integration's id.")
    kind: str = strawberry.field(description="The name of its kind.")
    name: str = strawberry.field(description="The name that the account gave it.")
    phone_number_id: BigInt | None = strawberry.field(
        description="The id of the number that its texts leave from; null for the number of the conversation."
    )
    consent_question: str = strawberry.field(
        description="The question of the booking form whose positive answer is consent to texts; empty without one."
    )
    received: BigInt = strawberry.field(description="Number of signed events since it was added.")
    refused: BigInt = strawberry.field(description="Number of events that its secret had not signed.")
    failed: BigInt = strawberry.field(description="Number of signed events that could not be applied.")
    last_received_at: datetime | None = strawberry.field(description="The time of the last signed event.")
    last_refused_at: datetime | None = strawberry.field(description="The time of the last refused event.")
    last_error: str = strawberry.field(description="The reason why the last failed event could not be applied.")
    last_error_at: datetime | None = strawberry.field(description="The time of that failure.")
    created_at: datetime = strawberry.field(description="The time at which it was added.")

    @strawberry.field(
        graphql_type=datetime | None,
        description="The time at which the key, connection or user that it depends on ended: since then it is paused, "
        "and its address unknown. Null for one that goes on.",
    )
    def creator_ended_at(self, info: Info) -> Load[Any]:
        """Return the time."""
        return info.context.load(credentials.when_ended, row_of(self, models.Integration).creator_id)

    @strawberry.field(description="Whether it is paused.")
    async def status(self, info: Info) -> IntegrationStatus:
        """Return the status: one whose creator has ended is paused, also before a worker has seen it."""
        row = row_of(self, models.Integration)
        ended_at = await info.context.load(credentials.when_ended, row.creator_id)
        is_stopped = ended_at is not None and row.status == IntegrationStatus.active
        return IntegrationStatus.paused if is_stopped else IntegrationStatus(row.status)

    @strawberry.field(description="The address that the tool posts its events to; empty once it was removed.")
    def url(self, info: Info) -> str:
        """Return the address."""
        row, services = row_of(self, models.Integration), info.context.services
        if row.status == IntegrationStatus.removed:
            return ""
        own = "" if row.kind in services.crm.connectors else f"/{row.address}"
        return f"{services.settings.public_url}/integrations/{row.kind}{own}"

    @strawberry.field(name="texts", description="The texts about its bookings, one of each kind.")
    def listed_texts(self) -> list[IntegrationText]:
        """Return the wording of each kind."""
        row = row_of(self, models.Integration)
        return [
            IntegrationText(kind=kind, body=texts.find(row.texts, kind), is_default=kind not in row.texts)
            for kind in BookingTextKind
        ]


@strawberry.type(description="A signed event that arrived for an integration.")
class IntegrationEvent:
    """An event."""

    id: BigInt = strawberry.field(description="The event's id.")
    integration_id: BigInt = strawberry.field(description="The id of its integration.")
    event: str = strawberry.field(description="The tool's name of the event.")
    status: EventStatus = strawberry.field(description="State of the event.")
    result: str = strawberry.field(description="Its effect, or the reason why it could not be applied.")
    body: str = strawberry.field(
        description="The body as it came; empty after 14 days, once its contact is deleted, and once an event is "
        "applied that is of a CRM, lists several people, or changes nothing.",
        directives=guarded("contacts:read"),
    )
    contact_id: BigInt | None = strawberry.field(description="The id of the contact that it was about.")
    booking_id: BigInt | None = strawberry.field(description="The id of the booking that it was about.")
    received_at: datetime = strawberry.field(description="The time at which it arrived.")
    applied_at: datetime | None = strawberry.field(description="The time at which it was applied.")


@strawberry.input(description="The fields to change; omitted ones keep their values.")
class IntegrationChanges:
    """The fields of an integration to change."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"A name, 1 to {service.MAX_NAME} characters. Not null.",
        directives=[Constraint(min_length=1, max_length=service.MAX_NAME)],
    )
    phone_number_id: strawberry.Maybe[BigInt | None] = strawberry.field(
        description="The id of the number to send from; null for the number of the conversation."
    )
    consent_question: strawberry.Maybe[str | None] = strawberry.field(
        description="The question whose positive answer is consent; empty for none. Not null.", directives=[QUESTION]
    )
    texts: strawberry.Maybe[list[IntegrationTextInput] | None] = strawberry.field(
        description="The wordings to change. Not null."
    )


@strawberry.type
class IntegrationQuery:
    """Reading integrations and their events."""

    @strawberry.field(
        description="The scheduling tools that an account can connect; at most 20.",
        directives=guarded("webhooks:manage"),
    )
    def integration_kinds(self, info: Info) -> list[IntegrationKind]:
        """Return the kinds."""
        tools = info.context.services.intake.ports.tools.values()
        return [IntegrationKind(name=each.name, title=each.title) for each in tools]

    @strawberry.field(
        graphql_type=list[Integration],
        description=f"The account's integrations, the oldest first; at most {service.MAX_OWN}.",
        directives=guarded("webhooks:manage"),
    )
    async def integrations(self, info: Info) -> Sequence[models.Integration]:
        """Return the integrations."""
        return await queries.list_own(info.context.unit)

    @strawberry.field(
        graphql_type=Integration | None,
        description="One integration; null beside the error not_found.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def integration(self, info: Info, id: IntegrationId) -> models.Integration:
        """Return one integration."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=Connection[IntegrationEvent],
        description="The events that arrived for the account's integrations in 90 days, the newest first.",
        directives=guarded("webhooks:manage"),
    )
    async def integration_events(
        self,
        info: Info,
        integration_id: Annotated[
            BigInt | None, strawberry.argument(description="Only those of one integration.")
        ] = None,
        status: Annotated[EventStatus | None, strawberry.argument(description="Only those with a status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.IntegrationEvent]:
        """Return one page of events."""
        part = window(info, f"integration_events {integration_id} {status}", first, after, last, before, offset)
        return await queries.find_events(info.context.unit, integration_id, status, part)


@strawberry.type
class IntegrationMutation:
    """Changing integrations."""

    @strawberry.mutation(
        graphql_type=Integration,
        description=(
            "Connect a scheduling tool, and return the integration with the address that the tool is to post to. "
            f"An account has at most {service.MAX_OWN}."
        ),
        directives=guarded("webhooks:manage", "conflict", "message_too_long"),
    )
    async def add_integration(
        self,
        info: Info,
        kind: Annotated[str, strawberry.argument(description="The name of the kind, as integration_kinds lists it.")],
        secret: Secret,
        name: Annotated[
            str,
            strawberry.argument(
                description="A name; that of the tool if empty.", directives=[Constraint(max_length=service.MAX_NAME)]
            ),
        ] = "",
        phone_number_id: Annotated[
            BigInt | None,
            strawberry.argument(description="The number to send from; null for the number of the conversation."),
        ] = None,
        consent_question: Annotated[
            str,
            strawberry.argument(
                description="The question of the form whose positive answer is consent to texts.", directives=[QUESTION]
            ),
        ] = "",
        texts: Annotated[
            list[IntegrationTextInput] | None, strawberry.argument(description="Wordings other than the service's.")
        ] = None,
    ) -> models.Integration:
        """Add an integration."""
        fields: IntegrationFields = {
            "name": name,
            "phone_number_id": phone_number_id,
            "consent_question": consent_question,
            "texts": _wordings(texts or []),
        }
        return await service.add(info.context.unit, info.context.services.intake.ports, kind, secret, fields)

    @strawberry.mutation(
        graphql_type=Integration,
        description="Change an integration, and return it. Texts that wait leave with the new wording.",
        directives=guarded("webhooks:manage", "not_found", "message_too_long"),
    )
    async def update_integration(
        self,
        info: Info,
        id: IntegrationId,
        changes: Annotated[IntegrationChanges, strawberry.argument(description="The fields to change.")],
    ) -> models.Integration:
        """Change an integration."""
        written = dict(given(vars(changes), IntegrationFields))
        if isinstance(listed := written.get("texts"), list):
            written["texts"] = _wordings(listed)
        return await service.update(info.context.unit, id, cast("IntegrationFields", written))

    @strawberry.mutation(
        graphql_type=Integration,
        description="Pause an integration, and return it: its events are stored, and they and its texts wait.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def pause_integration(self, info: Info, id: IntegrationId) -> models.Integration:
        """Pause an integration."""
        return await service.pause(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=Integration,
        description="Resume a paused integration, and return it. Texts that came too late meanwhile are skipped. One "
        "whose creator has ended is taken over, as take_over_integration does.",
        directives=guarded("webhooks:manage", "insufficient_scope", "not_found"),
    )
    async def resume_integration(self, info: Info, id: IntegrationId) -> models.Integration:
        """Resume an integration."""
        return await service.resume(info.context.unit, info.context.services.intake.ports, id)

    @strawberry.mutation(
        graphql_type=Integration,
        description=(
            "Bind an integration to the caller, and return it: from now on it stops with the caller's key, connection "
            "or user. One whose creator has ended stays paused until it is resumed. Needs the scopes of what the "
            "integration does. A former creator who knows the secret can use it until it is rotated."
        ),
        directives=guarded("webhooks:manage", "insufficient_scope", "not_found"),
    )
    async def take_over_integration(self, info: Info, id: IntegrationId) -> models.Integration:
        """Take an integration over."""
        return await service.take_over(info.context.unit, info.context.services.intake.ports, id)

    @strawberry.mutation(
        graphql_type=Integration,
        description="Replace the secret of an integration, and return it. The former one is accepted for some hours. "
        "The caller takes the integration over, as take_over_integration does. Needs the scopes of what the "
        "integration does.",
        directives=guarded("webhooks:manage", "insufficient_scope", "not_found", "integration_secret_reused"),
    )
    async def rotate_integration_secret(
        self,
        info: Info,
        id: IntegrationId,
        secret: Secret,
        overlap_hours: OverlapHours = 24,
    ) -> models.Integration:
        """Rotate the secret."""
        return await service.rotate(info.context.unit, info.context.services.intake.ports, id, secret, overlap_hours)

    @strawberry.mutation(
        graphql_type=Integration,
        description=(
            "Remove an integration, and return it: its address is unknown from now on, and nothing more is sent for "
            "it. Its events, its bookings and the texts that wait are deleted in the background. Contacts and texts "
            "that were sent stay."
        ),
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def remove_integration(self, info: Info, id: IntegrationId) -> models.Integration:
        """Remove an integration."""
        return await service.remove(info.context.unit, info.context.services.intake.ports, id)

    @strawberry.mutation(
        graphql_type=IntegrationEvent,
        description="Apply a failed event once more, after its cause was removed, and return it.",
        directives=guarded("webhooks:manage", "not_found", "conflict"),
    )
    async def replay_integration_event(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The event's id.")]
    ) -> models.IntegrationEvent:
        """Replay an event."""
        return await service.replay(info.context.unit, id)


def _wordings(listed: Sequence[IntegrationTextInput]) -> Mapping[str, str | None]:
    return {each.kind.value: each.body for each in listed}
