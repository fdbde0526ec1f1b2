"""Webhooks, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import orjson
import strawberry
from strawberry.scalars import JSON

from app.domain.kernel import idempotency
from app.domain.kernel.events import EVENTS
from app.domain.webhooks import models, payloads, queries, service, stats
from app.domain.webhooks.models import SubscriptionKind, SubscriptionStatus
from app.domain.webhooks.service import SubscriptionFields
from app.graphql.core import versions
from app.graphql.core.context import Info, given, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.loading import Load
from app.graphql.core.overlap import OverlapHours
from app.graphql.core.scalars import BigInt

describe(
    SubscriptionKind,
    "The origin of a subscription, which decides the format of its payloads.",
    {
        "hook": "Made by subscribe: one event, posted as its flat payload.",
        "endpoint": "Made as a webhook: several events, posted as {type, timestamp, data}.",
    },
    name="WebhookKind",
)
describe(
    SubscriptionStatus,
    "Whether a webhook receives events.",
    {
        "active": "It receives events.",
        "disabled": "It keeps events for replay, and receives none.",
        "removed": "It was removed.",
    },
    name="WebhookStatus",
)
DESCRIBED = Constraint(max_length=service.MAX_DESCRIPTION)
WebhookId = Annotated[BigInt, strawberry.argument(description="The webhook's id.")]
TargetUrl = Annotated[str, strawberry.argument(description="The https address that events are posted to.")]


@strawberry.type(
    description=f"The attempts of a webhook in the present hour and the {stats.HOURS - 1} before it, tests excepted. "
    "They are a few seconds old."
)
class WebhookStats:
    """The figures of a webhook."""

    since: datetime = strawberry.field(description="The time from which on the attempts are counted.")
    attempts: BigInt = strawberry.field(description="The number of attempts.")
    successes: BigInt = strawberry.field(description="The number of attempts that a status from 200 to 299 answered.")
    success_share: float | None = strawberry.field(
        description="The share of successful attempts, 0 to 1; null without an attempt."
    )
    p95_seconds: float | None = strawberry.field(
        description="The time in which 95 of 100 answers came, to within a fifth; null without an answer."
    )


@strawberry.type(description="A URL that events are posted to.")
class Webhook:
    """A webhook."""

    id: BigInt = strawberry.field(description="The webhook's id.")
    kind: SubscriptionKind = strawberry.field(
        description="The origin of the webhook, which decides the format of its payloads."
    )
    target_url: str = strawberry.field(description="The address that events are posted to.")
    description: str = strawberry.field(description="The description that the account gave it.")
    status: SubscriptionStatus = strawberry.field(description="Whether it receives events.")
    version: int = strawberry.field(
        description="The version: 1 at first, and one more with each change by update_webhook."
    )
    failing_since: datetime | None = strawberry.field(
        description="The time of the first failure since the last success."
    )
    last_success_at: datetime | None = strawberry.field(description="The time of the last successful delivery.")
    created_at: datetime = strawberry.field(
        description="The time at which it was created. It receives the events from then on."
    )

    @strawberry.field(description="The events it receives: the plain name of a hook's, the dotted names of others.")
    def events(self) -> list[str]:
        """Return the names that its creator used."""
        row = row_of(self, models.Subscription)
        if row.kind == SubscriptionKind.hook:
            return list(row.events)
        return [EVENTS[name].topic or name for name in row.events]

    @strawberry.field(graphql_type=WebhookStats, description="The success and the speed of its last attempts.")
    def stats(self, info: Info) -> Load[Any]:
        """Return the figures."""
        return info.context.load(stats.find_stats, row_of(self, models.Subscription).id)


@strawberry.type(
    description="A webhook just made, with its secret. Keep the secret: only reveal_webhook_secret shows it again."
)
class NewWebhook(Webhook):
    """A new webhook."""

    @strawberry.field(description="The secret that signs its deliveries, after Standard Webhooks.")
    def secret(self, info: Info) -> str:
        """Return the secret."""
        return service.open_secret(info.context.services.webhooks, row_of(self, models.Subscription))


@strawberry.type(description="The secret of a webhook.")
class WebhookSecret:
    """A secret and its webhook."""

    secret: str = strawberry.field(description="The secret that signs its deliveries, after Standard Webhooks.")
    webhook: Webhook = strawberry.field(description="The webhook.")


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class WebhookChanges:
    """Changes to a webhook; a field that is left out stays as it is."""

    target_url: strawberry.Maybe[str | None] = strawberry.field(description="The https address.")
    events: strawberry.Maybe[list[str] | None] = strawberry.field(description="All dotted names it is to receive.")
    description: strawberry.Maybe[str | None] = strawberry.field(
        description="The description of the webhook.", directives=[DESCRIBED]
    )
    active: strawberry.Maybe[bool | None] = strawberry.field(description="True to enable it, false to disable it.")


@strawberry.type
class WebhookQuery:
    """Reading webhooks."""

    @strawberry.field(
        graphql_type=list[Webhook],
        description=(
            "The webhooks that the caller manages, the oldest first: with account:write all of the account's, "
            "otherwise those made with the caller's own key, connection or sign-in, and with its keys. At most "
            f"{service.MAX_SUBSCRIPTIONS}."
        ),
        directives=guarded("webhooks:manage"),
    )
    async def webhooks(
        self,
        info: Info,
        kind: Annotated[SubscriptionKind | None, strawberry.argument(description="Only this kind.")] = None,
    ) -> Sequence[models.Subscription]:
        """Return the webhooks."""
        return await queries.list_subscriptions(info.context.unit, kind)

    @strawberry.field(
        graphql_type=Webhook | None,
        description="One webhook; null beside the error not_found.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def webhook(self, info: Info, id: WebhookId) -> models.Subscription:
        """Return one webhook."""
        return await queries.get_subscription(info.context.unit, id)

    @strawberry.field(
        description="A sample of one of the twelve events, in an array, as subscribers of it receive it.",
        directives=guarded("webhooks:manage", "unknown_event"),
    )
    def event_samples(
        self, info: Info, event: Annotated[str, strawberry.argument(description="The event's name.")]
    ) -> list[JSON]:
        """Return the sample that the serializer of live deliveries makes."""
        name = payloads.find_hook(event)
        return [orjson.loads(payloads.sample(SubscriptionKind.hook, name, info.context.unit.clock.now()))]


@strawberry.type
class WebhookMutation:
    """Changing webhooks."""

    @strawberry.mutation(
        graphql_type=NewWebhook,
        description=(
            "Create a subscription of one of the twelve events, and return it with its secret. The events are posted "
            "to a URL from now on. Needs the scope to read the event: messages:read, or contacts:read for the events "
            "of contacts alone."
        ),
        directives=guarded(
            "webhooks:manage", "conflict", "idempotency_key_reused", "invalid_url", "not_found", "unknown_event"
        ),
    )
    async def subscribe(
        self,
        info: Info,
        event: Annotated[str, strawberry.argument(description="The event's name, such as new_message.")],
        target_url: TargetUrl,
        secret: Annotated[
            str | None, strawberry.argument(description="whsec_ and base64, to sign with; made for you if none.")
        ] = None,
        idempotency_key: IdempotencyKey = None,
    ) -> models.Subscription:
        """Subscribe to an event."""
        unit, ports = info.context.unit, info.context.services.webhooks
        await service.begin(unit, event)
        digest = idempotency.fingerprint("subscribe", event=event, target_url=target_url, secret=secret)
        id = await once(
            info, idempotency_key, digest, lambda: service.subscribe(unit, ports, event, target_url, secret)
        )
        return await queries.get_subscription(unit, id)

    @strawberry.mutation(
        graphql_type=Webhook,
        description="End a subscription, and return it. Its waiting deliveries are canceled.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def unsubscribe(
        self,
        info: Info,
        id: WebhookId,
        kind: Annotated[SubscriptionKind | None, strawberry.argument(description="Only one of this kind.")] = None,
    ) -> models.Subscription:
        """End a subscription."""
        return await service.unsubscribe(info.context.unit, id, kind)

    @strawberry.mutation(
        graphql_type=NewWebhook,
        description="Create a webhook for one or more events, and return it with its secret. Events are posted in the "
        "envelope {type, timestamp, data}.",
        directives=guarded("webhooks:manage", "conflict", "idempotency_key_reused", "invalid_url", "unknown_event"),
    )
    async def create_webhook(
        self,
        info: Info,
        target_url: TargetUrl,
        events: Annotated[list[str], strawberry.argument(description="Dotted names, such as message.inbound.")],
        description: Annotated[
            str, strawberry.argument(description="The description of the webhook.", directives=[DESCRIBED])
        ] = "",
        idempotency_key: IdempotencyKey = None,
    ) -> models.Subscription:
        """Make a webhook."""
        unit, ports = info.context.unit, info.context.services.webhooks
        digest = idempotency.fingerprint("create_webhook", target_url=target_url, events=events, text=description)
        id = await once(
            info,
            idempotency_key,
            digest,
            lambda: service.create_webhook(unit, ports, target_url, events, description),
        )
        return await queries.get_subscription(unit, id)

    @strawberry.mutation(
        graphql_type=Webhook,
        description=(
            "Change a webhook, and return it. Changing its address or events takes it over, as take_over_webhook does; "
            "waiting deliveries of an event that is left out are canceled."
        ),
        directives=guarded("webhooks:manage", "conflict", "invalid_url", "not_found", "unknown_event"),
    )
    async def update_webhook(
        self,
        info: Info,
        id: WebhookId,
        changes: Annotated[WebhookChanges, strawberry.argument(description="The fields to change.")],
        expected_version: Annotated[int | None, versions.expected("webhook")] = None,
    ) -> models.Subscription:
        """Change a webhook."""
        fields = given(vars(changes), SubscriptionFields)
        unit, ports = info.context.unit, info.context.services.webhooks
        return await service.update_webhook(unit, ports, id, fields, expected_version)

    @strawberry.mutation(
        graphql_type=Webhook,
        description=(
            "Bind a webhook to the caller, and return it: from now on it ends with the caller's key, connection or "
            "user. Needs the scopes to read its events."
        ),
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def take_over_webhook(self, info: Info, id: WebhookId) -> models.Subscription:
        """Take a webhook over."""
        return await service.take_over(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=WebhookSecret,
        description="Give a webhook a new secret, and return it. The old one signs as well for some hours.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def rotate_webhook_secret(
        self,
        info: Info,
        id: WebhookId,
        overlap_hours: OverlapHours = 24,
    ) -> service.RevealedSecret:
        """Rotate the secret."""
        return await service.rotate_secret(info.context.unit, info.context.services.webhooks, id, overlap_hours)

    @strawberry.mutation(
        graphql_type=WebhookSecret,
        description="Return the secret of a webhook. Each call is recorded in the audit log.",
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def reveal_webhook_secret(self, info: Info, id: WebhookId) -> service.RevealedSecret:
        """Return the secret, and record that it was shown."""
        return await service.reveal_secret(info.context.unit, info.context.services.webhooks, id)
