"""Deliveries of webhooks and notices about them, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry.scalars import JSON

from app.domain.kernel.paging import Page
from app.domain.webhooks import delivery_filter, models, ownership, queries, service
from app.domain.webhooks.delivery_filter import Answer, DeliveryFilter
from app.domain.webhooks.models import DeliveryStatus, NoticeKind
from app.domain.webhooks.poster import PostError
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.webhooks import Webhook, WebhookId

describe(
    DeliveryStatus,
    "The state of a delivery.",
    {
        "pending": "It waits for its first or next attempt.",
        "delivered": "It was answered with a status from 200 to 299.",
        "failed": "Every attempt failed.",
        "skipped": "It came while the webhook was disabled, and can be replayed.",
        "canceled": "Its subscription ended, or its contact was deleted, before it was delivered.",
    },
    name="WebhookDeliveryStatus",
)
describe(
    Answer,
    "The class of the answer to the last attempt of a delivery.",
    {
        "success": "A status from 200 to 299: it was delivered.",
        "redirect": "A status from 300 to 399, which is not followed.",
        "client_error": "A status from 400 to 499.",
        "server_error": "A status from 500 to 599.",
        "none": "No answer came, or it is not known.",
    },
    name="WebhookAnswer",
)
describe(
    NoticeKind,
    "The kind of a notice about a webhook.",
    {
        "failing": "No delivery has succeeded for some time; it is disabled unless one does.",
        "disabled": "It was disabled after failing for too long. It keeps events for replay.",
        "removed": "Its endpoint answered 410 Gone, or the credential that it was made with has ended.",
    },
    name="WebhookNoticeKind",
)
describe(
    PostError,
    "The reason why a POST to a webhook brought no HTTP answer.",
    {
        "invalid_url": "The address is no URL that can be posted to.",
        "refused_address": "The host has an address that the service does not post to, such as a private one.",
        "dns": "The name of the host has no address.",
        "connect": "No connection could be made.",
        "tls": "The TLS handshake failed, or the certificate is not valid.",
        "timeout": "No answer came in time. The request may have been read.",
        "closed": "The connection was closed before an answer came. The request may have been read.",
        "protocol": "The answer is not HTTP. The request may have been read.",
        "too_large": "The answer is too large. The request was read.",
    },
    name="WebhookError",
)


@strawberry.type(description="One POST of a delivery, and its answer.")
class WebhookAttempt:
    """An attempt."""

    number: BigInt = strawberry.field(description="1 for the first attempt.")
    status: BigInt | None = strawberry.field(description="The HTTP status of the answer; null where none came.")
    address: str = strawberry.field(description="The address that was connected to.")
    seconds: float = strawberry.field(description="The duration of the attempt in seconds.")
    headers: JSON = strawberry.field(description="The headers of the answer, by their names in small letters.")
    body: str = strawberry.field(
        description="The first 2 KiB of the answer, which may repeat the posted body; empty without the scope of the "
        "delivery's event.",
        directives=guarded("messages:read"),
    )
    attempted_at: datetime = strawberry.field(description="The time of the attempt.")

    @strawberry.field(description="The reason why no answer came; null where one did.")
    def error(self) -> PostError | None:
        """Return the reason, which is kept as an empty text where there is none."""
        error = row_of(self, queries.ShownAttempt).error
        return PostError(error) if error else None


@strawberry.type(description="One event for one webhook.")
class WebhookDelivery:
    """A delivery."""

    id: BigInt = strawberry.field(description="The delivery's id.")
    subscription_id: BigInt = strawberry.field(description="The webhook it is for.")
    event: str = strawberry.field(description="The event, by the name that the webhook has for it.")
    webhook_id: str = strawberry.field(description="The webhook-id header, by which receivers recognize repetitions.")
    event_id: BigInt | None = strawberry.field(
        description="The id of the event, the same in the deliveries of all webhooks; null for a test."
    )
    contact_id: BigInt | None = strawberry.field(description="The contact that the event is about.")
    is_test: bool = strawberry.field(description="True for a sample sent by hand.")
    status: DeliveryStatus = strawberry.field(description="The state of the delivery.")
    answer_status: BigInt | None = strawberry.field(
        description="The HTTP status of the answer to the last attempt; "
        "null before the first one, and where none came or it is not known."
    )
    next_attempt_at: datetime | None = strawberry.field(
        description="The time of the next attempt; null if none is planned."
    )
    delivered_at: datetime | None = strawberry.field(description="The time of the successful attempt.")
    created_at: datetime = strawberry.field(description="The time at which it was created.")

    @strawberry.field(
        description="The body, as it is sent; null once it is not kept any more, and without the scope of the event.",
        directives=guarded("messages:read"),
    )
    def body(self, info: Info) -> str | None:
        """Return the body."""
        delivery = row_of(self, models.Delivery)
        is_readable = delivery.event in ownership.names_in_reach(info.context.unit)
        return delivery.body.decode() if delivery.body is not None and is_readable else None

    @strawberry.field(graphql_type=Webhook | None, description="The webhook it is for; null once it is removed.")
    def webhook(self, info: Info) -> Load[Any]:
        """Return the webhook."""
        return info.context.load(queries.find_subscriptions, row_of(self, models.Delivery).subscription_id)

    @strawberry.field(graphql_type=list[WebhookAttempt], description="Every attempt, the first one first.")
    def attempts(self, info: Info) -> Load[Any]:
        """Return the attempts."""
        return info.context.load_rows(queries.find_attempts, "delivery_id", row_of(self, models.Delivery).id)


@strawberry.type(description="A notice to the account about one of its webhooks.")
class WebhookNotice:
    """A notice."""

    id: BigInt = strawberry.field(description="The notice's id.")
    subscription_id: BigInt = strawberry.field(description="The webhook it is about.")
    kind: NoticeKind = strawberry.field(description="The kind of notice.")
    text: str = strawberry.field(description="The notice as a sentence.")
    created_at: datetime = strawberry.field(description="The time of the notice.")


@strawberry.type
class DeliveryQuery:
    """Reading deliveries and notices."""

    @strawberry.field(
        graphql_type=Connection[WebhookDelivery],
        description="The deliveries to the webhooks that the caller manages, the newest first.",
        directives=guarded("webhooks:manage", "query_timeout"),
    )
    async def webhook_deliveries(
        self,
        info: Info,
        subscription_id: Annotated[BigInt | None, strawberry.argument(description="Only of this webhook.")] = None,
        status: Annotated[DeliveryStatus | None, strawberry.argument(description="Only this status.")] = None,
        event: Annotated[
            str | None, strawberry.argument(description="Only of this event, by the name that the webhook has for it.")
        ] = None,
        contact_id: Annotated[
            BigInt | None, strawberry.argument(description="Only of events about this contact.")
        ] = None,
        answer: Annotated[
            Answer | None, strawberry.argument(description="Only with such an answer to the last attempt.")
        ] = None,
        answer_status: Annotated[
            int | None,
            strawberry.argument(
                description="Only with this HTTP status of the answer to the last attempt, such as 503.",
                directives=[Constraint(minimum=delivery_filter.MIN_ANSWER, maximum=delivery_filter.MAX_ANSWER)],
            ),
        ] = None,
        since: Annotated[datetime | None, strawberry.argument(description="Only created from this time on.")] = None,
        until: Annotated[datetime | None, strawberry.argument(description="Only created before this time.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Delivery]:
        """Return one page of deliveries."""
        wanted = DeliveryFilter(subscription_id, status, event, contact_id, answer, answer_status, since, until)
        return await queries.find_deliveries(
            info.context.unit, wanted, window(info, "deliveries", first, after, last, before, offset)
        )

    @strawberry.field(
        graphql_type=Connection[WebhookNotice],
        description="Notices about the webhooks that the caller manages, the newest first.",
        directives=guarded("webhooks:manage"),
    )
    async def webhook_notices(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Notice]:
        """Return one page of notices."""
        return await queries.find_notices(
            info.context.unit, window(info, "notices", first, after, last, before, offset)
        )


@strawberry.type
class DeliveryMutation:
    """Testing webhooks."""

    @strawberry.mutation(
        graphql_type=WebhookDelivery,
        description=(
            "Post a sample to a webhook, and return the delivery: it is marked with the header webhook-test: true."
        ),
        directives=guarded("webhooks:manage", "conflict", "not_found"),
    )
    async def send_test_webhook(
        self,
        info: Info,
        id: WebhookId,
        event: Annotated[
            str | None,
            strawberry.argument(description="The event; by default the first one that the webhook receives."),
        ] = None,
    ) -> models.Delivery:
        """Send a test."""
        return await service.send_test(info.context.unit, id, event)
