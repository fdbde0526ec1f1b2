"""Loaders, which read the records of many keys at once, and the pauses of an operation."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

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
        return self.start().__await__()

    def start(self) -> asyncio.Future[T]:
        """Ask the loader for the value."""
        return self.loader.load(self.key)


Resolver = TypeVar("Resolver", bound=Callable[..., Any])

_READ: dict[Callable[..., Any], frozenset[str]] = {}


def reads(*attributes: str) -> Callable[[Resolver], Resolver]:
    """Declare the attributes of an object that a resolver reads, so that a list selects only the needed columns."""

    def declare(resolver: Resolver) -> Resolver:
        _READ[resolver] = frozenset(attributes)
        return resolver

    return declare


def attributes_of(resolver: Callable[..., Any]) -> frozenset[str] | None:
    """Return the attributes that a resolver is declared to read; None if it may read any."""
    return _READ.get(resolver)


class Loader(Generic[K]):
    """Loads values by key: those of a level of a query together, and each once."""

    def __init__(self, load_all: Callable[[list[K]], Awaitable[Sequence[Any]]], pauses: Pauses) -> None:
        self._load_all = load_all
        self._pauses = pauses
        self._values: dict[K, asyncio.Future[Any]] = {}
        self._waiting: list[K] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def load(self, key: K) -> asyncio.Future[Any]:
        """Return the value of a key, which is read once no part of the operation pauses; that of no key is None."""
        if key not in self._values:
            self._values[key] = asyncio.get_running_loop().create_future()
            if key is None:
                self._values[key].set_result(None)
                return self._values[key]
            self._waiting.append(key)
            if len(self._waiting) == 1:
                task = asyncio.create_task(self._read())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return self._values[key]

    async def _read(self) -> None:
        await self._pauses.all_end()
        keys, self._waiting = self._waiting, []
        waiting = [self._values[key] for key in keys]
        if all(future.done() for future in waiting):  # the operation was canceled
            return
        try:
            values = await self._load_all(keys)
        except Exception as cause:
            for future in waiting:
                if not future.done():
                    future.set_exception(cause)
            return
        for future, value in zip(waiting, values, strict=True):
            if not future.done():
                future.set_result(value)
