"""Limits the promotional texts in progress while urgent texts come, so that these wait for little other work."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

AT_ONCE = 50
"""The most promotional texts of one claim."""

BESIDE_URGENT = 16
"""The most promotional texts in progress while urgent texts come."""

URGENT_SECONDS = 2.0
"""The time after an urgent text in which others are expected."""


@dataclass(slots=True)
class Promotions:
    """The promotional texts in progress in a process: their calls are being begun, or the answers recorded.

    Those that wait for a carrier's answer are not in progress: they cost nothing, however slow the carrier is. So the
    limit slows promotions only as far as the process and the database need time for each.
    """

    on_room: Callable[[], None]
    _in_progress: int = 0
    _urgent_until: float = 0.0
    _is_awaited: bool = False

    def note_urgent(self) -> None:
        """Limit the promotional texts in progress for a while, because an urgent text was claimed."""
        self._urgent_until = asyncio.get_running_loop().time() + URGENT_SECONDS

    def find_room(self) -> int:
        """Return the number of texts to claim at most; if none, `on_room` is called when there is room."""
        if asyncio.get_running_loop().time() >= self._urgent_until:
            return AT_ONCE
        room = max(0, BESIDE_URGENT - self._in_progress)
        self._is_awaited = not room
        return room

    @contextmanager
    def work(self) -> Generator[None]:
        """Count a text as in progress for a block."""
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1
            if self._is_awaited and self._in_progress <= BESIDE_URGENT // 2:
                self._is_awaited = False
                self.on_room()
