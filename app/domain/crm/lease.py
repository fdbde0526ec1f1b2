"""The lease of a connection to a CRM: its holder alone calls the CRM, and renews it while it works.

The lease is short, so that another worker soon goes on after the holder was killed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import text

from app.db.engine import UNREACHABLE, Pool
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import UnitOfWork

RENEWALS = 4
"""The number of renewals in the length of a lease."""

RENEW = "UPDATE crm_connections SET leased_until = $3 WHERE id = $1 AND lease = $2 RETURNING id"
KEEP = text("SELECT id FROM crm_connections WHERE id = :id AND lease = :lease FOR SHARE")


class Leased(NamedTuple):
    """A leased connection. The holder of an earlier `lease` writes nothing that a call under it found."""

    id: int
    account_id: int
    integration_id: int | None
    kind: str
    tokens: bytes
    expires_at: datetime
    lease: int
    failures: int


class LeaseLost(Exception):
    """A lease was not renewed in time, so that another worker may have the connection."""


def end_of(length: timedelta) -> float:
    """Return the end of a lease that is asked for now, by the time of the event loop."""
    return _now() + length.total_seconds()


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class Lease:
    """The lease of a turn, by the time of the event loop, which also passes while the process is stopped."""

    pool: Pool
    clock: Clock
    row: Leased
    length: timedelta
    until: float

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Renew the lease within the block."""
        keeper = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeper.cancel()
            await asyncio.wait({keeper})

    def check(self) -> None:
        """Raise `LeaseLost` once the lease is over."""
        if _now() >= self.until:
            raise LeaseLost

    async def hold(self, unit: UnitOfWork) -> None:
        """Keep other workers from the connection until the transaction ends; raise `LeaseLost` once one has had it."""
        if (await unit.execute(KEEP, {"id": self.row.id, "lease": self.row.lease})).one_or_none() is None:
            raise LeaseLost

    async def _keep(self) -> None:
        """Renew the lease again and again, until the turn is over."""
        is_held = True
        while is_held:
            await asyncio.sleep(self.length.total_seconds() / RENEWALS)
            with suppress(*UNREACHABLE):
                is_held = await self._renew()

    async def _renew(self) -> bool:
        """Renew the lease; return False where the turn is over, and the lease with it."""
        until = end_of(self.length)
        facts = self.row.id, self.row.lease, self.clock.now() + self.length
        is_held = await self.pool.fetchval(RENEW, *facts) is not None
        self.until = until if is_held else _now()
        return is_held
