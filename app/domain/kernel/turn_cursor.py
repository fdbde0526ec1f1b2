"""Gives the values of a column, such as the accounts with due work, their turns in the claims of a process."""

from dataclasses import dataclass

from app.db.engine import Pool
from app.domain.kernel.sql import MOST_TURNS


@dataclass(slots=True)
class TurnCursor:
    """Finds the values of the next turn by a statement of `find_turns`, in each claim those after the last ones."""

    statement: str
    _after: int = 0

    async def find(self, pool: Pool) -> list[int]:
        """Return the values of the next turn, from the first one again after the last."""
        found = [row[0] for row in await pool.fetch(self.statement, self._after)]
        self._after = found[-1] if len(found) == MOST_TURNS else 0
        return found
