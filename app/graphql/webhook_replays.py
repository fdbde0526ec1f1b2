"""Replays of deliveries of webhooks, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.webhooks import models, replays
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.replays import MAX_CHOSEN, MAX_REPLAYED, RefusedReplays, Replay, ReplayRefusal
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt
from app.graphql.webhook_deliveries import WebhookDelivery
from app.graphql.webhooks import WebhookId

describe(
    ReplayRefusal,
    "The reason why a delivery is not sent again.",
    {
        "not_found": "There is no such delivery, or its webhook was removed.",
        "body_deleted": "Its body is not kept any more.",
        "pending": "It waits for an attempt already.",
        "canceled": "Its subscription ended, or its contact was deleted, before it was delivered.",
        "webhook_disabled": "Its webhook is disabled.",
        "event_not_received": "Its webhook does not receive the event any more.",
        "insufficient_scope": "The caller does not have the scope to read the event.",
    },
    name="WebhookReplayRefusal",
)
DeliveryIds = Annotated[
    list[BigInt],
    strawberry.argument(
        description=f"The ids of 1 to {MAX_CHOSEN} deliveries, of one or several webhooks.",
        directives=[Constraint(min_items=1, max_items=MAX_CHOSEN)],
    ),
]

EndedStatus = Annotated[DeliveryStatus, strawberry.argument(description="failed or skipped.")]
Since = Annotated[datetime, strawberry.argument(description="The time from which on to replay.")]


@strawberry.type(description="Deliveries that are not sent again, for one reason.")
class RefusedWebhookReplays:
    """Refused deliveries."""

    reason: ReplayRefusal = strawberry.field(description="The reason.")

    @strawberry.field(graphql_type=list[BigInt], description=f"The ids of the deliveries, at most {MAX_CHOSEN}.")
    def ids(self) -> Sequence[int]:
        """Return the first ids."""
        return row_of(self, RefusedReplays).ids[:MAX_CHOSEN]

    @strawberry.field(
        description="The number of the deliveries. Of a replay since an instant, that of the oldest "
        f"{MAX_REPLAYED:,} which failed, or were skipped."
    )
    def count(self) -> BigInt:
        """Return the number."""
        return BigInt(len(row_of(self, RefusedReplays).ids))


@strawberry.type(description="Which deliveries are sent again, and which are not.")
class WebhookReplay:
    """A replay."""

    has_more: bool = strawberry.field(
        description=f"Whether a replay since an instant has more than {MAX_REPLAYED:,} deliveries: the same call sends "
        "the next ones. False for chosen deliveries."
    )
    refused: Sequence[RefusedReplays] = strawberry.field(
        graphql_type=list[RefusedWebhookReplays], description="The deliveries that are not sent again, by reason."
    )

    @strawberry.field(
        graphql_type=list[BigInt], description=f"The ids of the deliveries that are sent again, at most {MAX_CHOSEN}."
    )
    def ids(self) -> Sequence[int]:
        """Return the first ids."""
        return row_of(self, Replay).ids[:MAX_CHOSEN]

    @strawberry.field(description="The number of deliveries that are sent again.")
    def count(self) -> BigInt:
        """Return the number."""
        return BigInt(len(row_of(self, Replay).ids))


@strawberry.type
class ReplayQuery:
    """Previews of replays."""

    @strawberry.field(
        graphql_type=WebhookReplay | None,
        description="Which of some deliveries replay_chosen_webhook_deliveries would send again now, and which not. "
        "Nothing is sent. Null beside the error not_found if there is none of them.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def preview_webhook_replay(self, info: Info, ids: DeliveryIds) -> Replay:
        """Preview a replay."""
        return await replays.preview(info.context.unit, ids)

    @strawberry.field(
        graphql_type=WebhookReplay | None,
        description="Which deliveries replay_webhook_deliveries would send again now, and which not. Nothing is sent. "
        "Null beside the error not_found if there is no such webhook.",
        directives=guarded("webhooks:manage", "conflict", "not_found", "query_timeout"),
    )
    async def preview_webhook_replay_since(
        self, info: Info, id: WebhookId, status: EndedStatus, since: Since
    ) -> Replay:
        """Preview a replay since an instant."""
        return await replays.preview_since(info.context.unit, id, status, since)


@strawberry.type
class ReplayMutation:
    """Replaying deliveries."""

    @strawberry.mutation(
        graphql_type=WebhookDelivery,
        description=(
            "Send a delivery again, and return it: the same id and body, a new timestamp. The webhook must still "
            "receive the event, and the caller be allowed to read it."
        ),
        directives=guarded("webhooks:manage", "conflict", "not_found"),
    )
    async def replay_webhook_delivery(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The delivery's id.")]
    ) -> models.Delivery:
        """Replay one delivery."""
        return await replays.replay(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=WebhookReplay,
        description=(
            "Send chosen deliveries again, as replay_webhook_delivery does, and return their ids. Those that cannot be "
            "sent again are left out, with the reason; not_found if there is none of them."
        ),
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def replay_chosen_webhook_deliveries(self, info: Info, ids: DeliveryIds) -> Replay:
        """Replay chosen deliveries."""
        return await replays.replay_chosen(info.context.unit, ids)

    @strawberry.mutation(
        graphql_type=WebhookReplay,
        description=(
            f"Send again the deliveries of a webhook that failed, or were skipped, since an instant: the oldest "
            f"{MAX_REPLAYED:,} of the events that it receives. Return their number. Needs the scopes to read them."
        ),
        directives=guarded("webhooks:manage", "conflict", "not_found", "query_timeout"),
    )
    async def replay_webhook_deliveries(self, info: Info, id: WebhookId, status: EndedStatus, since: Since) -> Replay:
        """Replay many deliveries."""
        return await replays.replay_since(info.context.unit, id, status, since)
