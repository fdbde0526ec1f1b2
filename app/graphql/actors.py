"""Actors: the user, key, application or part of the service that did something."""

import enum
from typing import Any, Protocol

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.oauth import queries as oauth
from app.graphql.core.context import Find, Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.lazy import lazily
from app.graphql.core.scalars import BigInt


class ActorKind(enum.StrEnum):
    """The kind of an actor."""

    user = enum.auto()
    key = enum.auto()
    application = enum.auto()
    sequence = enum.auto()
    campaign = enum.auto()
    carrier = enum.auto()
    integration = enum.auto()
    agent = enum.auto()
    automation = enum.auto()
    service = enum.auto()


describe(
    ActorKind,
    "The kind of an actor.",
    {
        "user": "A user who was signed in.",
        "key": "An API key.",
        "application": "A connected application, on behalf of a user.",
        "sequence": "A drip sequence.",
        "campaign": "A campaign.",
        "carrier": "A carrier.",
        "integration": "An integration, such as a scheduling tool.",
        "agent": "An AI agent.",
        "automation": "An automation.",
        "service": "The service itself or its operator.",
    },
)
KINDS = {"grant": ActorKind.application} | {kind.value: kind for kind in ActorKind if kind != ActorKind.service}
"""The kind of an actor by the word that its label begins with."""


@strawberry.type(description="The user, key, application or part of the service that did something.")
class Actor:
    """An actor."""

    kind: ActorKind = strawberry.field(description="The kind of the actor.")
    id: BigInt | None = strawberry.field(
        description=(
            "The id of the user, key, grant of the application, drip sequence, campaign, integration, "
            "AI agent or automation; null for others."
        )
    )
    label: str = strawberry.field(
        description="A short text for lists: user:ID, key:ID, grant:ID, sequence:ID, campaign:ID, integration:ID, "
        "agent:ID, automation:ID, carrier:NAME, or a part of the service."
    )

    @strawberry.field(
        graphql_type=lazily("User", "app.graphql.accounts") | None,
        description="The user, removed or not; null for other kinds.",
        directives=guarded("conversations:write"),
    )
    async def user(self, info: Info) -> Any:
        """Return the user."""
        return await self._load(info, ActorKind.user, accounts.find_users)

    @strawberry.field(
        graphql_type=lazily("ApiKey", "app.graphql.api_keys") | None,
        description="The key, revoked or not; null for other kinds.",
        directives=guarded("account:write"),
    )
    async def key(self, info: Info) -> Any:
        """Return the key."""
        return await self._load(info, ActorKind.key, accounts.find_keys)

    @strawberry.field(
        graphql_type=lazily("OauthGrant", "app.graphql.oauth") | None,
        description="The connected application, disconnected or not; null for other kinds.",
        directives=guarded("account:write"),
    )
    async def application(self, info: Info) -> Any:
        """Return the application."""
        return await self._load(info, ActorKind.application, oauth.find_applications)

    async def _load(self, info: Info, kind: ActorKind, find: Find[int, Any]) -> Any:
        return await info.context.load(find, self.id) if self.kind == kind and self.id is not None else None


class Labeled(Protocol):
    """A row with the label of its actor."""

    actor: str


def actor_in(row: Labeled) -> Actor:
    """Return the actor that a row names in its column `actor`."""
    return actor_of(row.actor)


def actor_of(label: str) -> Actor:
    """Return the actor that a label names, such as `user:5`."""
    word, _, name = label.partition(":")
    kind = KINDS.get(word, ActorKind.service) if name else ActorKind.service
    id = BigInt(int(name)) if kind not in (ActorKind.carrier, ActorKind.service) else None
    return Actor(kind=kind, id=id, label=label)
