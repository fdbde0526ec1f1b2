"""Lists of the contract: connections with nodes, a count and cursors."""

from typing import Annotated, Generic, TypeVar

import strawberry

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import NO_CURSOR, Page, Window
from app.graphql.core.context import Info
from app.graphql.core.scalars import BigInt

T = TypeVar("T")

First = Annotated[int, strawberry.argument(description="How many to return, 1 to 200.")]
After = Annotated[
    str | None,
    strawberry.argument(description="Return what follows this cursor, an `end_cursor` of the same list and order."),
]
Offset = Annotated[int, strawberry.argument(description="Leave out this many first.")]


@strawberry.type(description="Where a page of a list stands.")
class PageInfo:
    """Whether more follows, and from where."""

    has_next_page: bool = strawberry.field(description="True when more follows.")
    end_cursor: str | None = strawberry.field(description="Pass this as `after` to get what follows.")


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    """One page of a list, as the contract shows it."""

    nodes: list[T] = strawberry.field(description="The items of this page.")

    @strawberry.field(description="How many items the whole list has.")
    async def total_count(self) -> BigInt:
        """Count the whole list; only a query that asks for it pays for it."""
        return BigInt(await _page(self).total())

    @strawberry.field(description="Where this page stands.")
    def page_info(self, info: Info) -> PageInfo:
        """Return whether more follows."""
        page, context = _page(self), info.context
        place, account_id = page.end_cursor, context.unit.actor.account_id
        cursor = None if place is None else context.services.cursors.close(place, account_id, page.name)
        return PageInfo(has_next_page=page.has_next_page, end_cursor=cursor)


def window(info: Info, name: str, first: int, after: str | None, offset: int) -> Window:
    """Return which part of a list is wanted, whose name says its order too; raise `InvalidInput` for a wrong cursor."""
    if after is None:
        return Window(first, None, offset, name)
    place = info.context.services.cursors.open(after, info.context.unit.actor.account_id, name)
    if place is None:
        raise InvalidInput(reason=NO_CURSOR)
    return Window(first, place, offset, name)


def _page(root: object) -> Page[object]:
    """Resolvers give kernel pages where the contract says connection."""
    assert isinstance(root, Page)
    return root  # pyright: ignore[reportUnknownVariableType]
