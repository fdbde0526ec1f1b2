"""Calls of a CRM on behalf of one connection: only the holder of its lease refreshes tokens."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from app.db import claims
from app.db.engine import Database
from app.domain.crm.connector import Access, CrmAway, CrmConnector, CrmGone, CrmRefused, CrmUnauthorized, Tokens
from app.domain.crm.lease import Lease, Leased
from app.domain.crm.service import Ports, expiry, pack, unpack
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor

T = TypeVar("T")

EARLY = timedelta(minutes=5)
"""The time before the end of an access token at which it is refreshed."""

REFRESHES = 2
"""The most refreshes for a call that is refused: a request of a killed worker may end the first new tokens at once."""

PERSIST_SECONDS = 60.0

STORE = "UPDATE crm_connections SET tokens = $2, expires_at = $3 WHERE id = $1 AND lease = $4"


class AuthorizationLost(Exception):
    """A CRM does not accept the tokens any more, and gives no new ones."""


@dataclass(slots=True)
class Session:
    """The calls of one turn."""

    database: Database
    clock: Clock
    ports: Ports
    row: Leased
    lease: Lease
    connector: CrmConnector
    tokens: Tokens
    expires_at: datetime

    @classmethod
    def open(cls, database: Database, clock: Clock, ports: Ports, row: Leased, lease: Lease) -> "Session":
        """Return the session of a leased connection."""
        connector, tokens = ports.connectors[row.kind], unpack(ports.seal, row.tokens)
        return cls(database, clock, ports, row, lease, connector, tokens, row.expires_at)

    @property
    def actor(self) -> Actor:
        """Return the actor of the changes that the CRM causes."""
        return Actor(self.row.account_id, frozenset(), f"integration:{self.row.integration_id}")

    async def call(self, act: Callable[[Access], Awaitable[T]]) -> T:
        """Return the result of a call, which is repeated with new tokens where the CRM refuses those there are.

        Raises as `CrmConnector` does, `AuthorizationLost`, and `LeaseLost` before a call.
        """
        if self.expires_at - self.clock.now() < EARLY:
            await self._refresh()
        for _ in range(REFRESHES):
            try:
                return await self._act(act)
            except CrmUnauthorized:
                await self._refresh()
        try:
            return await self._act(act)
        except CrmUnauthorized as refusal:
            raise AuthorizationLost(str(refusal) or "It does not accept its own token.") from None

    async def _act(self, act: Callable[[Access], Awaitable[T]]) -> T:
        self.lease.check()
        return await act(Access(self.tokens.access, self.tokens.location))

    async def _refresh(self) -> None:
        """Get new tokens, and store them before they are used: the old refresh token is used up."""
        self.lease.check()
        try:
            self.tokens = await self.connector.refresh(self.tokens)
        except (CrmRefused, CrmUnauthorized) as refusal:
            raise AuthorizationLost(str(refusal) or "It refused to renew the tokens.") from None
        except CrmGone as gone:  # the address of tokens is away, not the record that the call names
            raise CrmAway(str(gone)) from None
        self.expires_at = expiry(self.clock.now(), self.tokens)
        packed = pack(self.ports.seal, self.tokens)
        store = partial(self.database.pool.execute, STORE, self.row.id, packed, self.expires_at, self.row.lease)
        await claims.persist(store, PERSIST_SECONDS)
