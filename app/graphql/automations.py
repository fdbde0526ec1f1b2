"""Watched keywords, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.automations import models, queries, service
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.scalars import BigInt


@strawberry.type(
    description=(
        "A word or phrase that the event keyword_reply is told of when a text comes in that is it. The whole text is "
        "compared, without regard to case, the number of spaces, and punctuation at its ends: Menu! is menu, and "
        "menu please is not."
    )
)
class WatchedKeyword:
    """A watched keyword."""

    id: BigInt = strawberry.field(description="The watched keyword's id.")
    keyword: str = strawberry.field(description="The keyword, in lower case, as texts are compared with it.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="Since when it is watched.")

    @strawberry.field(description="The user, key or application that added it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type
class AutomationQuery:
    """Reading watched keywords."""

    @strawberry.field(
        graphql_type=list[WatchedKeyword],
        description="The keywords that the account watches, by the alphabet; at most 100.",
        directives=guarded("campaigns:read"),
    )
    async def watched_keywords(self, info: Info) -> Sequence[models.WatchedKeyword]:
        """Return the watched keywords."""
        return await queries.list_keywords(info.context.unit)


@strawberry.type
class AutomationMutation:
    """Watching keywords, and ceasing to."""

    @strawberry.mutation(
        graphql_type=WatchedKeyword,
        description=(
            "Watch a keyword: from now on keyword_reply is told of each text that comes in and is the keyword, whole. "
            "One that is watched already is answered as it is. Words by which people stop, start again or get help "
            "are refused, in any language, and texts that may be meant so are never told."
        ),
        directives=guarded("campaigns:write", "conflict"),
    )
    async def watch_keyword(
        self,
        info: Info,
        keyword: Annotated[
            str,
            strawberry.argument(
                description=(
                    "The word or phrase, 1 to 40 characters on one line. Case, the number of spaces, and punctuation "
                    "at its ends do not count."
                )
            ),
        ],
    ) -> models.WatchedKeyword:
        """Watch a keyword."""
        return await service.watch(info.context.unit, keyword)

    @strawberry.mutation(
        graphql_type=WatchedKeyword,
        description="Cease to watch a keyword.",
        directives=guarded("campaigns:write", "not_found"),
    )
    async def unwatch_keyword(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The watched keyword's id.")]
    ) -> models.WatchedKeyword:
        """Cease to watch a keyword."""
        return await service.unwatch(info.context.unit, id)
