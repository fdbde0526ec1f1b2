"""The context of resolvers."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_type_hints

import strawberry

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.json_texts import Shape
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.graphql.core.loading import Load, Loader, Pause, Pauses
from app.services import Services

T = TypeVar("T")

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Find = Callable[[UnitOfWork, list[K]], Awaitable[Mapping[K, V]]]
"""A batch query of an area: the records that it finds, by key."""

FindRows = Callable[[UnitOfWork, list[K]], Awaitable[Sequence[V]]]
"""A batch query of an area that finds several rows for a key."""


@dataclass(slots=True)
class Context:
    """One operation's unit and the services.

    `replayed` is set when an idempotency key was answered before. `last_event_id` is where a client that lost its
    stream wants to go on. `pause` is there for an operation that computes for long. With `as_text`, objects of lists
    may be fragments of JSON.
    """

    unit: UnitOfWork
    services: Services
    replayed: bool = False
    last_event_id: int | None = None
    pause: Pause | None = None
    as_text: bool = False
    _pauses: Pauses = field(default_factory=Pauses)
    _loaders: dict[object, Loader[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Count the pauses that have not ended."""
        if self.pause:
            self.pause = self._pauses.counted(self.pause)

    def load(self, find: Find[K, V], key: K | None) -> Load[V | None]:
        """Load the record of a key by an area's batch query, or None; one level of a query asks once for all keys."""

        async def load_all(keys: list[K]) -> list[V | None]:
            found = await find(self.unit, keys)
            return [found.get(key) for key in keys]

        return self._load(find, load_all, key)

    def load_rows(self, find: FindRows[K, V], by: str, key: K) -> Load[list[V]]:
        """Load the rows that an area's batch query finds for a key; `by` is the attribute that holds the key."""

        async def load_all(keys: list[K]) -> list[list[V]]:
            found: dict[K, list[V]] = {key: [] for key in keys}
            for row in await find(self.unit, keys):
                found[getattr(row, by)].append(row)
            return list(found.values())

        return self._load(find, load_all, key)

    def _load(self, find: object, load_all: Callable[[list[K]], Awaitable[list[Any]]], key: K | None) -> Load[Any]:
        loader = self._loaders.get(find)
        if loader is None:
            loader = self._loaders[find] = Loader(load_all, self._pauses)
        return Load(loader, key)


Info = strawberry.Info[Context, None]


class Reading(NamedTuple):
    """The attributes of the records of a list that are read, None for all; a shape, if each is one object of JSON."""

    columns: frozenset[str] | None = None
    shape: Shape | None = None


ALL = Reading()


@dataclass
class PlannedInfo(Info):
    """The `info` of a resolver in a plan, with the reading of its records, and the window of a list once known."""

    reading: Reading = ALL
    window: Window | None = None


def columns_of(info: Info) -> frozenset[str] | None:
    """Return the attributes that a query reads of the records that a field leads to; None for all."""
    return info.reading.columns if isinstance(info, PlannedInfo) else None


def row_of(root: object, kind: type[T]) -> T:
    """Return the row that a resolver returned in place of its GraphQL type."""
    assert isinstance(root, kind)
    return root


def given(values: dict[str, Any], shape: type[T]) -> T:
    """Return the fields that the caller wrote, and none that were left out.

    Raises `InvalidInput` for a null where the shape takes none. Fields are `Maybe[… | None]` for that: of a null for
    `Maybe[…]` Strawberry says neither the name nor anything that a caller understands.
    """
    written = {name: value.value for name, value in values.items() if value is not None}
    for name, value in written.items():
        if value is None and name not in _emptiable(shape):
            raise InvalidInput(reason=f"{name} must not be null. Leave it out to keep the present value.", field=name)
    return cast("T", written)


@cache
def _emptiable(shape: type) -> frozenset[str]:
    """Return the fields of a shape that may be null."""
    return frozenset(name for name, hint in get_type_hints(shape).items() if NoneType in get_args(hint))
