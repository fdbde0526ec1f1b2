"""The account's keys, as the contract shows them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.accounts import api_keys, keys, models, queries, scopes
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.kernel import idempotency
from app.domain.kernel.unit_of_work import UnitOfWork
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once_with_secret
from app.graphql.core.overlap import OverlapHours
from app.graphql.core.scalars import BigInt

MAKING = ("conflict", "idempotency_key_reused", "insufficient_scope", "key_cannot_create_keys")
"""Reasons for which no key is made."""

describe(
    KeyKind,
    "Kinds of keys.",
    {"svc": "For servers and tools, with any scope.", "auto": "For automation platforms, with scopes of automations."},
)


@strawberry.type(description="A key to the API. Its text is shown once, when it is made.")
class ApiKey:
    """An API key."""

    id: BigInt = strawberry.field(description="The key's id.")
    name: str = strawberry.field(description="The name of the key, 1 to 100 characters.")
    prefix: str = strawberry.field(description="Its first characters.")
    last_four: str = strawberry.field(description="Its last four characters.")
    scopes: list[str] = strawberry.field(description="The scopes of the key.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    expires_at: datetime | None = strawberry.field(description="The time at which it, or its creator, expires.")
    last_used_at: datetime | None = strawberry.field(description="The time of its last use, to the minute.")
    revoked_at: datetime | None = strawberry.field(description="The time at which it, or its creator, was revoked.")

    @strawberry.field(description="Its kind, which its first characters show.")
    def kind(self) -> KeyKind:
        """Return the kind."""
        return keys.kind_of(self.prefix)

    @strawberry.field(description="The user, key or application that made it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="A scope, in words.")
class ScopeDescription:
    """A scope."""

    name: str = strawberry.field(description="The scope, such as contacts:read.")
    description: str = strawberry.field(description="The permission that it gives.")
    is_for_automation: bool = strawberry.field(description="Whether a key for an automation platform can have it.")


@strawberry.type(description="A key just made. Keep its text now: it cannot be shown again.")
class NewApiKey(ApiKey):
    """A new API key."""

    key: str = strawberry.field(description="The key's text, to be sent with every request.")


Name = Annotated[
    str,
    strawberry.argument(
        description=f"The name of the key, 1 to {api_keys.MAX_NAME} characters.",
        directives=[Constraint(min_length=1, max_length=api_keys.MAX_NAME)],
    ),
]
Scopes = Annotated[
    list[str] | None,
    strawberry.argument(description="The scopes of the key; by default those of its kind that the caller has."),
]
ExpiresAt = Annotated[datetime | None, strawberry.argument(description="The time at which it expires.")]
ActiveOnly = Annotated[bool, strawberry.argument(description="Only keys that are neither revoked nor expired.")]
KeyId = Annotated[BigInt, strawberry.argument(description="The key's id.")]


@strawberry.type
class ApiKeyQuery:
    """Reading keys."""

    @strawberry.field(
        description="All scopes of keys and applications, in words; at most 40.", directives=guarded("account:read")
    )
    def scopes(self) -> list[ScopeDescription]:
        """Return the scopes."""
        return _described(scopes.ALL)

    @strawberry.field(
        description="The scopes that the caller may give a new key of a kind, in words, at most 40; none if the caller "
        "cannot create such a key.",
        directives=guarded("account:read"),
    )
    async def available_scopes(
        self, info: Info, kind: Annotated[KeyKind, strawberry.argument(description="The kind of the key.")]
    ) -> list[ScopeDescription]:
        """Return the scopes that can be given."""
        return _described(await api_keys.find_grantable(info.context.unit, kind))

    @strawberry.field(
        graphql_type=list[ApiKey],
        description=(
            "The account's keys, revoked ones too: live ones first, then the newest first; at most "
            f"{queries.MAX_SHOWN:,}. An account has at most {api_keys.MAX_LIVE} live keys."
        ),
        directives=guarded("account:write"),
    )
    async def api_keys(self, info: Info, active_only: ActiveOnly = False) -> Sequence[queries.ShownKey]:
        """Return the keys."""
        return await queries.list_keys(info.context.unit, active_only=active_only)

    @strawberry.field(
        graphql_type=list[ApiKey],
        description=(
            "The auto_ keys that the caller manages, revoked ones too: with account:write all of the account's, "
            "otherwise those made with the caller's own key, connection or sign-in. Live ones are first, then the "
            f"newest; at most {queries.MAX_SHOWN:,}."
        ),
        directives=guarded("webhooks:manage"),
    )
    async def automation_keys(self, info: Info, active_only: ActiveOnly = False) -> Sequence[queries.ShownKey]:
        """Return the automation keys."""
        return await queries.list_automation_keys(info.context.unit, active_only=active_only)


@strawberry.type
class ApiKeyMutation:
    """Making and ending keys."""

    @strawberry.mutation(
        description=(
            "Create a key, and return it with its text. It cannot have a scope that the caller does not have, and ends "
            "with the caller's key, connection or user."
        ),
        directives=guarded("account:write", *MAKING),
    )
    async def create_api_key(
        self,
        info: Info,
        name: Name,
        scopes: Scopes = None,
        expires_at: ExpiresAt = None,
        idempotency_key: IdempotencyKey = None,
    ) -> NewApiKey:
        """Make a general key."""
        return await _make(info, NewKey(name, KeyKind.svc, scopes, expires_at), idempotency_key)

    @strawberry.mutation(
        description=(
            "Create a key for automations, and return it with its text. It has scopes of automations only, and ends "
            "with the caller's key, connected application or user."
        ),
        directives=guarded("webhooks:manage", *MAKING),
    )
    async def create_automation_key(
        self,
        info: Info,
        name: Name,
        scopes: Scopes = None,
        expires_at: ExpiresAt = None,
        idempotency_key: IdempotencyKey = None,
    ) -> NewApiKey:
        """Make an automation key."""
        return await _make(info, NewKey(name, KeyKind.auto, scopes, expires_at), idempotency_key)

    @strawberry.mutation(
        description="Replace a key by a new one, and return the new one. The old one still works for a time. Keys and "
        "webhooks that it created depend on the new one from then on.",
        directives=guarded("account:write", "not_found", "conflict", "insufficient_scope"),
    )
    async def rotate_api_key(self, info: Info, id: KeyId, overlap_hours: OverlapHours = 24) -> NewApiKey:
        """Rotate a key."""
        unit, secret = info.context.unit, info.context.services.secret
        new, text = await api_keys.rotate_key(unit, secret, id, overlap_hours)
        return await _shown(unit, new.id, text.text)

    @strawberry.mutation(
        graphql_type=ApiKey,
        description=(
            "Revoke a key, for good, with everything made with it, and return it: keys, webhooks and OAuth clients "
            "stop working within seconds."
        ),
        directives=guarded("account:write", "not_found"),
    )
    async def revoke_api_key(self, info: Info, id: KeyId) -> queries.ShownKey:
        """Revoke a key."""
        await api_keys.revoke_key(info.context.unit, id)
        return await queries.show_key(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=ApiKey,
        description=(
            "Revoke an auto_ key that the caller manages, for good, and return it. It stops working within seconds."
        ),
        directives=guarded("webhooks:manage", "not_found"),
    )
    async def revoke_automation_key(self, info: Info, id: KeyId) -> queries.ShownKey:
        """Revoke an automation key."""
        await api_keys.revoke_automation_key(info.context.unit, id)
        return await queries.show_key(info.context.unit, id)


def _described(names: frozenset[str]) -> list[ScopeDescription]:
    return [
        ScopeDescription(name=scope, description=words, is_for_automation=scope in scopes.AUTOMATION_LIMIT)
        for scope, words in scopes.WORDS.items()
        if scope in names
    ]


async def _make(info: Info, new: NewKey, key: str | None) -> NewApiKey:
    unit = info.context.unit

    async def make() -> tuple[models.ApiKey, str]:
        made, text = await api_keys.create_key(unit, info.context.services.secret, new)
        return made, text.text

    digest = idempotency.fingerprint("create_key", **asdict(new))
    id, text = await once_with_secret(info, key, digest, make)
    return await _shown(unit, id, text)


async def _shown(unit: UnitOfWork, id: int, text: str) -> NewApiKey:
    row = await queries.show_key(unit, id)
    return NewApiKey(
        key=text,
        id=BigInt(row.id),
        name=row.name,
        prefix=row.prefix,
        last_four=row.last_four,
        scopes=row.scopes,
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=None,
        revoked_at=None,
    )
