"""Files that imports read: the next rows are read in a thread while earlier ones are written."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice

from app.domain.bulk.candidates import Candidate


class OpenFile:
    """The rows of a file from the `place` on, of which the next `size` are read in advance."""

    def __init__(self, rows: Iterator[Candidate], place: int, size: int) -> None:
        self.place = place
        self._rows = rows
        self._size = size
        self._next = self._begin()

    async def take(self) -> Sequence[Candidate]:
        """Return the next rows, fewer than `size` at the end only; raise the fault of a file that cannot be read."""
        found = await self._next
        self.place += len(found)
        if len(found) == self._size:
            self._next = self._begin()
        return found

    def _begin(self) -> asyncio.Future[list[Candidate]]:
        reading = asyncio.get_running_loop().run_in_executor(None, lambda: list(islice(self._rows, self._size)))
        reading.add_done_callback(_forget_fault)
        return reading


def _forget_fault(reading: asyncio.Future[list[Candidate]]) -> None:
    """Mark the fault of rows as seen, because those of an import that was canceled are never taken."""
    if not reading.cancelled():
        reading.exception()
