"""Lists of contacts, as the contract shows them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.accounts.scopes import Scope, require
from app.domain.contacts import models, queries, service
from app.domain.contacts.models import ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel.paging import Page
from app.domain.segments import lists
from app.domain.segments import service as segment_service
from app.graphql.contacts import PHONE, SEARCH, SEARCHED, Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.custom_fields import CustomValue, texts_of
from app.graphql.segments import SegmentFilter

describe(
    ContactSort,
    "The order of contacts.",
    {
        "name_asc": "By name, from A to Z.",
        "name_desc": "By name, from Z to A.",
        "score_high": "The highest score first.",
        "date_added": "The latest added first.",
        "date_updated": "The latest changed first.",
        "last_message": "The latest last_message_at first. Contacts without it are not in this list.",
    },
)

SINCE = (
    "Only those changed at this time or later. A change may appear some seconds after its time: ask from a minute "
    "before the last request."
)
FILTER = (
    "Only those that satisfy this filter; without anything, every contact. Where few contacts do, all contacts are "
    "read, which may take seconds: above the limit of a statement, the error is query_timeout."
)
TAGS = Constraint(max_length=queries.MAX_SEARCH, max_items=queries.MAX_LISTED_TAGS)


@strawberry.type
class ContactListQuery:
    """Reading lists of contacts."""

    @strawberry.field(
        graphql_type=Connection[Contact] | None,
        description=(
            "The account's contacts that satisfy everything that is given. A filter or a segment needs the scope "
            "campaigns:read as well, and the sort last_message conversations:read. Null beside the error not_found for "
            "an unknown segment."
        ),
        directives=guarded("contacts:read", "insufficient_scope", "not_found", "query_timeout"),
    )
    async def contacts(
        self,
        info: Info,
        search: Annotated[str | None, strawberry.argument(description=SEARCH, directives=[SEARCHED])] = None,
        stage: Annotated[PipelineStage | None, strawberry.argument(description="Only this stage.")] = None,
        status: Annotated[ContactStatus | None, strawberry.argument(description="Only this status.")] = None,
        tag: Annotated[str | None, strawberry.argument(description="Only with this tag.")] = None,
        tags: Annotated[
            list[str] | None,
            strawberry.argument(description="Only with at least one of these tags.", directives=[TAGS]),
        ] = None,
        assignee_id: Annotated[BigInt | None, strawberry.argument(description="Only of this user.")] = None,
        custom: Annotated[
            list[CustomValue] | None,
            strawberry.argument(description="Only with all these values of custom fields; none may be empty."),
        ] = None,
        updated_since: Annotated[datetime | None, strawberry.argument(description=SINCE)] = None,
        segment_id: Annotated[BigInt | None, strawberry.argument(description="Of this segment.")] = None,
        filter: Annotated[SegmentFilter | None, strawberry.argument(description=FILTER)] = None,
        sort: Annotated[ContactSort, strawberry.argument(description="The order.")] = ContactSort.date_added,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Contact]:
        """Return one page of contacts."""
        unit, given = info.context.unit, texts_of(custom or [])
        filter = None if filter and filter.is_empty else filter
        require(unit.actor, _needed(filter, segment_id, sort))
        wanted = ContactFilter(search, stage, status, tag, assignee_id, given, tags or [], updated_since)
        part = window(info, f"contacts {sort}", first, after, last, before, offset)
        node = await segment_service.check(unit, filter.read()) if filter else None
        return await lists.find_page(unit, wanted, sort, part, filter=node, segment_id=segment_id)

    @strawberry.field(
        graphql_type=list[Contact],
        description=(
            "The contacts that have a phone, or an e-mail address in any case; of both where both are given. At most "
            "100, the oldest first."
        ),
        directives=guarded("contacts:read", "invalid_phone"),
    )
    async def find_contacts(
        self,
        info: Info,
        phone: Annotated[str | None, strawberry.argument(description=f"The whole phone. {PHONE}")] = None,
        email: Annotated[str | None, strawberry.argument(description="The whole e-mail address.")] = None,
    ) -> Sequence[models.Contact]:
        """Return the contacts with a phone or an address."""
        return await service.find_exact(info.context.unit, phone, email)


def _needed(filter: SegmentFilter | None, segment_id: int | None, sort: ContactSort) -> Iterator[Scope]:
    """Yield the further scopes that a list needs, because it tells of messages and of conversations."""
    if filter is not None or segment_id is not None:
        yield Scope.campaigns_read
    if sort is ContactSort.last_message:
        yield Scope.conversations_read
