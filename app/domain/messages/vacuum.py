"""Vacuum the queue while many texts leave: each claim goes through the index entries of those that left before.

Autovacuum looks at a table once a minute, and 200,000 texts may leave within one.
"""

from dataclasses import dataclass

from app.db.engine import Pool

EVERY = 10_000
"""The number of claimed texts after which a process vacuums the queue; that takes about 10 ms."""

VACUUM = "VACUUM (TRUNCATE FALSE, SKIP_LOCKED) outgoing"


@dataclass(slots=True)
class QueueVacuum:
    """Vacuums the queue after many claims of this process."""

    pool: Pool
    _claimed: int = 0

    def note(self, claimed: int) -> None:
        """Count claimed texts."""
        self._claimed += claimed

    async def run(self) -> None:
        """Vacuum the queue if many texts were claimed since the last time."""
        if self._claimed >= EVERY:
            self._claimed = 0
            await self.pool.execute(VACUUM)
