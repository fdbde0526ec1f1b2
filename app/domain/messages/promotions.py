"""Limits the promotional texts in progress, so that urgent texts wait for little other work.

While urgent texts come, few promotional texts are begun at a time, and none afterwards for as long as these took. So
the process and the database have at least half of their time for others, however slow they are.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

AT_ONCE = 50
"""The most promotional texts of one claim."""

AT_MOST = 100
"""The most promotional texts in progress: the first urgent text waits for these."""

BESIDE_URGENT = 8
"""The most promotional texts in progress while urgent texts come."""

LONGEST_REST = 0.5
"""Seconds: a longer wait for a few texts does not come from the work on promotions."""

URGENT_SECONDS = 2.0
"""The time after an urgent text in which others are expected."""


@dataclass(slots=True)
class Promotions:
    """The promotional texts in progress in a process: their calls are being begun, or the answers recorded.

    Those that wait for a carrier's answer are not in progress: they cost nothing, however slow the carrier is. So the
    limit slows promotions only as far as the process and the database need time for each. The last half of a limit is
    not waited for, because a few texts may take long.
    """

    on_room: Callable[[], None]
    _in_progress: int = 0
    _urgent_until: float = 0.0
    _begun_at: float | None = None
    _rests_until: float = 0.0
    _is_awaited: bool = False

    def note_urgent(self) -> None:
        """Limit the promotional texts in progress for a while, because an urgent text was claimed."""
        self._urgent_until = _now() + URGENT_SECONDS

    def find_room(self) -> int:
        """Return the number of texts to claim at most; if none, `on_room` is called when there is room."""
        self._is_awaited = self._is_resting or self._in_progress > self._limit // 2
        if self._is_awaited:
            return 0
        self._begun_at = _now()
        return min(AT_ONCE, self._limit - self._in_progress)

    @contextmanager
    def work(self) -> Generator[None]:
        """Count a text as in progress for a block."""
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1
            if self._in_progress <= self._limit // 2:
                self._rest()

    @property
    def _limit(self) -> int:
        return BESIDE_URGENT if _now() < self._urgent_until else AT_MOST

    @property
    def _is_resting(self) -> bool:
        return _now() < min(self._rests_until, self._urgent_until)

    def _rest(self) -> None:
        """Rest for as long as has passed since the last claim began, and announce room afterwards."""
        if self._begun_at is not None:
            taken = min(_now() - self._begun_at, LONGEST_REST)
            self._begun_at, self._rests_until = None, _now() + taken
            asyncio.get_running_loop().call_later(taken, self._end_rest)
        if not self._is_resting:
            self._announce()

    def _end_rest(self) -> None:
        self._rests_until = 0.0
        self._announce()

    def _announce(self) -> None:
        if self._is_awaited:
            self._is_awaited = False
            self.on_room()


def _now() -> float:
    return asyncio.get_running_loop().time()
