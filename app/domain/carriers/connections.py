"""Open connections of a process, which follow the changes of the table within about a second."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

import orjson

from app.db import rows
from app.db.engine import UNREACHABLE, Connection, Pool
from app.domain.carriers.carrier import Capabilities, Carrier
from app.domain.carriers.kinds import Configuration, Open
from app.domain.carriers.models import WORKER, ConnectionStatus
from app.domain.carriers.unusable import UnusableCarrier
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal

FRESH_SECONDS = 1.0
"""The time for which a process does not ask again whether connections have changed."""

NEVER = float("-inf")

# A later state with as many rows has newer revisions, and so a greater sum. The time of the database follows it.
FIND_STATE = """
SELECT count(*) || ' ' || coalesce(sum(revision), 0) || ' ' || extract(epoch FROM clock_timestamp())
FROM carrier_connections
"""

LOAD = """
SELECT id, key, kind, account_id, settings, credentials, previous_credentials, previous_until, parts_per_second, status,
  role, revision
FROM carrier_connections
"""


class ConnectionRow(NamedTuple):
    """The row of a connection."""

    id: int
    key: str
    kind: str
    account_id: int | None
    settings: dict[str, Any]
    credentials: bytes | None
    previous_credentials: bytes | None
    previous_until: datetime | None
    parts_per_second: float | None
    status: str
    role: str
    revision: int

    @property
    def configuration(self) -> tuple[object, ...]:
        """Return the values that its carrier is opened with."""
        return self.kind, self.settings, self.credentials


@dataclass(slots=True)
class OpenConnection:
    """A connection of this process. `previous` has the credentials before the last rotation, while they are valid.

    It is closed when the last user has returned it after the row was changed or removed.
    """

    row: ConnectionRow
    carrier: Carrier
    previous: Carrier | None = None
    _users: int = 0
    _is_retired: bool = False

    @property
    def parts_per_second(self) -> float | None:
        """Return how many SMS parts a second may leave through the connection; None for no limit."""
        return self.row.parts_per_second or self.carrier.capabilities.parts_per_second

    def verifiers(self, now: datetime) -> Iterator[Carrier]:
        """Return the carriers that may verify a callback: with the credentials of now, and the ones before them."""
        yield self.carrier
        if self.previous and self.row.previous_until and now < self.row.previous_until:
            yield self.previous

    async def __aenter__(self) -> Self:
        """Keep the connection open for a block."""
        self._users += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        """End this use; close the connection after the last one if it is retired."""
        self._users -= 1
        if self._is_retired and not self._users:
            await self._close()

    async def retire(self) -> None:
        """Close the connection, at once or after its last use."""
        self._is_retired = True
        if not self._users:
            await self._close()

    async def _close(self) -> None:
        await self.carrier.close()
        if self.previous:
            await self.previous.close()


@dataclass(slots=True)
class OpenConnections:
    """The connections of the installation and of all accounts, open in this process.

    A process hands off the texts of the connections of its `role`; only those of `keys`, unless that is None. Each look
    at the table also compares the `clock` with that of the database.
    """

    pool: Pool
    clock: Clock
    seal: Seal
    open: Open
    role: str = WORKER
    keys: Sequence[str] | None = None
    _open: dict[str, OpenConnection] = field(init=False, default_factory=dict)
    _state: str | None = field(init=False, default=None)
    _asked_at: float = field(init=False, default=NEVER)
    _asked: int = field(init=False, default=0)
    _answered: int = field(init=False, default=0)
    _refreshing: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def refresh(self, *, anew: bool = False) -> None:
        """Follow the table, asked at most once in `FRESH_SECONDS` unless `anew`.

        While the database is unreachable, the connections stay as they are.
        """
        now = asyncio.get_running_loop().time
        since = now() - (0 if anew else FRESH_SECONDS)
        if self._asked_at > since:
            return
        async with self._refreshing:
            if self._asked_at > since:  # another caller has asked meanwhile
                return
            try:
                await self._follow()
            except UNREACHABLE:
                if self._state is None:
                    raise
                self._asked_at = now()

    async def refresh_on(self, source: Connection, *, anew: bool = False) -> None:
        """Refresh on a connection that the caller holds: no caller waits for another connection while it has one."""
        if anew or self._asked_at <= asyncio.get_running_loop().time() - FRESH_SECONDS:
            await self._follow(source)

    async def learn(self, keys: Iterable[str | None], source: Connection | None = None) -> None:
        """Follow the table anew if one of some keys is unknown: its connection may have been added just now.

        A caller that holds a connection to the database gives it as the `source`.
        """
        if any(key is not None and key not in self._open for key in keys):
            await (self.refresh_on(source, anew=True) if source else self.refresh(anew=True))

    def expire(self) -> None:
        """Have the next use ask whether connections have changed."""
        self._asked_at = NEVER

    def find(self, key: str) -> OpenConnection | None:
        """Return a connection as of the last refresh."""
        return self._open.get(key)

    async def get(self, key: str) -> OpenConnection | None:
        """Return a connection, or None; one that was added in the last second may not be known yet."""
        await self.refresh()
        return self.find(key)

    async def seek(self, key: str) -> OpenConnection | None:
        """Return a connection, also one that was added just now, or None."""
        await self.refresh()
        await self.learn([key])
        return self.find(key)

    def served(self) -> list[OpenConnection]:
        """Return the connections of the role of this process, as of the last refresh; paused ones as well."""
        return [each for each in self._open.values() if each.row.role == self.role]

    def max_segments(self, key: str | None) -> int:
        """Return the most SMS parts that a text through a connection may have."""
        known = self.find(key) if key else None
        return (known.carrier.capabilities if known else Capabilities()).max_segments

    def most_segments(self) -> int:
        """Return the most SMS parts that a text through any open connection may have."""
        known = [each.carrier.capabilities for each in self._open.values()]
        return max(each.max_segments for each in known or [Capabilities()])

    def is_sending(self, key: str) -> bool:
        """Return whether this process hands off the texts of a connection now."""
        known = self.find(key)
        if known is None or known.row.status != ConnectionStatus.active or known.row.role != self.role:
            return False
        return self.keys is None or key in self.keys

    async def close(self) -> None:
        """Close all connections."""
        for connection in self._open.values():
            await connection.retire()
        self._open = {}

    async def _follow(self, source: Connection | None = None) -> None:
        self._asked += 1
        number, asked_at = self._asked, asyncio.get_running_loop().time()
        found: str = await (source.fetchval(FIND_STATE) if source else self.pool.ask(FIND_STATE))
        state, _, seconds = found.rpartition(" ")
        waited = asyncio.get_running_loop().time() - asked_at
        self.clock.compare(datetime.fromtimestamp(float(seconds), UTC), timedelta(seconds=waited))
        is_known = state == self._state
        table = () if is_known else await rows.fetch(source or self.pool, ConnectionRow, LOAD)
        if number < self._answered:  # a caller that asked later had its answer before
            return
        self._answered, self._asked_at = number, asked_at
        if not is_known:
            await self._open_all(table, state)

    async def _open_all(self, table: Sequence[ConnectionRow], state: str) -> None:
        """Open the connections of the table, and close those that were changed or removed."""
        found = {row.key: row for row in table}
        before = self._open
        self._open = {}
        for key, row in found.items():
            known = before.get(key)
            self._open[key] = before.pop(key) if known and known.row == row else self._try_open(row)
        self._state = state
        for replaced in before.values():
            await replaced.retire()

    def _try_open(self, row: ConnectionRow) -> OpenConnection:
        """Open a connection; one that cannot be opened is reported once, and its texts wait."""
        try:
            previous = self._open_with(row, row.previous_credentials) if row.previous_credentials else None
            return OpenConnection(row, self._open_with(row, row.credentials), previous)
        except Exception as error:
            context = {"message": f"the carrier connection {row.key} cannot be opened", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
            return OpenConnection(row, UnusableCarrier(row.key))

    def _open_with(self, row: ConnectionRow, sealed: bytes | None) -> Carrier:
        credentials: dict[str, Any] = orjson.loads(self.seal.open(sealed)) if sealed else {}
        return self.open(Configuration(row.key, row.kind, row.settings, credentials))
