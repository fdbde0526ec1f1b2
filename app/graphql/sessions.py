"""The sessions of users in browsers, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.accounts import models, queries, sessions, user_agents, users
from app.graphql.accounts import User
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.loading import Load
from app.graphql.core.scalars import BigInt


@strawberry.type(description="A browser that a user is signed in with.")
class Session:
    """A session."""

    id: BigInt = strawberry.field(description="The session's id.")
    user_id: BigInt = strawberry.field(description="The id of the user who is signed in.")
    address: str = strawberry.field(description="The network address of the sign-in.")
    user_agent: str = strawberry.field(description="The browser's `User-Agent` header.")
    created_at: datetime = strawberry.field(description="The time of the sign-in.")
    last_used_at: datetime = strawberry.field(description="The time of its last use, to the minute.")
    expires_at: datetime = strawberry.field(description="The time at which it ends, unless it is used before.")

    @strawberry.field(description="The browser and the system in words, such as Firefox on Linux.")
    def device(self) -> str:
        """Return the label of the user agent."""
        return user_agents.describe(self.user_agent)

    @strawberry.field(description="True for the session of this request.")
    def is_current(self, info: Info) -> bool:
        """Tell whether it is the caller's session."""
        return self.id == info.context.unit.actor.session_id

    @strawberry.field(
        graphql_type=User, description="The user who is signed in.", directives=guarded("conversations:write")
    )
    def user(self, info: Info) -> Load[Any]:
        """Return the user."""
        return info.context.load(queries.find_users, self.user_id)


@strawberry.type(description="The sessions that a user has ended.")
class EndedSessions:
    """Sessions that have ended."""

    sessions: Sequence[models.Session] = strawberry.field(graphql_type=list[Session], description="The ended sessions.")


@strawberry.type
class SessionQuery:
    """Reading sessions."""

    @strawberry.field(
        graphql_type=list[Session],
        description=(
            f"The sessions of the account's users, the last used first; at most {sessions.MAX_SHOWN}. A signed-in user "
            "without the scope account:write gets only their own."
        ),
        directives=guarded("account:read", "insufficient_scope"),
    )
    async def sessions(self, info: Info) -> Sequence[models.Session]:
        """Return the sessions."""
        unit = info.context.unit
        return await sessions.find_all(unit, sessions.restrict_to_own(unit.actor))


@strawberry.type
class SessionMutation:
    """Ending sessions."""

    @strawberry.mutation(
        graphql_type=Session,
        description=(
            "End a session, and return it: its browser is signed out. Users end their own sessions without the scope "
            "account:write."
        ),
        directives=guarded("account:read", "insufficient_scope", "not_found"),
    )
    async def end_session(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The session's id.")]
    ) -> models.Session:
        """End a session."""
        unit = info.context.unit
        return await sessions.end(unit, id, sessions.restrict_to_own(unit.actor))

    @strawberry.mutation(
        graphql_type=EndedSessions,
        description="End all sessions of the signed-in user but that of this request, and return them.",
        directives=guarded("account:read", "person_required"),
    )
    async def end_other_sessions(self, info: Info) -> EndedSessions:
        """End the other sessions."""
        return EndedSessions(sessions=await users.end_other_sessions(info.context.unit))
