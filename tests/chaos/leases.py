"""Kills or stops the worker that holds the lease of a CRM at one of its calls, while another one takes over."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from app.domain.contacts import service as contacts
from app.domain.crm import service as crm
from tests.chaos.connectors import PEOPLE, UNSETTLED, Exchange
from tests.conftest import unit_of
from tests.e2e.processes import Process
from tests.factories.crm import CRM_CONNECTIONS
from tests.waiting import until

IS_LEASED = "SELECT count(*) FROM crm_connections WHERE leased_until > now()"
NOTE_ENDED_TURNS = """
CREATE TABLE ended_turns ();
CREATE FUNCTION note_ended_turn() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN INSERT INTO ended_turns DEFAULT VALUES; RETURN NULL; END';
CREATE TRIGGER note_ended_turn AFTER UPDATE OF failures ON crm_connections EXECUTE FUNCTION note_ended_turn()
"""
"""Counts the statements that end a turn, also those that change no row."""

TAKE_OVER_SECONDS = 120
NEW = "+12025551999"

ADD_TEXT, ADD, CHANGE = "POST /conversations/messages/inbound", "POST /contacts/", r"PUT /contacts/contact\d+"
COMPARE, FETCH, RENEW = r"GET /contacts/contact\d+", "POST /contacts/search", "POST /oauth/token"


@dataclass
class Duel:
    """Two workers of a connection: the holder of its lease, and another one that sleeps until the holder is hit."""

    exchange: Exchange
    sign: signal.Signals
    renamed: int = 0
    _is_hit: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def holder(self) -> Process:
        """Return the worker that does all work until it is hit."""
        return self.exchange.weather.workers[0]

    @property
    def other(self) -> Process:
        """Return the worker that takes over."""
        return self.exchange.weather.workers[1]

    async def prepare(self) -> None:
        """Have the ends of turns counted."""
        await self.exchange.weather.pool.execute(NOTE_ENDED_TURNS)

    async def strike(self, call: str, act: Callable[[], Awaitable[object]]) -> None:
        """Hit the holder at a call that an act causes, change the contact in the CRM, and wait for the other worker.

        The call takes effect, and its answer waits in the socket. A stopped holder goes on at the end, and does the
        next work; a killed one is replaced.
        """
        peer = self.exchange.peer
        await self._send_to_sleep()
        self._is_hit.clear()

        async def hit() -> None:
            if not self._is_hit.is_set() and re.fullmatch(call, peer.calls[-1]):
                self._is_hit.set()
                os.kill(self.holder.pid, self.sign)
                os.kill(self.other.pid, signal.SIGCONT)

        peer.on_call = hit
        await act()
        await until(self._is_hit.is_set, TAKE_OVER_SECONDS)
        await self.rename_there()
        await self._settle()
        if self.sign == signal.SIGKILL:
            await self._replace()
        else:
            await self._wake()

    async def rename_there(self) -> None:
        """Rename the first contact in the CRM, and post the notice."""
        peer, self.renamed = self.exchange.peer, self.renamed + 1
        peer.change(peer.find(PEOPLE[0]), firstName=f"There {self.renamed}")
        while peer.notices:
            await self.exchange.post("/integrations/highlevel", peer.notices.pop(0))

    async def rename_here(self) -> None:
        """Rename the first contact here."""
        self.renamed += 1
        await self._upsert(PEOPLE[0], last_name=f"Here {self.renamed}")

    async def add_here(self) -> None:
        """Add a contact here."""
        await self._upsert(NEW)

    async def expire_tokens(self) -> None:
        """Have the next call need another token."""
        self.exchange.peer.expire_tokens()
        await self.rename_here()

    async def synchronize(self) -> None:
        """Fetch and offer all contacts again."""
        async with unit_of(self.exchange.weather.services, self.exchange.actor) as unit:
            await crm.synchronize(unit, await CRM_CONNECTIONS.only(self.exchange.weather.pool, "integration_id"))

    async def check(self) -> None:
        """Fail unless the last name of each side has reached the other, whichever worker wrote it."""
        await self.exchange.check()
        record = self.exchange.peer.contacts[self.exchange.peer.find(PEOPLE[0])]
        known: Any = await self.exchange.weather.pool.fetchrow("SELECT * FROM contacts WHERE phone = $1", PEOPLE[0])
        assert (record["firstName"], record["lastName"]) == (known["first_name"], known["last_name"])

    async def _upsert(self, phone: str, **values: str) -> None:
        async with unit_of(self.exchange.weather.services, self.exchange.actor) as unit:
            await contacts.upsert(unit, {"phone": phone, **values}, "test")

    async def _settle(self) -> None:
        await self.exchange.weather.settle(UNSETTLED, TAKE_OVER_SECONDS)

    async def _send_to_sleep(self) -> None:
        """Stop the other worker while no worker has the lease."""
        pool = self.exchange.weather.pool
        await self._settle()
        os.kill(self.other.pid, signal.SIGSTOP)
        while await pool.fetchval(IS_LEASED):
            os.kill(self.other.pid, signal.SIGCONT)
            await until(lambda: _is_free(pool))
            os.kill(self.other.pid, signal.SIGSTOP)

    async def _replace(self) -> None:
        """Start a worker in the place of the killed one."""
        weather = self.exchange.weather
        await asyncio.to_thread(self.holder.kill)
        weather.workers = [self.other, weather.start("worker")]
        await until(lambda: "worker_started" in self.other.output, TAKE_OVER_SECONDS)

    async def _wake(self) -> None:
        """Have the stopped holder go on: its former turn ends and has written nothing, then it alone does some work."""
        await self._send_to_sleep()
        state = await self._state()
        async with self._until_turn_ends():
            os.kill(self.holder.pid, signal.SIGCONT)
        assert await self._state() == state
        await self.rename_here()
        await self._settle()
        os.kill(self.other.pid, signal.SIGCONT)

    @asynccontextmanager
    async def _until_turn_ends(self) -> AsyncGenerator[None]:
        """Wait after the block for the end of a turn."""
        before = await self._count_ended_turns()
        yield
        await until(lambda: self._has_ended_more_than(before), TAKE_OVER_SECONDS)

    async def _has_ended_more_than(self, turns: int) -> bool:
        return await self._count_ended_turns() > turns

    async def _count_ended_turns(self) -> int:
        return await self.exchange.weather.pool.fetchval("SELECT count(*) FROM ended_turns")

    async def _state(self) -> list[Any]:
        """Return what a turn writes."""
        tables = "crm_connections", "crm_links", "crm_pushes", "contacts"
        pool = self.exchange.weather.pool
        return [await pool.fetch(f"SELECT * FROM {table} ORDER BY id") for table in tables]


async def _is_free(pool: Any) -> bool:
    return not await pool.fetchval(IS_LEASED)
