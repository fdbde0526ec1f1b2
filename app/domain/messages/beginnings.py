"""Begin calls to carriers, such that no text leaves after a committed opt-out of its recipient.

The facts of texts are read, their gates checked and their calls begun in one transaction, which keeps the recipients
from opting out until its end; it does not wait for the answers. An opt-out keeps such calls from beginning until its
own end. So a call has begun before an opt-out is committed, or does not begin.
"""

import asyncio
from collections.abc import Callable, Container, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from app.db import claims, rows
from app.db.engine import UNREACHABLE, Connection, Pool
from app.domain.carriers.carrier import Answer, FailureCode
from app.domain.carriers.connections import OpenConnection
from app.domain.kernel.clock import Clock
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.messages import outgoing
from app.domain.messages.eligibility import gates
from app.domain.messages.failures import OwnCode
from app.domain.messages.outgoing import Claim, ClaimedText
from app.domain.messages.recording import Blocked, Deferred, Gone, Result

MAX_BATCH, MAX_PROMOTIONS = 100, 32
"""The most texts of a batch. Promotions are fewer, because urgent texts wait while the process works on a batch."""

Wanted = tuple[Claim, OpenConnection | None]
Call = Callable[[ClaimedText, OpenConnection | None], Coroutine[Any, Any, Answer | None]]


class Begun(NamedTuple):
    """A text whose call was begun, or the reason for which it was not."""

    text: ClaimedText
    found: asyncio.Task[Answer | None] | Result

    async def result(self) -> Result:
        """Return the result, once it is known."""
        return await self.found if isinstance(self.found, asyncio.Task) else self.found


@dataclass(slots=True)
class Beginnings:
    """Begins calls; texts that are claimed at about the same time share a transaction.

    Promotional texts begin after the others that came before them, and keep none that comes later waiting.
    """

    pool: Pool
    clock: Clock
    call: Call
    _urgent: MicroBatcher[Wanted, Begun | Exception | None] = field(init=False)
    _promotional: MicroBatcher[Wanted, Begun | Exception | None] = field(init=False)

    def __post_init__(self) -> None:
        """Create the batchers."""
        self._urgent = MicroBatcher(self._begin_all, MAX_BATCH, account=_account_of)
        self._promotional = MicroBatcher(self._begin_promotional, MAX_PROMOTIONS, account=_account_of)

    async def begin(self, claim: Claim, connection: OpenConnection | None) -> Begun | None:
        """Begin the call with a claimed text if the gates let it pass; return None if the claim is another's by now.

        A text whose recipient opts out at this moment has the result None: it is tried again later. Raises the fault of
        a gate, which concerns no other text.
        """
        begin = self._promotional if claim.lane == outgoing.PROMOTIONAL else self._urgent
        begun = await begin((claim, connection))
        if isinstance(begun, Exception):
            raise begun
        return begun

    async def _begin_promotional(self, wanted: Sequence[Wanted]) -> Sequence[Begun | Exception | None]:
        await self._urgent.flush()
        return await self._begin_all(wanted)

    async def _begin_all(self, wanted: Sequence[Wanted]) -> Sequence[Begun | Exception | None]:
        begun: list[Begun | Exception | None] = []
        try:
            async with claims.transaction(self.pool) as connection:
                free, texts = await _read(connection, [claim for claim, _ in wanted])
                now = self.clock.now()
                begun = [self._begin(texts.get(claim.message_id), through, free, now) for claim, through in wanted]
                await asyncio.sleep(0)  # the calls begin
        except UNREACHABLE:
            if not begun:
                raise
        return begun

    def _begin(
        self, text: ClaimedText | None, through: OpenConnection | None, free: Container[int], now: datetime
    ) -> Begun | Exception | None:
        if text is None:
            return None
        if text.message_id not in free:
            return Begun(text, None)
        try:
            return Begun(text, _stop(text, now) or asyncio.create_task(self.call(text, through)))
        except Exception as fault:
            return fault


def _account_of(wanted: Wanted) -> int:
    return wanted[0].account_id


async def _read(connection: Connection, claimed: Sequence[Claim]) -> tuple[set[int], dict[int, ClaimedText]]:
    """Keep the recipients from opting out; return the texts of those that do not now, and the facts of all texts."""
    ids, phones = [claim.message_id for claim in claimed], [claim.to_number for claim in claimed]
    kept = await connection.fetch(outgoing.KEEP_FROM_OPTING_OUT, ids, [claim.account_id for claim in claimed], phones)
    until = [claim.claimed_until for claim in claimed]
    texts = await rows.fetch(connection, ClaimedText, outgoing.FIND_CLAIMED, ids, until)
    return {row["id"] for row in kept}, {text.message_id: text for text in texts}


def _stop(text: ClaimedText, now: datetime) -> Gone | Blocked | Deferred | None:
    """Check the gates again, because the facts and the time have changed since accept."""
    if text.body is None:
        return Gone()
    facts = text.facts_at(now)
    if refused := gates.find_refusal(gates.HANDOFF_GATES, facts):
        gate, error = refused
        return Blocked(FailureCode.expired if gate.defers else OwnCode(error.code))
    deferral = facts.timing.deferral if facts.timing else None
    return Deferred(deferral, facts.timing.place.zones) if facts.timing and deferral else None
