"""Posts the pending callbacks of the sandbox network over HTTP, as a real carrier does."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

import structlog

from app.db.claims import claim, persist
from app.db.engine import Pool
from app.domain.webhooks.poster import Poster
from app.providers.carriers.sandbox.callbacks import Callback, Kind, Payload, post

BATCH = 128
AT_ONCE = 64
LONGEST_PAUSE = 3600
MOST_AHEAD = 60.0
"""Seconds ahead of its time at which a callback is waited for by a timer."""

DUE = "due_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())"

# A CTE, because a subquery of the update could run again for each row and claim more than a batch.
CLAIM = f"""
WITH due AS (
    SELECT id FROM sandbox_callbacks WHERE {DUE} ORDER BY due_at, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED
)
UPDATE sandbox_callbacks callback
SET claimed_until = now() + $1 * interval '1 second', attempts = attempts + 1
FROM due WHERE callback.id = due.id
RETURNING callback.id, reference, carrier, kind, payload, due_at, attempts, claimed_until
"""

GIVE_BACK = """
UPDATE sandbox_callbacks SET claimed_until = NULL, attempts = attempts - 1
WHERE id = ANY($1::bigint[]) AND claimed_until = $2
"""

FINISH = "DELETE FROM sandbox_callbacks WHERE id = ANY($1::bigint[])"

POSTPONE = f"""
UPDATE sandbox_callbacks
SET claimed_until = now() + least({LONGEST_PAUSE}, 2 ^ least(attempts, 30)) * interval '1 second'
WHERE id = ANY($1::bigint[]) AND due_at >= now() - interval '24 hours'
"""

GIVE_UP = """
DELETE FROM sandbox_callbacks WHERE id = ANY($1::bigint[]) AND due_at < now() - interval '24 hours'
RETURNING reference, kind
"""

FIND_NEXT = """
SELECT extract(epoch FROM due_at - now())::float8 FROM sandbox_callbacks WHERE claimed_until IS NULL
ORDER BY due_at, id LIMIT 1
"""

ANY_DUE = f"SELECT EXISTS (SELECT FROM sandbox_callbacks WHERE {DUE})"

log = structlog.get_logger(__name__)


class DueCallback(NamedTuple):
    """A callback to the connection `carrier` that is due; `reference` is the id of the message it is about."""

    id: int
    reference: int
    carrier: str
    kind: Kind
    payload: Payload
    due_at: datetime
    attempts: int
    claimed_until: datetime


class Playback:
    """Delivers due callbacks, from any number of processes.

    A callback without a 2xx response is retried after 2, 4, 8 seconds and so on, at most an hour apart, for 24 hours. A
    claim lasts `lease` seconds: after a crash another process delivers the claimed callbacks, perhaps a second time, as
    with real carriers. The callbacks of one message are posted one after the other in the order of `due_at`, signed
    with the secret that `find_secret` returns for the key of their connection.
    """

    def __init__(
        self,
        pool: Pool,
        poster: Poster,
        callback_url: str,
        find_secret: Callable[[str], bytes],
        lease: float = 60.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._pool = pool
        self._poster = poster
        self._callback_url = callback_url
        self._find_secret = find_secret
        self._lease = lease
        self._now = now
        self._places = asyncio.Semaphore(AT_ONCE)
        self._start: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, start: Callable[[], None]) -> None:
        """Have a function called when the next callback is due."""
        self._start = start

    async def due(self) -> bool:
        """Return whether any callback is due."""
        return await self._pool.ask(ANY_DUE)

    async def run(self) -> bool:
        """Deliver one batch of due callbacks; return whether there may be more."""
        rows = await claim(self._pool, DueCallback, CLAIM, self._lease, give_back=self._give_back, seconds=self._lease)
        if rows:
            delivered = set(chain.from_iterable(await asyncio.gather(*map(self._deliver, _by_message(rows)))))
            await persist(lambda: self._pool.execute(FINISH, list(delivered)), self._lease)
            left = [row.id for row in rows if row.id not in delivered]
            await persist(lambda: self._postpone(left), self._lease)
        if len(rows) < BATCH:
            await self._await_next()
        return len(rows) == BATCH

    async def _await_next(self) -> None:
        """Start again when the next callback is due; the poller finds one that is due much later."""
        seconds = await self._pool.fetchval(FIND_NEXT)
        if self._start and seconds is not None and seconds < MOST_AHEAD:
            if self._timer:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(max(0.0, seconds), self._start)

    async def _give_back(self, rows: Sequence[DueCallback]) -> None:
        """Let callbacks that were not posted be claimed again at once."""
        await self._pool.execute(GIVE_BACK, [row.id for row in rows], rows[0].claimed_until)

    async def _deliver(self, rows: Sequence[DueCallback]) -> list[int]:
        delivered: list[int] = []
        async with self._places:
            for row in rows:
                if not await self._post(row):
                    break
                delivered.append(row.id)
        return delivered

    async def _post(self, row: DueCallback) -> bool:
        callback = Callback(row.kind, row.payload, row.due_at, row.carrier)
        secret = self._find_secret(row.carrier)
        return (await post(self._poster, self._callback_url, secret, callback, self._now())).is_success

    async def _postpone(self, ids: list[int]) -> None:
        if not ids:
            return
        await self._pool.execute(POSTPONE, ids)
        for row in await self._pool.fetch(GIVE_UP, ids):
            log.warning("sandbox_callback_dropped", kind=row["kind"], message_id=row["reference"])


def _by_message(rows: Sequence[DueCallback]) -> list[list[DueCallback]]:
    found: dict[int, list[DueCallback]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.due_at, row.id)):
        found[row.reference].append(row)
    return list(found.values())
