"""The feed of an account: reads the updates after a position.

The id of an event cannot be the position, because ids are assigned before the commit: a lower id may become visible
after a higher one. Therefore `live.reactions` numbers the live events of an account at their dispatch, in a transaction
that locks the account. A reader that sees a position also sees all earlier ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.db.engine import Pool
from app.domain.kernel.errors import DomainError
from app.domain.kernel.events import UpdateKind, live_kind_of
from app.domain.kernel.micro_batcher import MicroBatcher

MAX_MISSED = 1000
PAGE = 100
MAX_READS = 200
"""The maximum number of reads in one statement."""

Place = tuple[int, int]
"""An account, and a position in its feed."""

FIND_BOUNDS = "SELECT coalesce(min(position), 1), coalesce(max(position), 0) FROM live_updates WHERE account_id = $1"

READ = """
SELECT asked.account_id, asked.position AS after, live.*
FROM unnest($1::bigint[], $2::bigint[]) AS asked(account_id, position) CROSS JOIN LATERAL (
  SELECT position, name, happened_at, contact_id, message_id, job_id, campaign_id, conversation_id, actor,
    note_id, agent_id, run_id
  FROM live_updates
  WHERE account_id = asked.account_id AND position > asked.position ORDER BY position LIMIT $3
) live ORDER BY live.position
"""
"""Reads the first `$3` updates of each account `$1` after its position `$2`."""


class UpdatesMissed(DomainError):
    """The update in `after` is too old (1,000 updates or 24 hours), or unknown: load the displayed data again."""

    code = "updates_missed"
    status = 410
    message = "Updates cannot be replayed from {after}. Reload the displayed data, and subscribe without `after`."


@dataclass(frozen=True, slots=True)
class Update:
    """A live update. `id` is its position; the other ids are None when it is not about such a record.

    `actor` is the label of the actor that caused it, where that is known.
    """

    id: int
    kind: UpdateKind
    at: datetime
    contact_id: int | None
    message_id: int | None
    job_id: int | None
    campaign_id: int | None
    conversation_id: int | None
    actor: str | None
    note_id: int | None
    agent_id: int | None
    run_id: int | None


class Feed:
    """Reads live updates. Streams that read at the same time share one statement, and equal reads share one result."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._reads: MicroBatcher[Place, list[Update]] = MicroBatcher(self._read_all, MAX_READS)

    async def start(self, account_id: int, after: int | None) -> int:
        """Return the position to read from: after the update `after`, or after the newest one.

        Raises `UpdatesMissed` when `after` is too old or does not exist yet.
        """
        oldest, newest = await self._pool.fetchrow(FIND_BOUNDS, account_id)
        if after is None:
            return newest
        if not max(oldest - 1, newest - MAX_MISSED) <= after <= newest:
            raise UpdatesMissed(after=after)
        return after

    async def read(self, account_id: int, position: int) -> list[Update]:
        """Return the updates after a position, in order; after a full `PAGE` there may be more."""
        return await self._reads((account_id, position))

    async def _read_all(self, places: Sequence[Place]) -> list[list[Update]]:
        found: dict[Place, list[Update]] = {place: [] for place in places}
        accounts, positions = zip(*found, strict=True)
        for row in await self._pool.fetch(READ, accounts, positions, PAGE):
            about = row["contact_id"], row["message_id"], row["job_id"], row["campaign_id"], row["conversation_id"]
            about = *about, row["actor"], row["note_id"], row["agent_id"], row["run_id"]
            update = Update(row["position"], _kind(row["name"]), row["happened_at"], *about)
            found[row["account_id"], row["after"]].append(update)
        return [found[place] for place in places]


def _kind(name: str) -> UpdateKind:
    kind = live_kind_of(name)
    assert kind, f"{name} has a position and no live kind"
    return kind
