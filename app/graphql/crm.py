"""Connections to CRMs and the work towards them, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.crm import models, queries, service
from app.domain.crm.models import CrmPushKind, CrmPushStatus, CrmState, CrmSync
from app.domain.integrations.models import Integration as IntegrationRow
from app.domain.kernel.paging import Page
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.integrations import Integration

describe(
    CrmState,
    "Whether a CRM may be called.",
    {"authorized": "It may be called.", "lost": "It refuses the tokens: authorize it again with connect_crm."},
)
describe(
    CrmSync,
    "The progress of the synchronization of all contacts.",
    {
        "fetching": "The contacts of the CRM are fetched.",
        "offering": "The contacts of the account that the CRM lacks are added there.",
        "done": "It is complete; later changes on either side are synchronized at once.",
    },
)
describe(
    CrmPushKind,
    "The kind of a push.",
    {
        "contact": "A contact that changed here.",
        "check": "A contact that changed in the CRM.",
        "inbound": "An inbound text, for the conversation in the CRM.",
        "copy": "A copy of an outbound text, for the conversation in the CRM.",
        "delivered": "The report that a text of the CRM was delivered.",
        "failed": "The report that a text of the CRM failed or was refused.",
    },
)
describe(
    CrmPushStatus,
    "State of a push.",
    {"waiting": "It is about to be done, or put off.", "done": "It was done.", "failed": "It failed; see its reason."},
)


@strawberry.type(description="A CRM that an account can connect.")
class CrmKind:
    """A CRM."""

    name: str = strawberry.field(description="The name of the kind, for connect_crm.")
    title: str = strawberry.field(description="The name of the CRM.")


@strawberry.type(description="A connection to a CRM, with its health and the progress of its synchronization.")
class ConnectedCrm:
    """A connection."""

    integration_id: BigInt = strawberry.field(
        description="The id of its integration, which is paused, resumed and removed, and lists the events of the CRM."
    )
    kind: str = strawberry.field(description="The name of the CRM.")
    location: str = strawberry.field(description="The CRM's id of the connected account.")
    state: CrmState = strawberry.field(description="Whether the CRM may be called.")
    error: str = strawberry.field(description="The reason of the last failure to reach the CRM; empty without one.")
    error_at: datetime | None = strawberry.field(description="The time of that failure.")
    resting_until: datetime | None = strawberry.field(description="The time until which the CRM is not called.")
    sync: CrmSync = strawberry.field(description="The progress of the synchronization.")
    fetched: BigInt = strawberry.field(description="Number of contacts fetched from the CRM.")
    total: BigInt | None = strawberry.field(description="Number of contacts in the CRM; null before the first page.")
    offered: BigInt = strawberry.field(description="Number of contacts of the account that were compared with it.")
    created_at: datetime = strawberry.field(description="The time at which it was connected.")


@strawberry.type(description="Work towards a CRM.")
class CrmPush:
    """A push."""

    id: BigInt = strawberry.field(description="The push's id.")
    integration_id: BigInt = strawberry.field(description="The id of the integration.")
    kind: CrmPushKind = strawberry.field(description="The kind of the push.")
    status: CrmPushStatus = strawberry.field(description="State of the push.")
    reason: str = strawberry.field(description="The reason why it failed, or had nothing to do; empty otherwise.")
    contact_id: BigInt | None = strawberry.field(description="The id of the contact.")
    message_id: BigInt | None = strawberry.field(description="The id of the message.")
    external_id: str = strawberry.field(description="The CRM's id of the contact or of the text; empty for others.")
    due_at: datetime = strawberry.field(description="The time from which it is tried.")
    done_at: datetime | None = strawberry.field(description="The time of its end.")


@strawberry.type(description="An authorization that a person gives in the CRM.")
class CrmAuthorization:
    """An authorization."""

    url: str = strawberry.field(description="The address to open in a browser within 10 minutes.")


IntegrationId = Annotated[BigInt, strawberry.argument(description="The id of the integration.")]


@strawberry.type
class CrmQuery:
    """Reading connections to CRMs."""

    @strawberry.field(
        description="The CRMs that an account can connect; at most 20.", directives=guarded("webhooks:manage")
    )
    def crm_kinds(self, info: Info) -> list[CrmKind]:
        """Return the kinds."""
        return [CrmKind(name=each.name, title=each.title) for each in info.context.services.crm.connectors.values()]

    @strawberry.field(
        graphql_type=list[ConnectedCrm],
        description="The account's connections to CRMs, the oldest first; at most 50.",
        directives=guarded("webhooks:manage"),
    )
    async def crm_connections(self, info: Info) -> Sequence[models.CrmConnection]:
        """Return the connections."""
        return await queries.list_own(info.context.unit)

    @strawberry.field(
        graphql_type=Connection[CrmPush],
        description="The work towards the account's CRMs in 90 days, the newest first.",
        directives=guarded("webhooks:manage"),
    )
    async def crm_pushes(
        self,
        info: Info,
        integration_id: Annotated[
            BigInt | None, strawberry.argument(description="Only that of one integration.")
        ] = None,
        status: Annotated[CrmPushStatus | None, strawberry.argument(description="Only that with a status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.CrmPush]:
        """Return one page of pushes."""
        part = window(info, f"crm_pushes {integration_id} {status}", first, after, last, before, offset)
        return await queries.find_pushes(info.context.unit, integration_id, status, part)


@strawberry.type
class CrmMutation:
    """Connecting CRMs."""

    @strawberry.mutation(
        description=(
            "Begin to connect a CRM, and return the address at which a person authorizes it. With the connection you "
            "attest the consent of the contacts to the texts that the CRM sends."
        ),
        directives=guarded("webhooks:manage"),
    )
    def connect_crm(
        self,
        info: Info,
        kind: Annotated[str, strawberry.argument(description="The name of the kind, as crm_kinds lists it.")],
    ) -> CrmAuthorization:
        """Begin an authorization."""
        return CrmAuthorization(url=service.begin(info.context.unit, info.context.services.crm, kind))

    @strawberry.mutation(
        graphql_type=Integration,
        description=(
            "Finish an authorization with the parameters that the CRM added to the callback address, and return the "
            "integration, which stops with the caller's key, connection or user. The page /crm/callback does this for "
            "people who are signed in."
        ),
        directives=guarded("webhooks:manage", "crm_authorization_refused", "conflict", "unavailable"),
    )
    async def finish_crm_connection(
        self,
        info: Info,
        state: Annotated[str, strawberry.argument(description="The parameter state.")],
        code: Annotated[str, strawberry.argument(description="The parameter code.")],
    ) -> IntegrationRow:
        """Finish an authorization."""
        return await service.finish(info.context.unit, info.context.services.crm, state, code)

    @strawberry.mutation(
        graphql_type=ConnectedCrm,
        description="Synchronize all contacts with a CRM again, and return the connection.",
        directives=guarded("webhooks:manage", "not_found", "conflict"),
    )
    async def synchronize_crm(self, info: Info, integration_id: IntegrationId) -> models.CrmConnection:
        """Synchronize again."""
        return await service.synchronize(info.context.unit, integration_id)

    @strawberry.mutation(
        graphql_type=CrmPush,
        description="Try failed work once more, after its cause was removed, and return it.",
        directives=guarded("webhooks:manage", "not_found", "conflict"),
    )
    async def replay_crm_push(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The push's id.")]
    ) -> models.CrmPush:
        """Replay a push."""
        return await service.replay(info.context.unit, id)
