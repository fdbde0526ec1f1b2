"""The account, its people and its keys, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.accounts import models, queries, service
from app.domain.accounts.service import NewKey
from app.graphql.context import Info
from app.graphql.directives import guarded
from app.graphql.scalars import BigInt


@strawberry.type(description="A person who works in the account.")
class User:
    """A user."""

    id: BigInt = strawberry.field(description="The user's id.")
    email: str = strawberry.field(description="The e-mail address, by which the user signs in.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    created_at: datetime = strawberry.field(description="When the user was added.")


@strawberry.type(description="The account that the key belongs to.")
class Account:
    """An account."""

    id: BigInt = strawberry.field(description="The account's id.")
    company_name: str = strawberry.field(description="The name that recipients are told.")
    region: str = strawberry.field(description="The country whose national phone numbers are understood.")
    support_contact: str = strawberry.field(description="What a HELP reply tells people to turn to.")
    created_at: datetime = strawberry.field(description="When the account was opened.")

    @strawberry.field(graphql_type=list[User], description="The people of the account.")
    async def users(self, info: Info) -> Sequence[models.User]:
        """Return the account's people."""
        return await queries.list_users(info.context.unit)


@strawberry.type(description="A key to the API. Its text is shown once, when it is made.")
class ApiKey:
    """An API key."""

    id: BigInt = strawberry.field(description="The key's id.")
    name: str = strawberry.field(description="What it is for.")
    prefix: str = strawberry.field(description="Its first characters.")
    last_four: str = strawberry.field(description="Its last four characters.")
    scopes: list[str] = strawberry.field(description="What it may do.")
    created_by: str = strawberry.field(description="Who made it.")
    created_at: datetime = strawberry.field(description="When it was made.")
    expires_at: datetime | None = strawberry.field(description="When it ends by itself.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used, to the minute.")
    revoked_at: datetime | None = strawberry.field(description="When it was revoked.")


@strawberry.type(description="A key just made. Keep its text now: it cannot be shown again.")
class NewApiKey:
    """A new API key."""

    key: str = strawberry.field(description="The key's text, to be sent with every request.")
    api_key: ApiKey = strawberry.field(description="What is kept of it.")


@strawberry.type
class AccountQuery:
    """Reading the account."""

    @strawberry.field(
        graphql_type=Account, description="The account that the key belongs to.", directives=guarded("account:read")
    )
    async def account(self, info: Info) -> models.Account:
        """Return the account."""
        return await queries.get_own(info.context.unit)

    @strawberry.field(
        graphql_type=list[ApiKey],
        description="The account's keys, the newest first; revoked ones too.",
        directives=guarded("account:read"),
    )
    async def api_keys(self, info: Info) -> Sequence[models.ApiKey]:
        """Return the keys."""
        return await queries.list_keys(info.context.unit)


@strawberry.type
class AccountMutation:
    """Changing the account."""

    @strawberry.mutation(
        description="Make a key. It cannot be given a scope that the key making it does not hold.",
        directives=guarded("account:write", "insufficient_scope"),
    )
    async def create_api_key(
        self,
        info: Info,
        name: Annotated[str, strawberry.argument(description="What the key is for.")],
        scopes: Annotated[
            list[str] | None, strawberry.argument(description="What it may do; the usual if none.")
        ] = None,
        expires_at: Annotated[datetime | None, strawberry.argument(description="When it ends by itself.")] = None,
    ) -> NewApiKey:
        """Make a key."""
        wanted = NewKey(name=name, scopes=scopes, expires_at=expires_at)
        row, text = await service.create_key(info.context.unit, info.context.services.secret, wanted)
        return NewApiKey(key=text.text, api_key=row)  # pyright: ignore[reportArgumentType]

    @strawberry.mutation(
        graphql_type=ApiKey,
        description="Revoke a key. It stops working within seconds, for good.",
        directives=guarded("account:write", "not_found"),
    )
    async def revoke_api_key(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The key's id.")]
    ) -> models.ApiKey:
        """Revoke a key."""
        return await service.revoke_key(info.context.unit, id)
