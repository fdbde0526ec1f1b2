"""Pages of long lists, by cursors in both directions and by offsets."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Subquery,
    bindparam,
    func,
    literal,
    literal_column,
    select,
    true,
)

from app.domain.kernel import records
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.json_texts import Entity, Shape, has_links, text_of
from app.domain.kernel.orders import Order
from app.domain.kernel.relations import Relation
from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")
AnySelect = Select[*tuple[Any, ...]]

DEFAULT_SIZE = 50
MAX_SIZE = 200
MAX_OFFSET = 10_000
OFFSET_LIMIT = f"offset must be from 0 to {MAX_OFFSET}. To read on from there, give the cursor of an item as after."
MAX_COUNTED = 10_000
"""The limit of exact counts, because a count reads all rows, in most lists those of an index."""

QUICK_SECONDS = 0.25
"""The time in which a page of a narrowed list is searched in the order of the list; see `fetch`."""

ONE_PROCESS = "max_parallel_workers_per_gather"
"""The setting of the number of processes that help with a statement."""

MAX_STATEMENTS = 64
"""The number of statements for the pages of several owners that are kept, one for each window."""

ACCOUNT, OWNERS = "account_id", "owners"
"""The parameters of these statements; the first is also the column of the account."""

TEXT = "text"
"""The column of the JSON of a row."""


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a list: the `first` rows, or the `last` ones, between the places `after` and `before`.

    A place is the sort values of a row, so it stays valid after the row is deleted. `offset` rows are skipped at the
    start. `name` is the name of the list. `columns` are the attributes of rows that are read; None stands for all. With
    a `shape`, rows are read as JSON where possible.
    """

    first: int | None = None
    after: str | None = None
    offset: int = 0
    name: str = ""
    last: int | None = None
    before: str | None = None
    columns: frozenset[str] | None = None
    shape: Shape | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for contradictory arguments or sizes outside the limits."""
        if self.first is not None and self.last is not None:
            raise InvalidInput(reason="first and last must not be given together. Give one of the two.", field="last")
        if not 1 <= self.size <= MAX_SIZE:
            name = "last" if self.is_backward else "first"
            raise InvalidInput(reason=f"{name} must be from 1 to {MAX_SIZE}.", field=name)
        if not 0 <= self.offset <= MAX_OFFSET:
            raise InvalidInput(reason=OFFSET_LIMIT, field="offset")
        if self.offset and (self.is_backward or self.before is not None):
            raise InvalidInput(reason="offset must not be given with last or before.", field="offset")

    @property
    def is_backward(self) -> bool:
        """Return whether the window selects the last rows."""
        return self.last is not None

    def form_of(self, kind: type[T], entity: Entity) -> "Form[T]":
        """Return the form in which rows of a class, or of its alias, are read.

        PostgreSQL makes the JSON of the rows of an offset too, and would read their linked records.
        """
        shape = None if self.offset and self.shape and has_links(self.shape) else self.shape
        if shape and (text := text_of(entity, shape)) is not None:
            return Form({TEXT: text}, records.show)
        names = records.names_among(kind, self.columns)
        return Form({name: getattr(entity, name) for name in names}, partial(records.read, kind, names=names))

    @property
    def size(self) -> int:
        """Return the maximum number of rows."""
        given = self.first if self.last is None else self.last
        return DEFAULT_SIZE if given is None else given


class Form(NamedTuple, Generic[T]):
    """The form of the items of a list: the columns that are selected, and what makes an item of those of each row."""

    columns: Mapping[str, ColumnElement[Any]]
    read: Callable[[Sequence[Sequence[Any]]], list[list[Any]]]


@dataclass(frozen=True, slots=True)
class Total:
    """The length of a whole list; if not exact, a lower bound."""

    count: int
    is_exact: bool = True

    @classmethod
    def of(cls, counted: int, limit: int | None = None) -> "Total":
        """Return the total of a count that ended one after its limit, by default `MAX_COUNTED`."""
        limit = MAX_COUNTED if limit is None else limit
        return cls(min(counted, limit), counted <= limit)


Counter = Callable[[], Awaitable["Total"]]
"""Counts a list in another way than by its statement."""


@dataclass(slots=True)
class Page(Generic[T]):
    """Part of a list. The total and the rows before and after it are queried only on request."""

    nodes: Sequence[T]
    window: Window
    _unit: UnitOfWork
    _select: Callable[[], Select[T]]
    _order: Order
    _rows: Sequence[Sequence[Any]]
    _has_more: bool
    _counter: Counter | None
    _total: Total | None = None
    _counting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def start_cursor(self) -> str | None:
        """Return the place of the first row."""
        return self.place(0) if self.nodes else None

    @property
    def end_cursor(self) -> str | None:
        """Return the place of the last row."""
        return self.place(-1) if self.nodes else None

    def place(self, index: int) -> str:
        """Return the place of a row of the page."""
        return orjson.dumps(list(self._rows[index][1:])).decode()

    async def has_previous_page(self) -> bool:
        """Return whether the list has rows before this page."""
        window = self.window
        if window.is_backward and self._has_more:
            return True
        if window.after is None and not window.offset:
            return False
        return await self._has_rows(self._order.reversed, self.start_cursor, window.after, "after")

    async def has_next_page(self) -> bool:
        """Return whether the list has rows after this page."""
        window = self.window
        if not window.is_backward and self._has_more:
            return True
        if window.before is None:
            return False
        return await self._has_rows(self._order, self.end_cursor, window.before, "before")

    async def total(self) -> Total:
        """Return the length of the whole list; without a counter, count up to `MAX_COUNTED`."""
        async with self._counting:
            if self._total is None:
                counter = self._counter or partial(count, self._unit, self._select())
                self._total = await counter()
        return self._total

    async def _has_rows(self, order: Order, edge: str | None, bound: str | None, argument: str) -> bool:
        """Return whether there are rows beyond the edge of the page; for an empty page, at or beyond its bound."""
        statement = _bare(self._select())
        if edge is not None:
            statement = statement.where(order.follows(edge, argument))
        elif bound is not None:
            statement = statement.where(order.follows(bound, argument, inclusive=True))
        return bool(await self._unit.one(statement.order_by(*order.sorting).limit(1)))


async def count(unit: UnitOfWork, statement: Select[Any], limit: int | None = None) -> Total:
    """Return the number of a statement's rows, counted in its order, if any, up to a limit or `MAX_COUNTED`."""
    counted = _bare(statement).limit((MAX_COUNTED if limit is None else limit) + 1).subquery()
    return Total.of(await unit.one(select(func.count()).select_from(counted)) or 0, limit)


async def plan_for_values(unit: UnitOfWork) -> None:
    """Have the statements of this transaction planned for their values, and run by one process each.

    PostgreSQL keeps a plan for any values after five runs: for a list that a text or a tag narrows, it reads and sorts
    all that match. Other processes would take 40 ms to start, for rows that an index finds in less than 1 ms.
    """
    settings = func.set_config("plan_cache_mode", "force_custom_plan", True), func.set_config(ONE_PROCESS, "0", True)
    await unit.rows(select(*settings))


async def fetch(
    unit: UnitOfWork,
    statement: Select[T],
    order: Order,
    window: Window,
    counter: Counter | None = None,
    *,
    is_narrowed: bool = False,
) -> Page[T]:
    """Return one page of the rows of a statement that selects a class, or an alias of one.

    PostgreSQL reads an index in the order of the list until it has a page. That takes seconds for a list that other
    conditions narrow, where the rows of the page are far apart: then it is ended after `QUICK_SECONDS`, and all rows of
    the list are found and sorted.
    """
    selected = statement.column_descriptions[0]
    kind: type[T] = selected["type"]
    form = window.form_of(kind, selected["expr"])
    wanted = statement.with_only_columns(*form.columns.values(), *order.columns, maintain_column_froms=True)
    rows = await unit.try_within(QUICK_SECONDS, _windowed(wanted, order, window)) if is_narrowed else None
    if rows is None:
        rows = await unit.rows_apart(_windowed(wanted, order.unindexed if is_narrowed else order, window))
    return _cut(form.read(rows), unit, lambda: statement, order, window, counter)


async def fetch_each(
    unit: UnitOfWork, relation: Relation[T], owners: Sequence[int], window: Window
) -> dict[int, Page[T]]:
    """Return one page of the list of each owner; one statement reads them all."""
    kind, owner, order = relation.kind, relation.owner, relation.order
    assert order
    asked = {ACCOUNT: unit.actor.account_id, OWNERS: owners}
    found = await unit.rows_apart(_select_each(kind, owner, order, window), asked)
    rows: dict[int, list[Sequence[Any]]] = {id: [] for id in owners}
    for row in window.form_of(kind, kind).read(found):
        rows[row.pop()].append(row)
    own = partial(_select_own, unit, kind, owner)
    totals = _Totals(unit, own, owners)
    return {
        id: _cut(found, unit, partial(own, id), order, window, partial(totals.count, id)) for id, found in rows.items()
    }


@lru_cache(MAX_STATEMENTS)
def _select_each(kind: type[Any], owner: SQLColumnExpression[int], order: Order, window: Window) -> AnySelect:
    """Return the statement of `fetch_each`, whose parameters are the account and the owners; making it takes 3 ms."""
    wanted = _rows_of(bindparam(OWNERS, type_=ARRAY(BigInteger)))
    own = getattr(kind, ACCOUNT) + 0 == bindparam(ACCOUNT)  # no key: see `json_texts`
    shown = window.form_of(kind, kind).columns
    inner = {
        **{name: column.label(name) for name, column in shown.items()},
        **{str(column.key): column for column in order.columns},
    }
    one = _windowed(select(*inner.values()).where(own, owner == wanted.c.id), order, window).lateral()
    keys = Order(tuple(one.c[str(column.key)] for column in order.columns), order.descending)
    sorting = (keys.reversed if window.is_backward else keys).sorting
    return (
        select(*(one.c[name] for name in shown), *keys.columns, wanted.c.id)
        .select_from(wanted.join(one, true()))
        .order_by(*sorting)
    )


def _select_own(
    unit: UnitOfWork, kind: type[T], owner: SQLColumnExpression[int], id: int | ColumnElement[int]
) -> Select[T]:
    """Return the statement of the rows of one owner; few pages need it."""
    return select(kind).where(getattr(kind, ACCOUNT) == unit.actor.account_id, owner == id)


def _cut(
    rows: Sequence[Sequence[Any]],
    unit: UnitOfWork,
    select_all: Callable[[], Select[T]],
    order: Order,
    window: Window,
    counter: Counter | None,
) -> Page[T]:
    """Make a page of the rows that `_windowed` selects: an item each, and the values that it is sorted by."""
    shown = rows[: window.size][:: -1 if window.is_backward else 1]
    return Page([row[0] for row in shown], window, unit, select_all, order, shown, len(rows) > window.size, counter)


class _Totals:
    """The totals of the lists of several owners, which one statement counts when the first is asked for."""

    def __init__(
        self, unit: UnitOfWork, select_own: Callable[[ColumnElement[int]], Select[Any]], owners: Sequence[int]
    ) -> None:
        self._unit = unit
        self._select_own = select_own
        self._owners = owners
        self._counting = asyncio.Lock()
        self._counts: dict[int, int] = {}

    async def count(self, id: int) -> Total:
        """Return the length of the list of one owner."""
        async with self._counting:
            if not self._counts:
                self._counts = await self._count()
        return Total.of(self._counts[id])

    async def _count(self) -> dict[int, int]:
        wanted = _rows_of(literal(self._owners, ARRAY(BigInteger())))
        some = _bare(self._select_own(wanted.c.id)).limit(MAX_COUNTED + 1).lateral()
        counts = select(wanted.c.id, func.count(some.c.one)).select_from(wanted.outerjoin(some, true()))
        rows = await self._unit.rows(counts.group_by(wanted.c.id))
        return {row[0]: row[1] for row in rows}


def _rows_of(ids: ColumnElement[Sequence[int]]) -> Subquery:
    return select(func.unnest(ids).label("id")).subquery()


def _windowed(statement: AnySelect, order: Order, window: Window) -> AnySelect:
    """Select the rows of a window, and one more, from the side where it begins."""
    if window.after is not None:
        statement = statement.where(order.follows(window.after, "after"))
    if window.before is not None:
        statement = statement.where(order.reversed.follows(window.before, "before"))
    sorting = (order.reversed if window.is_backward else order).sorting
    return statement.order_by(*sorting).offset(window.offset).limit(window.size + 1)


def _bare(statement: Select[Any]) -> Select[Any]:
    return statement.with_only_columns(literal_column("1", Integer).label("one"), maintain_column_froms=True)
