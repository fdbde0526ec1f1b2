"""Leases of binds: at most one process binds a connection. Times are those of the database."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from app.db import rows
from app.db.engine import Pool

ACQUIRE = """
INSERT INTO smpp_leases AS held (carrier, holder, held_until, problem) VALUES ($1, $2, clock_timestamp() + $3, $4)
ON CONFLICT (carrier) DO UPDATE
SET holder = excluded.holder, held_until = excluded.held_until, problem = excluded.problem
WHERE held.holder = excluded.holder OR held.held_until <= clock_timestamp()
RETURNING true
"""
RELEASE = "DELETE FROM smpp_leases WHERE carrier = $1 AND holder = $2"
FIND = "SELECT problem FROM smpp_leases WHERE carrier = $1 AND held_until > clock_timestamp()"

BEGINNING = "not connected yet"
"""The problem of a bind until its holder renews the lease with the result."""


class State(NamedTuple):
    """The state of a bind; `problem` is empty while the connection is bound."""

    problem: str


@dataclass(slots=True)
class Lease:
    """The lease of one connection for `seconds` from each renewal; `ends` is its end on the clock of the event loop."""

    pool: Pool
    carrier: str
    holder: str
    seconds: float
    ends: float = field(init=False, default=float("-inf"))

    @property
    def remaining(self) -> float:
        """Return the seconds for which the lease is certainly held; negative without one."""
        return self.ends - asyncio.get_running_loop().time()

    async def acquire(self, problem: str) -> bool:
        """Take or renew the lease, and tell the problem of the bind; return False while another process holds it."""
        asked_at, lasts = asyncio.get_running_loop().time(), timedelta(seconds=self.seconds)
        is_held = await self.pool.fetchval(ACQUIRE, self.carrier, self.holder, lasts, problem)
        self.ends = asked_at + self.seconds if is_held else float("-inf")
        return bool(is_held)

    async def release(self) -> None:
        """Give the lease up, so that another process takes it at once."""
        self.ends = float("-inf")
        await self.pool.execute(RELEASE, self.carrier, self.holder)


async def find_state(pool: Pool, carrier: str) -> State | None:
    """Return the state of a connection; None while no process holds its lease."""
    return await rows.find(pool, State, FIND, carrier)
