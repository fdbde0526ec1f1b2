"""Inbound webhooks, as the contract shows them."""

from collections.abc import Sequence
from typing import Annotated, Any

import strawberry

from app.domain.contacts import service as contacts
from app.domain.integrations import hook_actions, models, paths, queries, service
from app.domain.integrations.hook_actions import Actions
from app.domain.integrations.models import WEBHOOK
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.scalars import BigInt
from app.graphql.integrations import Integration

PATH = "The path in the JSON of the body, such as contact.phones[0].value"
NAMED = Constraint(min_length=1, max_length=service.MAX_NAME)
PATHED = Constraint(max_length=paths.MAX_LENGTH)
WebhookId = Annotated[BigInt, strawberry.argument(description="The webhook's id.")]


@strawberry.type(description="A custom field that a webhook sets.")
class WebhookCustomField:
    """A custom field and its path."""

    key: str = strawberry.field(description="The key of the custom field.")
    path: str = strawberry.field(description=f"{PATH}.")


@strawberry.input(description="A custom field that a webhook sets.")
class WebhookCustomFieldInput:
    """A custom field and its path."""

    key: str = strawberry.field(description="The key of the custom field.")
    path: str = strawberry.field(description=f"{PATH}.", directives=[PATHED])


@strawberry.input(description="Actions of a webhook for each event. Empty values of a body change nothing.")
class WebhookActionsInput:
    """The actions of a webhook."""

    phone: str = strawberry.field(
        description=f"{PATH}, of the contact's phone. It identifies the contact.", directives=[PATHED]
    )
    first_name: str = strawberry.field(default="", description=f"{PATH}, of the first name.", directives=[PATHED])
    last_name: str = strawberry.field(default="", description=f"{PATH}, of the last name.", directives=[PATHED])
    email: str = strawberry.field(default="", description=f"{PATH}, of the e-mail address.", directives=[PATHED])
    custom_fields: list[WebhookCustomFieldInput] | None = strawberry.field(
        default=None, description="The custom fields to set."
    )
    tags: list[str] | None = strawberry.field(
        default=None,
        description="The tags to add.",
        directives=[Constraint(max_length=contacts.MAX_TAG, max_items=contacts.MAX_TAGS)],
    )
    sequence_id: BigInt | None = strawberry.field(
        default=None,
        description="The drip sequence to enroll in. With it you attest the consent of the contacts to its texts.",
    )
    automation_id: BigInt | None = strawberry.field(
        default=None,
        description="The automation to run, whatever its trigger; it must be active. Needs the scopes of its actions.",
    )

    def read(self) -> Actions:
        """Return the actions of the domain."""
        return {
            "paths": {name: getattr(self, name) for name in hook_actions.PATHS if getattr(self, name)},
            "custom_fields": {each.key: each.path for each in self.custom_fields or []},
            "tags": self.tags or [],
            "sequence_id": self.sequence_id,
            "automation_id": self.automation_id,
        }


@strawberry.type(description="An address that turns the JSON which any sender posts into changes of a contact.")
class InboundWebhook:
    """An inbound webhook."""

    id: BigInt = strawberry.field(description="The webhook's id, which is that of its integration.")

    @strawberry.field(description="The integration: its address, its health, and whether it is paused.")
    def integration(self) -> Integration:
        """Return the integration."""
        return self  # pyrefly: ignore[bad-return]

    @strawberry.field(description="The path of the contact's phone.")
    def phone(self) -> str:
        """Return the path."""
        return _paths(self).get("phone", "")

    @strawberry.field(description="The path of the first name; empty for none.")
    def first_name(self) -> str:
        """Return the path."""
        return _paths(self).get("first_name", "")

    @strawberry.field(description="The path of the last name; empty for none.")
    def last_name(self) -> str:
        """Return the path."""
        return _paths(self).get("last_name", "")

    @strawberry.field(description="The path of the e-mail address; empty for none.")
    def email(self) -> str:
        """Return the path."""
        return _paths(self).get("email", "")

    @strawberry.field(description="The custom fields that it sets.")
    def custom_fields(self) -> list[WebhookCustomField]:
        """Return the custom fields."""
        found: dict[str, str] = _actions(self).get("custom_fields", {})
        return [WebhookCustomField(key=key, path=path) for key, path in sorted(found.items())]

    @strawberry.field(description="The tags that it adds.")
    def tags(self) -> list[str]:
        """Return the tags."""
        return _actions(self).get("tags", [])

    @strawberry.field(description="The id of the drip sequence that it enrolls in; null for none.")
    def sequence_id(self) -> BigInt | None:
        """Return the id."""
        return _actions(self).get("sequence_id")

    @strawberry.field(description="The id of the automation that it runs; null for none.")
    def automation_id(self) -> BigInt | None:
        """Return the id."""
        return _actions(self).get("automation_id")


@strawberry.type(description="A new inbound webhook and its secret, which is never shown again.")
class NewInboundWebhook:
    """A webhook and its secret."""

    secret: str = strawberry.field(
        description="The secret: senders give it as X-Webhook-Secret, as bearer token, or as password."
    )
    webhook: InboundWebhook = strawberry.field(description="The webhook.")


@strawberry.type(description="A value that a webhook picked from a body.")
class PickedValue:
    """A field and its value."""

    name: str = strawberry.field(description="The field of the contact, such as phone or custom.color.")
    value: str = strawberry.field(description="The value; empty where the body has none.")


@strawberry.type(description="The result of a body in an inbound webhook that was only tried.")
class InboundWebhookTest:
    """The result of a test."""

    picked: list[PickedValue] = strawberry.field(description="The values that its paths find.")
    result: str = strawberry.field(description="Actions that would be taken; empty beside an error.")
    error: str = strawberry.field(description="Reason for which the event would fail; empty without an error.")


@strawberry.type
class InboundWebhookQuery:
    """Reading and testing inbound webhooks."""

    @strawberry.field(
        graphql_type=list[InboundWebhook],
        description=f"The account's inbound webhooks, the oldest first; at most {service.MAX_OWN}.",
        directives=guarded("webhooks:manage"),
    )
    async def inbound_webhooks(self, info: Info) -> Sequence[models.Integration]:
        """Return the inbound webhooks."""
        return [each for each in await queries.list_own(info.context.unit) if each.kind == WEBHOOK]

    @strawberry.field(
        description="Try an inbound webhook with a body, and get the actions that it would take. Changes nothing. Null "
        "beside not_found.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def test_inbound_webhook(
        self, info: Info, id: WebhookId, body: Annotated[str, strawberry.argument(description="The body, as JSON.")]
    ) -> InboundWebhookTest | None:
        """Test a webhook."""
        webhook = await service.get_webhook(info.context.unit, id)
        outcome = await hook_actions.test(info.context.unit, webhook, body)
        picked = [PickedValue(name=name, value=value) for name, value in outcome.picked.items()]
        return InboundWebhookTest(picked=picked, result=outcome.result, error=outcome.error)


@strawberry.type
class InboundWebhookMutation:
    """Changing inbound webhooks. They are paused, rotated and removed as integrations."""

    @strawberry.mutation(
        description="Add an inbound webhook, and return it with its secret.",
        directives=guarded("contacts:write", "conflict", "insufficient_scope", "not_found"),
    )
    async def add_inbound_webhook(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description=f"A name, 1 to {service.MAX_NAME} characters.",
                directives=[NAMED],
            ),
        ],
        actions: Annotated[WebhookActionsInput, strawberry.argument(description="Actions for each event.")],
    ) -> NewInboundWebhook:
        """Add a webhook."""
        ports = info.context.services.intake.ports
        added, secret = await service.add_webhook(info.context.unit, ports, name, actions.read())
        return NewInboundWebhook(secret=secret, webhook=added)  # pyrefly: ignore[bad-argument-type]

    @strawberry.mutation(
        graphql_type=InboundWebhook,
        description="Change the name of an inbound webhook, or all of its actions, and return it. "
        "Changing the actions takes it over, as take_over_integration does.",
        directives=guarded("contacts:write", "insufficient_scope", "not_found"),
    )
    async def update_inbound_webhook(
        self,
        info: Info,
        id: WebhookId,
        name: Annotated[
            str | None, strawberry.argument(description="A name; null keeps it.", directives=[NAMED])
        ] = None,
        actions: Annotated[
            WebhookActionsInput | None, strawberry.argument(description="All that it does; null keeps it.")
        ] = None,
    ) -> models.Integration:
        """Change a webhook."""
        return await service.update_webhook(info.context.unit, id, name, actions.read() if actions else None)


def _actions(webhook: object) -> dict[str, Any]:
    return row_of(webhook, models.Integration).actions


def _paths(webhook: object) -> dict[str, str]:
    return _actions(webhook).get("paths", {})
