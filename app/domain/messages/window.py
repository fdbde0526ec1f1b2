"""Window of calls to carriers: bounds how many are in flight in a process, and divides them fairly."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

SHORTEST_WAIT = 0.05
"""Seconds: the paced numbers that become free within this time are claimed together."""


class Room(NamedTuple):
    """The free slots of a window of a size, and the slots that each account and each carrier holds."""

    size: int
    free: int
    accounts: Counter[int]
    carriers: Counter[str]

    def part_of(self, account_id: int, carrier: str) -> int:
        """Return how many more calls to a carrier an account may make at most; 0 if too few to be worth a claim."""
        of_account, of_carrier = self.accounts[account_id], self.carriers[carrier]
        part = min((self.free - of_account + 1) // 2, (3 * self.free - of_carrier + 3) // 4)
        return part if part >= (_step_of(self.size) if of_account else 1) else 0


@dataclass(slots=True)
class Window:
    """The calls in flight, and how many slots each account and each carrier holds.

    While others wait, an account of weight 1, or a carrier, holds at most a quarter of the window (`division`). An
    account that is alone holds at most as many slots as it leaves free, and a carrier three times as many, so that the
    texts of others always find some (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2),
    1998).
    """

    size: int
    accounts: Counter[int] = field(default_factory=Counter)
    carriers: Counter[str] = field(default_factory=Counter)
    _calls: dict[asyncio.Task[None], tuple[int, str]] = field(default_factory=dict)
    _reserved: int = 0
    _ended: int = 0
    _is_awaited: bool = False
    _on_room: Callable[[], None] | None = None
    _timer: asyncio.TimerHandle | None = None

    @property
    def free(self) -> int:
        """Return how many slots are free."""
        return max(0, self.size - len(self._calls) - self._reserved)

    def room(self) -> Room:
        """Return the slots that are free now, for a claim."""
        return Room(self.size, self.free, self.accounts.copy(), self.carriers.copy())

    @contextmanager
    def reserve(self, slots: int, accounts: Iterable[int], carriers: Iterable[str]) -> Generator[None]:
        """Take slots for a claim in progress, as if each of some accounts and carriers held all of them."""
        held = Counter(dict.fromkeys(accounts, slots)), Counter(dict.fromkeys(carriers, slots))
        self._reserved += slots
        self.accounts += held[0]
        self.carriers += held[1]
        try:
            yield
        finally:
            self._reserved -= slots
            self.accounts -= held[0]
            self.carriers -= held[1]

    def start(self, account_id: int, carrier: str, call: Coroutine[Any, Any, None]) -> None:
        """Run a call in a slot."""
        task = asyncio.create_task(call)
        self._calls[task] = account_id, carrier
        self.accounts[account_id] += 1
        self.carriers[carrier] += 1
        task.add_done_callback(self._end)

    def watch(self, on_room: Callable[[], None]) -> None:
        """Have a function called when there is the room that `await_room` waits for."""
        self._on_room = on_room

    def await_room(self) -> None:
        """Announce when a sixteenth of the window, or every call, has ended."""
        self._ended, self._is_awaited = 0, True

    def announce(self) -> None:
        """Announce that texts may be claimed again."""
        if self._on_room:
            self._on_room()

    def announce_in(self, seconds: float) -> None:
        """Announce after a wait that texts may be claimed again, unless that is announced earlier."""
        loop = asyncio.get_running_loop()
        at = loop.time() + max(seconds, SHORTEST_WAIT)
        if self._timer and loop.time() < self._timer.when() <= at:
            return
        if self._timer:
            self._timer.cancel()
        self._timer = loop.call_at(at, self.announce)

    async def finish(self) -> None:
        """Wait for the calls in flight; cancel them if the wait is cancelled."""
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _end(self, task: asyncio.Task[None]) -> None:
        account_id, carrier = self._calls.pop(task)
        _take_one(self.accounts, account_id)
        _take_one(self.carriers, carrier)
        self._ended += 1
        if not task.cancelled() and (error := task.exception()):
            context = {"message": "the result of a call to a carrier was not recorded", "exception": error}
            task.get_loop().call_exception_handler(context)
        if self._is_awaited and (self._ended >= _step_of(self.size) or not self._calls):
            self._is_awaited = False
            self.announce()


def _step_of(size: int) -> int:
    return max(1, size // 16)


def _take_one(counter: Counter[T], key: T) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
