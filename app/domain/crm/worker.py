"""Leases connections to CRMs, and works for each in a task of its own, so that a slow CRM delays no other."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from app.db import claims
from app.db.engine import Database
from app.domain.crm.connector import CrmAway, CrmGone, CrmRefused
from app.domain.crm.fetching import Fetching
from app.domain.crm.lease import Lease, Leased, LeaseLost, end_of
from app.domain.crm.pushing import Pushing, find_next
from app.domain.crm.service import TOPIC, Ports
from app.domain.crm.session import PERSIST_SECONDS, AuthorizationLost, Session
from app.domain.integrations import endings
from app.domain.integrations import sql as integrations
from app.domain.integrations.errors import IntegrationRemoved
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify

WORK = timedelta(minutes=2)
"""The time in which a turn begins a step, after which others get theirs."""

STEPS, MOST_TURNS = 40, 100
"""The steps of a turn, and the turns of a process at once."""

RESTS = (5, 15, 60, 300, 900)
"""Seconds of rest after the first failure of a CRM in a row, the second, and so on; the last is repeated."""

_DUE = f"""
FROM crm_connections c WHERE (c.leased_until IS NULL OR c.leased_until <= $1)
  AND (c.resting_until IS NULL OR c.resting_until <= $1) AND (c.integration_id IS NULL OR (c.state = 'authorized'
    AND {integrations.is_active("c.integration_id")}
    AND (c.sync <> 'done' OR c.fetch_at <= $1 OR EXISTS (SELECT FROM crm_pushes p
      WHERE p.integration_id = c.integration_id AND p.status = 'waiting' AND p.due_at <= $1))))
"""
CLAIM = f"""
WITH due AS (SELECT c.id {_DUE} ORDER BY c.leased_until NULLS FIRST, c.id LIMIT $3 FOR UPDATE OF c SKIP LOCKED)
UPDATE crm_connections c SET leased_until = $2, lease = c.lease + 1 FROM due WHERE c.id = due.id
RETURNING c.id, c.account_id, c.integration_id, c.kind, c.tokens, c.expires_at, c.lease, c.failures
"""
IS_DUE = f"SELECT EXISTS (SELECT {_DUE})"
RELEASE = """
UPDATE crm_connections SET leased_until = $3, failures = 0, resting_until = NULL WHERE id = $1 AND lease = $2
"""
REST = """
UPDATE crm_connections SET leased_until = NULL, resting_until = $3, failures = failures + 1, error = $4, error_at = $5
WHERE id = $1 AND lease = $2
"""
LOSE = """
UPDATE crm_connections SET leased_until = NULL, state = 'lost', error = $3, error_at = $4
WHERE id = $1 AND lease = $2
"""
DELETE = "DELETE FROM crm_connections WHERE id = $1 AND integration_id IS NULL"


@dataclass(slots=True)
class CrmWorker:
    """The turns of this process. `run` leases the connections with work and starts a turn for each."""

    database: Database
    clock: Clock
    notify: Notify
    ports: Ports
    lease: timedelta = timedelta(seconds=15)
    _turns: set[asyncio.Task[None]] = field(default_factory=set)
    _stopping: bool = False

    async def run(self) -> bool:
        """Start turns for the connections that have work; return True when there may be more of them."""
        free = MOST_TURNS - len(self._turns)
        if self._stopping or free <= 0:
            return False
        now, until = self.clock.now(), end_of(self.lease)
        leased = await claims.claim(
            self.database.pool,
            Leased,
            CLAIM,
            now,
            now + self.lease,
            free,
            give_back=self._give_back,
            seconds=PERSIST_SECONDS,
        )
        for row in leased:
            turn = asyncio.create_task(self._take_turn(row, until))
            self._turns.add(turn)
            turn.add_done_callback(self._turns.discard)
        return len(leased) == free

    async def due(self) -> bool:
        """Return whether a connection has work."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def finish(self) -> None:
        """Start no more turns, and wait for those that run; when canceled, abandon them."""
        self._stopping = True
        try:
            await self.idle()
        except asyncio.CancelledError:
            await self.abandon()
            raise

    async def abandon(self) -> None:
        """Cancel the turns that run; their leases end by themselves."""
        for turn in set(self._turns):
            turn.cancel()
        await self.idle()

    async def idle(self) -> None:
        """Wait for the turns that run."""
        while self._turns:
            await asyncio.wait(set(self._turns))

    async def _take_turn(self, row: Leased, until: float) -> None:
        """Work for a connection, and give back its lease, which is renewed meanwhile.

        A turn whose integration is removed under way ends, and the next one revokes the authorization. A turn whose
        integration has lost its creator ends before its next step.
        """
        end = partial(self.database.pool.execute, RELEASE, row.id, row.lease, self.clock.now())
        lease = Lease(self.database.pool, self.clock, row, self.lease, until)
        try:
            async with lease.kept():
                await self._work(row, lease)
        except (IntegrationRemoved, LeaseLost):
            pass
        except CrmAway as away:
            end = partial(self._rest, row, away)
        except AuthorizationLost as lost:
            end = partial(self._lose, row, str(lost))
        except Exception as error:
            context = {"message": f"the turn of CRM connection {row.id} failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
            end = partial(self._rest, row, CrmAway(f"A fault of the service: {type(error).__name__}."))
        await claims.persist(end, PERSIST_SECONDS)
        self.notify(TOPIC)

    async def _work(self, row: Leased, lease: Lease) -> None:
        session = Session.open(self.database, self.clock, self.ports, row, lease)
        if row.integration_id is None:
            await self._revoke(session)
            return
        pushing = Pushing(session, row.integration_id, self.notify)
        fetching, until = Fetching(pushing), self.clock.now() + WORK
        for _ in range(STEPS):
            if self._stopping or self.clock.now() >= until or await self._has_ended(row.integration_id):
                return
            if push := await find_next(session, row.integration_id):
                await pushing.perform(push)
            elif not await fetching.step():
                return

    async def _has_ended(self, integration_id: int) -> bool:
        """Return whether the creator of an integration has ended; it is then paused."""
        return bool(await endings.pause_ended(self.database.pool, [integration_id], self.clock.now()))

    async def _revoke(self, session: Session) -> None:
        """End the authorization of a connection that was removed, then delete it."""
        with contextlib.suppress(AuthorizationLost, CrmGone, CrmRefused):
            await session.call(session.connector.revoke)
        await self.database.pool.execute(DELETE, session.row.id)

    async def _rest(self, row: Leased, away: CrmAway) -> None:
        now = self.clock.now()
        seconds = max(away.wait or 0, RESTS[min(row.failures, len(RESTS) - 1)])
        until = now + timedelta(seconds=seconds)
        await self.database.pool.execute(REST, row.id, row.lease, until, str(away)[:500], now)

    async def _lose(self, row: Leased, reason: str) -> None:
        await self.database.pool.execute(LOSE, row.id, row.lease, reason[:500], self.clock.now())

    async def _give_back(self, rows: Sequence[Leased]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.lease, self.clock.now())
