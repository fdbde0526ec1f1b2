"""Watched keywords, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.automations import models, queries, watching
from app.domain.automations.keywords import MAX_LENGTH
from app.domain.automations.models import KeywordMatch
from app.domain.automations.watching import KeywordFields
from app.domain.contacts.service import MAX_TAG
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    KeywordMatch,
    "The part of a text that must equal a keyword.",
    {
        "exact": "The whole text.",
        "starts_with": "Its first words.",
        "word": "Any of its words.",
    },
)


@strawberry.type(
    description=(
        "A word or phrase. An inbound text that matches it emits the event keyword_reply. Case, the number of spaces, "
        "and punctuation at the ends of the text do not count."
    )
)
class WatchedKeyword:
    """A watched keyword."""

    id: BigInt = strawberry.field(description="The watched keyword's id.")
    keyword: str = strawberry.field(description="The keyword, in lower case, as texts are compared with it.")
    match: KeywordMatch = strawberry.field(description="The part of a text that must equal it.")
    phone_number_id: BigInt | None = strawberry.field(
        description="The id of the number to which texts must be sent; null for any."
    )
    is_active: bool = strawberry.field(description="Whether texts are compared with it.")
    opts_in: bool = strawberry.field(description="Whether a text that matches is recorded as consent, as evidence.")
    double_opt_in: bool = strawberry.field(
        description="Whether a text that matches is consent only after the person confirms it with YES."
    )
    opt_in_tag: str = strawberry.field(
        description="The tag that is added to the contact with the confirmation; empty for none."
    )
    reply: str = strawberry.field(
        description="The text that is sent as an answer, after the confirmation if one is needed; empty for none."
    )
    hits: BigInt = strawberry.field(description="The number of texts that matched it.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time from which it is watched.")

    @strawberry.field(description="The user, key or application that added it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.input(description="The rules of a keyword; fields that are left out keep their values.")
class KeywordChanges:
    """The fields of a keyword to change."""

    match: strawberry.Maybe[KeywordMatch | None] = strawberry.field(
        description="The part of a text that must equal the keyword; exact at first. Not null."
    )
    phone_number_id: strawberry.Maybe[BigInt | None] = strawberry.field(
        description="The id of the number to which texts must be sent; null for any."
    )
    is_active: strawberry.Maybe[bool | None] = strawberry.field(
        description="Whether texts are compared with it. Not null."
    )
    opts_in: strawberry.Maybe[bool | None] = strawberry.field(
        description="Whether a text that matches is recorded as consent: for keywords such as JOIN. Not null."
    )
    double_opt_in: strawberry.Maybe[bool | None] = strawberry.field(
        description=(
            "Whether to ask the sender for a confirmation: only the reply YES within 24 hours is then recorded as "
            "consent, with both texts. Not null."
        )
    )
    opt_in_tag: strawberry.Maybe[str | None] = strawberry.field(
        description="The tag to add to the contact with the confirmation; empty for none. Not null.",
        directives=[Constraint(max_length=MAX_TAG)],
    )
    reply: strawberry.Maybe[str | None] = strawberry.field(
        description="The text to answer with, with placeholders; empty for none. Not null."
    )


@strawberry.type
class KeywordQuery:
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
class KeywordMutation:
    """Starting and stopping to watch keywords."""

    @strawberry.mutation(
        graphql_type=WatchedKeyword,
        description=(
            "Watch a keyword, and return it: from now on each inbound text that matches it emits keyword_reply. "
            "A keyword that is watched already is returned without a change. Opt-out, opt-in and help words are "
            "refused, in any language, and texts that may be one of these never emit the event. A reply needs "
            "messages:send too, and opts_in contacts:write."
        ),
        directives=guarded("campaigns:write", "conflict", "insufficient_scope"),
    )
    async def watch_keyword(
        self,
        info: Info,
        keyword: Annotated[
            str,
            strawberry.argument(
                description=(
                    f"The word or phrase, 1 to {MAX_LENGTH} characters on one line. Case, the number of spaces, and "
                    "punctuation at its ends do not count."
                ),
                directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
            ),
        ],
        rules: Annotated[
            KeywordChanges | None,
            strawberry.argument(description="Its rules; without them the whole text must equal it."),
        ] = None,
    ) -> models.WatchedKeyword:
        """Watch a keyword."""
        fields = given(vars(rules), KeywordFields) if rules else None
        return await watching.watch(info.context.unit, keyword, fields)

    @strawberry.mutation(
        graphql_type=WatchedKeyword,
        description=(
            "Change the rules of a watched keyword, and return it. A keyword with a reply needs messages:send too, one "
            "with opts_in contacts:write."
        ),
        directives=guarded("campaigns:write", "insufficient_scope", "not_found"),
    )
    async def update_keyword(
        self,
        info: Info,
        id: Annotated[BigInt, strawberry.argument(description="The watched keyword's id.")],
        changes: Annotated[KeywordChanges, strawberry.argument(description="The rules to change.")],
    ) -> models.WatchedKeyword:
        """Change a watched keyword."""
        return await watching.change(info.context.unit, id, given(vars(changes), KeywordFields))

    @strawberry.mutation(
        graphql_type=WatchedKeyword,
        description="Stop watching a keyword, and return it.",
        directives=guarded("campaigns:write", "not_found"),
    )
    async def unwatch_keyword(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The watched keyword's id.")]
    ) -> models.WatchedKeyword:
        """Stop watching a keyword, and return it."""
        return await watching.unwatch(info.context.unit, id)
