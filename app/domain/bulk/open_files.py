"""Files that imports read: the next rows are read in a thread while earlier ones are written."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from app.domain.bulk.candidates import Candidate


class Taken(NamedTuple):
    """The next rows of a file, and whether they are the last ones."""

    rows: Sequence[Candidate]
    is_last: bool


class OpenFile:
    """The rows of a file from the `place` on, of which the next `size` are read in advance.

    Fewer are read where `opt_outs` of them are opted out.
    """

    def __init__(self, rows: Iterator[Candidate], place: int, size: int, opt_outs: int) -> None:
        self.place = place
        self._rows = rows
        self._size = size
        self._opt_outs = opt_outs
        self._next = self._begin()

    async def take(self) -> Taken:
        """Return the next rows; raise the fault of a file that cannot be read."""
        taken = await self._next
        self.place += len(taken.rows)
        if not taken.is_last:
            self._next = self._begin()
        return taken

    def _begin(self) -> asyncio.Future[Taken]:
        reading = asyncio.get_running_loop().run_in_executor(None, self._read)
        reading.add_done_callback(_forget_fault)
        return reading

    def _read(self) -> Taken:
        found, left = list[Candidate](), self._opt_outs
        for row in islice(self._rows, self._size):
            found.append(row)
            left -= row.opted_out
            if not left:
                break
        return Taken(found, is_last=left > 0 and len(found) < self._size)


def _forget_fault(reading: asyncio.Future[Taken]) -> None:
    """Mark the fault of rows as seen, because those of an import that was canceled are never taken."""
    if not reading.cancelled():
        reading.exception()
