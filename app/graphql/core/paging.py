"""Lists of the contract: connections with nodes, edges, a count and cursors."""

from typing import Annotated, Any, Generic, TypeVar, cast

import strawberry

from app.domain.kernel.orders import invalid_cursor
from app.domain.kernel.paging import DEFAULT_SIZE, MAX_COUNTED, MAX_OFFSET, MAX_SIZE, Page, Window
from app.graphql.core.context import ALL, Info, PlannedInfo, Reading
from app.graphql.core.directives import Constraint
from app.graphql.core.scalars import BigInt

T = TypeVar("T")

First = Annotated[
    int | None,
    strawberry.argument(
        description=f"Number of items to return, 1 to {MAX_SIZE}; {DEFAULT_SIZE} without first and last.",
        directives=[Constraint(minimum=1, maximum=MAX_SIZE)],
    ),
]
After = Annotated[
    str | None,
    strawberry.argument(description="Return items that follow this cursor, which is of the same list and order."),
]
Last = Annotated[
    int | None,
    strawberry.argument(
        description=f"Return the last items instead, 1 to {MAX_SIZE}, in the same order. Not together with first.",
        directives=[Constraint(minimum=1, maximum=MAX_SIZE)],
    ),
]
Before = Annotated[
    str | None,
    strawberry.argument(description="Return items that precede this cursor, which is of the same list and order."),
]
Offset = Annotated[
    int,
    strawberry.argument(
        description=f"Number of items to skip, at most {MAX_OFFSET:,}; cursors reach further. Not with last or before.",
        directives=[Constraint(minimum=0, maximum=MAX_OFFSET)],
    ),
]


@strawberry.type(description="The position of a page in its list.")
class PageInfo:
    """Whether there is more before and behind a page, and the cursors to it; made from a kernel page."""

    @strawberry.field(description="True when the list has items behind this page.")
    async def has_next_page(self) -> bool:
        """Return whether there are rows behind the page."""
        return await _page(self).has_next_page()

    @strawberry.field(description="True when the list has items before this page.")
    async def has_previous_page(self) -> bool:
        """Return whether there are rows before the page."""
        return await _page(self).has_previous_page()

    @strawberry.field(description="The cursor of the first item: pass it as `before` to get the items before it.")
    def start_cursor(self, info: Info) -> str | None:
        """Return the cursor of the first row."""
        return _seal(info, _page(self), 0)

    @strawberry.field(description="The cursor of the last item: pass it as `after` to get the items after it.")
    def end_cursor(self, info: Info) -> str | None:
        """Return the cursor of the last row."""
        return _seal(info, _page(self), -1)


@strawberry.type(description="One item of a page, with its cursor.")
class Edge(Generic[T]):
    """One item of a page; its cursor is sealed only when asked for."""

    node: T = strawberry.field(description="The item.")
    page: strawberry.Private[Page[Any]]
    index: strawberry.Private[int]

    @strawberry.field(description="The item's place in the list, for `after` and `before`.")
    def cursor(self, info: Info) -> str:
        """Return the cursor of the item."""
        return _seal(info, self.page, self.index) or ""


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    """One page of a list; resolvers return kernel pages."""

    nodes: list[T] = strawberry.field(description="The items of this page.")

    @strawberry.field(description="The items of this page, each with its cursor.")
    def edges(self) -> list[Edge[T]]:
        """Return the items with their cursors."""
        page = _page(self)
        return [Edge(node=node, page=page, index=index) for index, node in enumerate(page.nodes)]

    @strawberry.field(
        description="Number of items in the whole list. Longer lists may be counted up to 1,000 or "
        f"{MAX_COUNTED:,} only: see total_is_exact."
    )
    async def total_count(self) -> BigInt:
        """Count the whole list; only a query that asks for it pays for it."""
        return BigInt((await _page(self).total()).count)

    @strawberry.field(description="False when the list has more items than total_count says.")
    async def total_is_exact(self) -> bool:
        """Return whether the list was counted to its end."""
        return (await _page(self).total()).is_exact

    @strawberry.field(description="The position of this page in the list.")
    def page_info(self) -> PageInfo:
        """Return the page itself, which has the cursors of its ends."""
        return cast("PageInfo", _page(self))


def window(
    info: Info, name: str, first: int | None, after: str | None, last: int | None, before: str | None, offset: int
) -> Window:
    """Return the wanted part of a list, whose name states its order too; raise `InvalidInput` for a wrong cursor.

    A plan resolves the lists of a level with one `info` and the same arguments, and so with one window.
    """
    if not isinstance(info, PlannedInfo):
        return _make_window(info, name, first, after, last, before, offset, ALL)
    if info.window is None:
        info.window = _make_window(info, name, first, after, last, before, offset, info.reading)
    return info.window


def _make_window(
    info: Info,
    name: str,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
    offset: int,
    reading: Reading,
) -> Window:
    places = {
        argument: open_cursor(info, argument, name, cursor)
        for argument, cursor in (("after", after), ("before", before))
    }
    shape = reading.shape if info.context.as_text else None
    return Window(first, offset=offset, name=name, last=last, columns=reading.columns, shape=shape, **places)


def open_cursor(info: Info, argument: str, name: str, cursor: str | None) -> str | None:
    """Return the place that a cursor of the named list seals; raise `InvalidInput` for another one."""
    if cursor is None:
        return None
    place = info.context.services.cursors.open(cursor, info.context.unit.actor.account_id, name)
    if place is None:
        raise invalid_cursor(argument)
    return place


def seal_cursor(info: Info, name: str, place: str) -> str:
    """Return the cursor of a place in the named list."""
    return info.context.services.cursors.close(place, info.context.unit.actor.account_id, name)


def _seal(info: Info, page: Page[Any], index: int) -> str | None:
    return seal_cursor(info, page.window.name, page.place(index)) if page.nodes else None


def _page(root: object) -> Page[Any]:
    """Resolvers give kernel pages where the contract says connection."""
    assert isinstance(root, Page)
    return root
