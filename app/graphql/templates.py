"""Saved templates and placeholders, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.kernel import idempotency
from app.domain.kernel.paging import Page
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.templates import grammar, models, queries, service, vocabulary
from app.domain.templates.rendering import MAX_VALUE
from app.domain.templates.service import TemplateFields
from app.graphql.actors import Actor, actor_of
from app.graphql.core import versions
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.texts import FirstPromotional, TextFinding, find_findings

NAME = "The name of the template."
BODY = (
    "The text, 1 to 1600 characters, with placeholders such as {first_name|friend}. Braces that are sent are written "
    "twice. An unknown placeholder is refused."
)
TemplateId = Annotated[BigInt, strawberry.argument(description="The template's id.")]
Name = Annotated[
    str, strawberry.argument(description=NAME, directives=[Constraint(min_length=1, max_length=service.MAX_NAME)])
]
Body = Annotated[
    str, strawberry.argument(description=BODY, directives=[Constraint(min_length=1, max_length=MAX_LENGTH)])
]
ExpectedVersion = Annotated[int | None, versions.expected("template")]


@strawberry.type(description="A saved text with placeholders.")
class Template:
    """A template."""

    id: BigInt = strawberry.field(description="The template's id.")
    account_id: strawberry.Private[int]
    name: str = strawberry.field(description="The name of the template.")
    body: str = strawberry.field(description="The text, with its placeholders.")
    version: int = strawberry.field(description="The version: 1 at first, and one more with each change.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    updated_at: datetime = strawberry.field(description="The time of its last change.")

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)

    @strawberry.field(description="The names of its placeholders, in the order of their first places.")
    def placeholders(self) -> list[str]:
        """Return the names."""
        return list(dict.fromkeys(each.name for each in grammar.parse(self.body).placeholders))

    @strawberry.field(description="Advice about the text, the most severe first.")
    async def findings(self, info: Info, first_promotional: FirstPromotional = False) -> list[TextFinding]:
        """Return the findings."""
        return await find_findings(info, self.account_id, self.body, is_first_promotional=first_promotional)


@strawberry.type(description="A placeholder that texts may have.")
class Placeholder:
    """A placeholder."""

    name: str = strawberry.field(description="The name without its braces, such as first_name.")
    description: str = strawberry.field(description="The value that takes its place.")
    example: str = strawberry.field(description="An example of a value.")
    filters: list[str] = strawberry.field(description="The filters that it takes.")
    fallback: str | None = strawberry.field(
        description="The account's fallback for a value that is missing, where a text has none of its own."
    )


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class TemplateChanges:
    """The fields of a template to change."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"{NAME} Not null.", directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]
    )
    body: strawberry.Maybe[str | None] = strawberry.field(
        description=f"{BODY} Not null.", directives=[Constraint(min_length=1, max_length=MAX_LENGTH)]
    )


@strawberry.type
class TemplateQuery:
    """Reading templates and placeholders."""

    @strawberry.field(
        graphql_type=Connection[Template],
        description="The account's templates, the newest first.",
        directives=guarded("campaigns:read"),
    )
    async def templates(
        self,
        info: Info,
        search: Annotated[
            str | None, strawberry.argument(description="A part of the name or the text, in any case.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Template]:
        """Return one page of templates."""
        part = window(info, "templates", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, search, part)

    @strawberry.field(
        graphql_type=Template | None,
        description="One template; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def template(self, info: Info, id: TemplateId) -> models.Template:
        """Return one template."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        description=(
            "The placeholders that texts of the account may have, those of its custom fields among them; at most 100."
        ),
        directives=guarded("campaigns:read"),
    )
    async def placeholders(
        self,
        info: Info,
        of_bookings: Annotated[
            bool,
            strawberry.argument(description="Whether to list those that only texts about bookings have, too."),
        ] = False,
    ) -> list[Placeholder]:
        """Return the placeholders with the account's fallbacks."""
        return await _list_placeholders(info, of_bookings=of_bookings)


@strawberry.type
class TemplateMutation:
    """Saving templates and fallbacks."""

    @strawberry.mutation(
        graphql_type=Template,
        description="Create a template, and return it.",
        directives=guarded("campaigns:write", "idempotency_key_reused", "message_too_long"),
    )
    async def create_template(
        self, info: Info, name: Name, body: Body, idempotency_key: IdempotencyKey = None
    ) -> models.Template:
        """Create a template."""
        return await _create(info, name, body, idempotency_key)

    @strawberry.mutation(
        graphql_type=Template,
        description=(
            "Change the name or text of a template, and return it. Texts that were made from it stay as they are."
        ),
        directives=guarded("campaigns:write", "conflict", "message_too_long", "not_found"),
    )
    async def update_template(
        self,
        info: Info,
        id: TemplateId,
        changes: Annotated[TemplateChanges, strawberry.argument(description="The fields to change.")],
        expected_version: ExpectedVersion = None,
    ) -> models.Template:
        """Change a template."""
        fields = given(vars(changes), TemplateFields)
        return await service.update(info.context.unit, id, fields, expected_version)

    @strawberry.mutation(
        graphql_type=Template,
        description="Create a template, or replace the name and text of the one with an id, and return it.",
        directives=guarded("campaigns:write", "conflict", "idempotency_key_reused", "message_too_long", "not_found"),
    )
    async def save_template(
        self,
        info: Info,
        name: Name,
        body: Body,
        id: Annotated[
            BigInt | None, strawberry.argument(description="The template to change; none for a new one.")
        ] = None,
        expected_version: ExpectedVersion = None,
        idempotency_key: IdempotencyKey = None,
    ) -> models.Template:
        """Create or change a template."""
        if id is None:
            return await _create(info, name, body, idempotency_key)
        return await service.update(info.context.unit, id, {"name": name, "body": body}, expected_version)

    @strawberry.mutation(
        graphql_type=Template,
        description="Delete a template, and return it. Texts that were made from it stay as they are.",
        directives=guarded("campaigns:write", "conflict", "not_found"),
    )
    async def delete_template(
        self, info: Info, id: TemplateId, expected_version: ExpectedVersion = None
    ) -> models.Template:
        """Delete a template."""
        return await service.delete(info.context.unit, id, expected_version)

    @strawberry.mutation(
        graphql_type=Placeholder,
        description="Set the account's fallback for a placeholder, and return the placeholder.",
        directives=guarded("campaigns:write"),
    )
    async def set_placeholder_fallback(
        self,
        info: Info,
        name: Annotated[str, strawberry.argument(description="The name of the placeholder, such as first_name.")],
        fallback: Annotated[
            str | None,
            strawberry.argument(
                description=f"The text for a missing value, at most {MAX_VALUE} characters; null for none.",
                directives=[Constraint(max_length=MAX_VALUE)],
            ),
        ] = None,
    ) -> Placeholder:
        """Set a fallback."""
        await service.set_fallback(info.context.unit, name, fallback)
        return next(each for each in await _list_placeholders(info, of_bookings=True) if each.name == name)


async def _list_placeholders(info: Info, *, of_bookings: bool) -> list[Placeholder]:
    unit = info.context.unit
    known = await vocabulary.find(unit, of_bookings=of_bookings)
    fallbacks = await queries.find_fallbacks(unit)
    return [
        Placeholder(
            name=each.name,
            description=each.description,
            example=each.example,
            filters=grammar.filters_for(each.kind),
            fallback=fallbacks.get(each.name),
        )
        for each in known.names.values()
    ]


async def _create(info: Info, name: str, body: str, key: str | None) -> models.Template:
    unit = info.context.unit
    digest = idempotency.fingerprint("create_template", name=name, body=body)
    id = await once(info, key, digest, lambda: service.create(unit, name, body))
    return await queries.get(unit, id)
