"""Segments of contacts, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON

from app.domain.accounts.scopes import Scope, require
from app.domain.campaigns import segment_uses
from app.domain.contacts import custom_fields
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Page
from app.domain.messages.models import Direction, MessageStatus
from app.domain.segments import checking, fields, filters, models, previews, queries, sentences, service
from app.domain.segments.fields import Kind, Operator
from app.domain.segments.service import SegmentFields
from app.graphql.actors import Actor, actor_of
from app.graphql.contacts import Contact
from app.graphql.core import versions
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    Operator,
    "The comparison of a condition. ne and the operators with not or none are also true for an absent value.",
    {
        "eq": "Equal; texts in any case.",
        "ne": "Not equal.",
        "in": "Equal to one of the values.",
        "not_in": "Equal to none of the values.",
        "contains": "The text contains the value, in any case.",
        "starts_with": "The text begins with the value, in any case.",
        "gt": "Greater.",
        "gte": "Greater or equal.",
        "lt": "Less.",
        "lte": "Less or equal.",
        "between": "From the first value to the second, both included.",
        "before": "Before the time or date.",
        "after": "After the time or date.",
        "within_last": "Within a duration that ends now, such as 30 days.",
        "not_within_last": "Not within a duration that ends now, or never.",
        "has_any": "Has one of the tags or ids.",
        "has_all": "Has all of the tags or ids.",
        "has_none": "Has none of the tags or ids.",
        "is_set": "Has a value.",
        "is_empty": "Has no value.",
    },
    name="SegmentOperator",
)
describe(
    Kind,
    "The kind of the values of a field.",
    {
        "text": "Texts, compared in any case.",
        "tags": "Tags, compared exactly.",
        "choice": "One of the choices.",
        "state": "One of the states.",
        "number": "Numbers.",
        "date": "Dates, such as 2026-11-21.",
        "time": "Times, such as 2026-11-21T09:30:00Z.",
        "boolean": "true or false.",
        "id": "Ids.",
        "ids": "Several ids.",
    },
    name="SegmentFieldKind",
)

NODES = Constraint(min_items=1, max_items=checking.MAX_CONDITIONS)
VALUES = Constraint(max_length=checking.MAX_VALUE, max_items=checking.MAX_VALUES)
NAME = "The name of the segment."
FILTER = "The filter that its contacts satisfy."
SegmentId = Annotated[BigInt, strawberry.argument(description="The segment's id.")]


@strawberry.input(description="A condition (field, op, value), or a group: one of all, any and none.")
class SegmentFilter:
    """A node of a filter."""

    all: list["SegmentFilter"] | None = strawberry.field(default=None, description="All are true.", directives=[NODES])
    any: list["SegmentFilter"] | None = strawberry.field(
        default=None, description="At least one is true.", directives=[NODES]
    )
    none: list["SegmentFilter"] | None = strawberry.field(default=None, description="None is true.", directives=[NODES])
    field: str | None = strawberry.field(default=None, description="A field, such as tags, score or custom.city.")
    op: Operator | None = strawberry.field(default=None, description="The comparison.")
    value: list[str] | None = strawberry.field(
        default=None, description="Texts, such as 40, true, 2026-11-21 or 30 days.", directives=[VALUES]
    )
    direction: Direction | None = strawberry.field(default=None, description="Of message_count.")
    status: MessageStatus | None = strawberry.field(default=None, description="Of message_count.")
    within: str | None = strawberry.field(default=None, description="Of message_count: 30 days.")

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is given."""
        return all(value is None for value in vars(self).values())

    def read(self) -> filters.GivenFilter:
        """Return the filter of the domain."""
        groups = {match: getattr(self, match) for match in filters.Match}
        inner = {match: nodes and [each.read() for each in nodes] for match, nodes in groups.items()}
        counted = {"direction": self.direction, "status": self.status, "within": self.within}
        given = {**inner, "field": self.field, "op": self.op, "value": self.value, **counted}
        return cast("filters.GivenFilter", given)


@strawberry.type(description="A saved filter of contacts. Its contacts are found anew at each use.")
class Segment:
    """A segment."""

    id: BigInt = strawberry.field(description="The segment's id.")
    name: str = strawberry.field(description="The name of the segment.")
    filter: strawberry.Private[dict[str, Any]]
    version: int = strawberry.field(description="The version: 1 at first, and one more with each change.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    updated_at: datetime = strawberry.field(description="The time of its last change.")

    @strawberry.field(name="filter", graphql_type=JSON, description="The filter, as create_segment takes it.")
    def filter_of(self) -> Any:
        """Return the filter."""
        return filters.show(filters.load(self.filter))

    @strawberry.field(description="The filter in words.")
    def summary(self) -> str:
        """Return the sentence."""
        return sentences.describe(filters.load(self.filter))

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="A field that segments filter by.")
class SegmentField:
    """A field of filters."""

    name: str = strawberry.field(description="The name in filters.")
    description: str = strawberry.field(description="The value that it has, or the label of a custom field.")
    kind: Kind = strawberry.field(description="The kind of its values.")
    operators: list[Operator] = strawberry.field(description="The operators that it takes.")
    choices: list[str] = strawberry.field(description="The allowed values; empty where any are.")


@strawberry.type(description="The contacts of a filter, at this moment.")
class SegmentPreview:
    """A preview of a segment."""

    total_count: BigInt = strawberry.field(description="Number of contacts.")
    sendable_count: BigInt = strawberry.field(
        description="Number of those that no opt-out, do-not-disturb or hold keeps from a text."
    )
    is_exact: bool = strawberry.field(
        description=(
            f"False when counting took longer than {previews.SECONDS:.0f} seconds: then the numbers are estimates, "
            f"from one contact of {previews.ONE_IN}."
        )
    )
    samples: list[Contact] = strawberry.field(
        description=f"Up to {previews.SAMPLES} contacts, the newest first.", directives=guarded("contacts:read")
    )


@strawberry.input(description="The fields to change; omitted ones keep their values.")
class SegmentChanges:
    """The fields of a segment to change."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"{NAME} Not null.", directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]
    )
    filter: strawberry.Maybe[SegmentFilter | None] = strawberry.field(description=f"{FILTER} Not null.")


@strawberry.type
class SegmentQuery:
    """Reading segments."""

    @strawberry.field(
        graphql_type=Connection[Segment],
        description="The account's segments, the newest first.",
        directives=guarded("campaigns:read"),
    )
    async def segments(
        self,
        info: Info,
        search: Annotated[str | None, strawberry.argument(description="A part of the name, in any case.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Segment]:
        """Return one page of segments."""
        part = window(info, "segments", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, search, part)

    @strawberry.field(
        graphql_type=Segment | None,
        description="One segment; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def segment(self, info: Info, id: SegmentId) -> models.Segment:
        """Return one segment."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=list[SegmentField],
        description="The fields that segments filter by, the account's custom fields among them; at most 100.",
        directives=guarded("campaigns:read"),
    )
    async def segment_fields(self, info: Info) -> Sequence[fields.Field]:
        """Return the fields."""
        return [*fields.of_account(await custom_fields.list_all(info.context.unit)).values()]

    @strawberry.field(
        graphql_type=SegmentPreview | None,
        description="The number of contacts of a segment or of a filter, and some of them; a filter needs the scope "
        "contacts:read as well. Null beside not_found.",
        directives=guarded("campaigns:read", "not_found", "query_timeout"),
    )
    async def preview_segment(
        self,
        info: Info,
        id: Annotated[BigInt | None, strawberry.argument(description="The segment's id, or give filter.")] = None,
        filter: Annotated[
            SegmentFilter | None, strawberry.argument(description="A filter that is not saved, or give id.")
        ] = None,
    ) -> previews.Preview:
        """Return the preview."""
        unit = info.context.unit
        if (id is None) == (filter is None):
            raise InvalidInput(reason="Give either the id of a segment or a filter.", field="id")
        if filter is not None:
            require(unit.actor, [Scope.contacts_read])
            return await previews.preview(unit, await service.check(unit, filter.read()))
        return await previews.preview(unit, filters.load((await queries.get(unit, id or 0)).filter))


@strawberry.type
class SegmentMutation:
    """Saving segments."""

    @strawberry.mutation(
        graphql_type=Segment,
        description=f"Create a segment, and return it; an account has at most {service.MAX_SEGMENTS}.",
        directives=guarded("campaigns:write", "conflict", "idempotency_key_reused"),
    )
    async def create_segment(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(description=NAME, directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]),
        ],
        filter: Annotated[SegmentFilter, strawberry.argument(description=FILTER)],
        idempotency_key: IdempotencyKey = None,
    ) -> models.Segment:
        """Create a segment."""
        unit, given = info.context.unit, filter.read()
        digest = idempotency.fingerprint("create_segment", name=name, filter=filter)
        id = await once(info, idempotency_key, digest, lambda: service.create(unit, name, given))
        return await queries.get(unit, id)

    @strawberry.mutation(
        graphql_type=Segment,
        description="Change the name or the filter of a segment, and return it.",
        directives=guarded("campaigns:write", "conflict", "not_found"),
    )
    async def update_segment(
        self,
        info: Info,
        id: SegmentId,
        changes: Annotated[SegmentChanges, strawberry.argument(description="The fields to change.")],
        expected_version: Annotated[int | None, versions.expected("segment")] = None,
    ) -> models.Segment:
        """Change a segment."""
        written = dict(given(vars(changes), SegmentFields))
        if isinstance(filter := written.get("filter"), SegmentFilter):
            written["filter"] = filter.read()
        return await service.update(info.context.unit, id, cast("SegmentFields", written), expected_version)

    @strawberry.mutation(
        graphql_type=Segment,
        description=(
            "Delete a segment, and return it. Its contacts stay. One that a campaign is going to reach is not deleted: "
            "conflict names the campaigns."
        ),
        directives=guarded("campaigns:write", "conflict", "not_found"),
    )
    async def delete_segment(self, info: Info, id: SegmentId) -> models.Segment:
        """Delete a segment."""
        return await segment_uses.delete(info.context.unit, id)
