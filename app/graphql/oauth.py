"""OAuth clients and connected applications, as the contract shows them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.accounts import sessions
from app.domain.kernel import idempotency
from app.domain.oauth import clients, documents, grants, queries, redirects
from app.domain.oauth.clients import NewClient
from app.domain.oauth.queries import ConnectedApplication, ShownClient
from app.graphql.accounts import User
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey, once_with_secret
from app.graphql.core.loading import Load
from app.graphql.core.scalars import BigInt

ClientKey = Annotated[BigInt, strawberry.argument(description="The client's id, not its client_id.")]


@strawberry.type(description="An application of the account's own, which its users can connect.")
class OauthClient:
    """An OAuth client."""

    id: BigInt = strawberry.field(description="The client's id.")
    client_id: str = strawberry.field(description="The client_id that the application sends in its requests.")
    name: str = strawberry.field(description="The name that the consent page shows.")
    redirect_uris: list[str] = strawberry.field(description="The addresses that the consent page may redirect to.")
    scopes: list[str] = strawberry.field(description="The scopes that it may request.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    last_used_at: datetime | None = strawberry.field(description="The time at which it last got tokens, to the day.")
    revoked_at: datetime | None = strawberry.field(description="The time at which it, or its creator, was revoked.")
    confidential: bool = strawberry.field(description="Whether it has a secret. An application without one uses PKCE.")

    @strawberry.field(description="The user, key or application that made it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="A client just made, or given a new secret. Keep the secret: it cannot be shown again.")
class NewOauthClient:
    """A new OAuth client."""

    client_id: str = strawberry.field(description="The client_id that the application sends in its requests.")
    client_secret: str | None = strawberry.field(description="The secret of the client; null for a public client.")
    client: OauthClient = strawberry.field(description="The client as it is stored.")


@strawberry.type(description="The permission that a user gave to an application.")
class OauthGrant:
    """A connected application."""

    id: BigInt = strawberry.field(description="The grant's id.")
    client_id: str = strawberry.field(description="The client_id of the application.")
    client_name: str = strawberry.field(description="The name of the application, as it gives it.")
    client_uri: str = strawberry.field(description="A page about the application; empty where it names none.")
    user_id: BigInt = strawberry.field(description="The id of the user who allowed it.")
    scopes: list[str] = strawberry.field(description="The scopes of the application.")
    resource: str = strawberry.field(
        description="The address that its tokens are for: the API's, or the tool server's."
    )
    created_at: datetime = strawberry.field(description="The time at which the user allowed it.")
    last_used_at: datetime | None = strawberry.field(description="The time of its last use, to the minute.")
    expires_at: datetime = strawberry.field(description="The time at which it expires.")
    revoked_at: datetime | None = strawberry.field(description="The time at which it was revoked.")

    @strawberry.field(
        graphql_type=User, description="The user who allowed it.", directives=guarded("conversations:write")
    )
    def user(self, info: Info) -> Load[Any]:
        """Return the user."""
        return info.context.load(accounts.find_users, self.user_id)


@strawberry.type
class OauthQuery:
    """Reading clients and grants."""

    @strawberry.field(
        graphql_type=list[OauthClient],
        description=(
            "The account's own OAuth clients, revoked ones too: live ones first, then the newest first; at most "
            f"{queries.MAX_SHOWN}. An account has at most {clients.MAX_CLIENTS} live clients."
        ),
        directives=guarded("account:write"),
    )
    async def oauth_clients(self, info: Info) -> Sequence[ShownClient]:
        """Return the clients."""
        return await queries.list_clients(info.context.unit)

    @strawberry.field(
        graphql_type=list[OauthGrant],
        description=(
            f"The applications that are connected to the account, the newest first; at most {queries.MAX_GRANTS}. A "
            "signed-in user without the scope account:write gets those that the user connected."
        ),
        directives=guarded("account:read", "insufficient_scope"),
    )
    async def oauth_grants(self, info: Info) -> list[ConnectedApplication]:
        """Return the grants."""
        unit = info.context.unit
        return await queries.list_applications(unit, sessions.restrict_to_own(unit.actor))


@strawberry.type
class OauthMutation:
    """Changing clients and grants."""

    @strawberry.mutation(
        description=(
            "Create an OAuth client, which the account's users can connect, and return it with its secret, this once. "
            "It ends with the key or the user that makes it."
        ),
        directives=guarded("account:write", "conflict", "idempotency_key_reused", "invalid_redirect_uri"),
    )
    async def create_oauth_client(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description="The name that the consent page shows.",
                directives=[Constraint(min_length=1, max_length=documents.MAX_NAME)],
            ),
        ],
        redirect_uris: Annotated[
            list[str],
            strawberry.argument(
                description="The addresses that the consent page may redirect to; requests repeat one exactly.",
                directives=[Constraint(max_length=redirects.MAX_LENGTH, min_items=1, max_items=redirects.MAX_URIS)],
            ),
        ],
        scopes: Annotated[
            list[str] | None, strawberry.argument(description="The scopes that it may request; the usual ones if none.")
        ] = None,
        confidential: Annotated[
            bool, strawberry.argument(description="False for an application that cannot keep a secret.")
        ] = True,
        idempotency_key: IdempotencyKey = None,
    ) -> NewOauthClient:
        """Make a client."""
        unit, tokens = info.context.unit, info.context.services.oauth.tokens
        wanted = NewClient(name, redirect_uris, scopes, confidential)
        digest = idempotency.fingerprint("create_oauth_client", **asdict(wanted))
        id, secret = await once_with_secret(info, idempotency_key, digest, lambda: clients.create(unit, tokens, wanted))
        return await _made(info, (await queries.get_client(unit, id), secret or None))

    @strawberry.mutation(
        description=(
            "Give a client a new secret, and return both. The secret ends with the key or the user that made it. The "
            "old one stops working at once; connected users stay connected."
        ),
        directives=guarded("account:write", "conflict", "not_found"),
    )
    async def rotate_oauth_client_secret(self, info: Info, id: ClientKey) -> NewOauthClient:
        """Rotate a secret."""
        unit, tokens = info.context.unit, info.context.services.oauth.tokens
        return await _made(info, await clients.rotate_secret(unit, tokens, id))

    @strawberry.mutation(
        graphql_type=OauthClient,
        description="Bind a client to the caller, and return it: from now on it ends with the caller's key or user. "
        "Its secret still ends with the key or user that made the secret.",
        directives=guarded("account:write", "conflict", "not_found"),
    )
    async def take_over_oauth_client(self, info: Info, id: ClientKey) -> ShownClient:
        """Take a client over."""
        return await queries.show_client(info.context.unit, await clients.take_over(info.context.unit, id))

    @strawberry.mutation(
        graphql_type=OauthClient,
        description=(
            "Revoke a client, for good, and return it. Everything that was connected with it ends within seconds."
        ),
        directives=guarded("account:write", "not_found"),
    )
    async def revoke_oauth_client(self, info: Info, id: ClientKey) -> ShownClient:
        """Revoke a client."""
        return await queries.show_client(info.context.unit, await clients.revoke(info.context.unit, id))

    @strawberry.mutation(
        graphql_type=OauthGrant,
        description=(
            "Disconnect an application, and return its grant. Its tokens stop working within seconds. Users disconnect "
            "their own applications without the scope account:write."
        ),
        directives=guarded("account:read", "insufficient_scope", "not_found"),
    )
    async def revoke_oauth_grant(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The grant's id.")]
    ) -> ConnectedApplication:
        """Revoke a grant."""
        unit = info.context.unit
        return await grants.revoke(unit, id, sessions.restrict_to_own(unit.actor))


async def _made(info: Info, made: clients.Made) -> NewOauthClient:
    client, secret = made
    return NewOauthClient(
        client_id=client.client_id,
        client_secret=secret,
        client=await queries.show_client(info.context.unit, client),  # pyrefly: ignore[bad-argument-type]
    )
