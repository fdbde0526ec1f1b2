"""Loaders, which read the records of many keys at once, and the pauses of an operation."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from app.domain.kernel.relations import AnyRelation

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

Pause = Callable[[], Awaitable[None]]
"""Lets others go on, in the middle of an operation that computes for long."""


class Pauses:
    """Counts the parts of an operation that pause, so that loaders wait for them."""

    def __init__(self) -> None:
        self._pausing = 0
        self._resumed = asyncio.Event()

    def counted(self, pause: Pause) -> Pause:
        """Return a pause that is counted until it ends."""

        async def count() -> None:
            self._pausing += 1
            self._resumed.clear()
            try:
                await pause()
            finally:
                self._pausing -= 1
                if not self._pausing:
                    self._resumed.set()

        return count

    async def all_end(self) -> None:
        """Wait until no part of the operation pauses: the next part of one may begin another pause at once."""
        await asyncio.sleep(0)
        while self._pausing:
            await self._resumed.wait()
            await asyncio.sleep(0)


class Load(NamedTuple, Generic[T]):
    """A value that a loader reads when it is awaited, together with those of other keys."""

    loader: "Loader[Any]"
    key: Any

    def __await__(self) -> Generator[Any, None, T]:
        """Read the value."""
        [value] = yield from self.loader.load([self.key]).__await__()
        return value


Resolver = TypeVar("Resolver", bound=Callable[..., Any])

_READ: dict[Callable[..., Any], frozenset[str]] = {}


def reads(*attributes: str) -> Callable[[Resolver], Resolver]:
    """Declare the attributes of an object that a resolver reads, so that a list selects only the needed columns."""

    def declare(resolver: Resolver) -> Resolver:
        _READ[resolver] = frozenset(attributes)
        return resolver

    return declare


_LINKED: dict[Callable[..., Any], tuple[AnyRelation, str]] = {}


def links(relation: AnyRelation, attribute: str) -> Callable[[Resolver], Resolver]:
    """Declare that a resolver returns the records of a relation whose owner is in an attribute, and nothing else.

    A list of objects is then read together with these records, where all of them are only shown.
    """

    def declare(resolver: Resolver) -> Resolver:
        _READ[resolver], _LINKED[resolver] = frozenset([attribute]), (relation, attribute)
        return resolver

    return declare


def link_of(resolver: Callable[..., Any]) -> tuple[AnyRelation, str] | None:
    """Return the relation that a resolver is declared to follow, and the attribute of the owner."""
    return _LINKED.get(resolver)


def attributes_of(resolver: Callable[..., Any]) -> frozenset[str] | None:
    """Return the attributes that a resolver is declared to read; None if it may read any."""
    return _READ.get(resolver)


class Asked(NamedTuple, Generic[K]):
    """Keys that are asked together, and the future of their values."""

    keys: Sequence[K]
    values: asyncio.Future[list[Any]]


class Loader(Generic[K]):
    """Loads values by key: those of a level of a query together, and each once."""

    def __init__(self, load_all: Callable[[list[K]], Awaitable[Sequence[Any]]], pauses: Pauses) -> None:
        self._load_all = load_all
        self._pauses = pauses
        self._values: dict[K | None, Any] = {None: None}
        self._waiting: list[Asked[K]] = []
        self._reading = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def load(self, keys: Sequence[K]) -> asyncio.Future[list[Any]]:
        """Return the values of keys, which are read once no part of the operation pauses; that of no key is None."""
        asked = Asked(keys, asyncio.get_running_loop().create_future())
        if all(key in self._values for key in keys):
            self._answer(asked)
            return asked.values
        self._waiting.append(asked)
        if len(self._waiting) == 1:
            task = asyncio.create_task(self._read())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return asked.values

    async def _read(self) -> None:
        await self._pauses.all_end()
        waiting = self._waiting
        self._waiting = []
        async with self._reading:
            asked = [each for each in waiting if not each.values.done()]  # without those that were canceled
            keys = dict.fromkeys(chain.from_iterable(each.keys for each in asked))
            try:
                await self._read_all([key for key in keys if key not in self._values])
            except Exception as cause:
                for each in asked:
                    if not each.values.done():
                        each.values.set_exception(cause)
                return
        for each in asked:
            self._answer(each)

    async def _read_all(self, keys: list[K]) -> None:
        if keys:
            self._values.update(zip(keys, await self._load_all(keys), strict=True))

    def _answer(self, asked: Asked[K]) -> None:
        if not asked.values.done():
            asked.values.set_result([self._values[key] for key in asked.keys])
