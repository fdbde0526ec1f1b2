"""Begin calls to carriers, such that no text leaves after a committed opt-out of its recipient.

The facts of texts are read, their gates checked and their calls begun in one transaction, which keeps the recipients
from opting out until its end; it does not wait for the answers. An opt-out keeps such calls from beginning until its
own end. So a call has begun before an opt-out is committed, or does not begin.
"""

import asyncio
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from app.db import rows
from app.db.engine import UNREACHABLE, Connection, Pool, transaction
from app.domain.carriers.carrier import FailureCode
from app.domain.kernel.clock import Clock
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.messages import outgoing
from app.domain.messages.eligibility import gates
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import Purpose
from app.domain.messages.outgoing import Claim, ClaimedText
from app.domain.messages.recording import Blocked, Deferred, Gone, Result

MAX_BATCH, MAX_PROMOTIONS = 100, 32
"""The most texts of a batch. Promotions are fewer, because urgent texts wait while the process works on a batch."""


class Begun(NamedTuple):
    """A text whose call may begin, or the result of one whose call does not."""

    text: ClaimedText
    may_call: bool
    result: Result = None


Batcher = MicroBatcher[Claim, Begun | Exception | None]


@dataclass(slots=True)
class Beginnings:
    """Begins calls; texts that are claimed at about the same time share a transaction.

    Promotional texts begin after the others that came before them, and keep none that comes later waiting.
    """

    pool: Pool
    clock: Clock
    _urgent: Batcher = field(init=False)
    _promotional: Batcher = field(init=False)

    def __post_init__(self) -> None:
        """Create the batchers."""
        self._urgent = MicroBatcher(self._begin_urgent, MAX_BATCH, account=_account_of)
        self._promotional = MicroBatcher(self._begin_promotional, MAX_PROMOTIONS, account=_account_of)

    async def begin(self, claim: Claim) -> Begun | None:
        """Return whether a claimed text passes the gates, for a call at once; None if the claim is another's by now.

        The caller begins that call before it waits for anything. A text whose recipient opts out at this moment has the
        result None: it is tried again later. Raises the fault of a gate, which concerns no other text.
        """
        begin = self._promotional if claim.lane == outgoing.PROMOTIONAL else self._urgent
        begun = await begin(claim)
        if isinstance(begun, Exception):
            raise begun
        return begun

    async def _begin_urgent(self, wanted: Sequence[Claim]) -> Sequence[Begun | Exception | None]:
        return await self._begin_all(self._urgent, wanted)

    async def _begin_promotional(self, wanted: Sequence[Claim]) -> Sequence[Begun | Exception | None]:
        await self._urgent.flush()
        return await self._begin_all(self._promotional, wanted)

    async def _begin_all(self, batcher: Batcher, wanted: Sequence[Claim]) -> Sequence[Begun | Exception | None]:
        begun: list[Begun | Exception | None] = []
        try:
            async with transaction(self.pool) as connection:
                free, texts = await _read(connection, wanted)
                now = self.clock.now()
                begun = [_check(texts.get(claim.message_id), free, now) for claim in wanted]
                batcher.answer(begun)
                await asyncio.sleep(0)  # the calls begin
        except UNREACHABLE:
            if not begun:
                raise
        return begun


def _account_of(claim: Claim) -> int:
    return claim.account_id


def _check(text: ClaimedText | None, free: Container[int], now: datetime) -> Begun | Exception | None:
    if text is None:
        return None
    if text.message_id not in free:
        return Begun(text, may_call=False)
    try:
        stopped = _stop(text, now)
    except Exception as fault:
        return fault
    return Begun(text, stopped is None, stopped)


async def _read(connection: Connection, claimed: Sequence[Claim]) -> tuple[set[int], dict[int, ClaimedText]]:
    """Keep the recipients from opting out; return the texts of those that do not now, and the facts of all texts."""
    ids, until = rows.integers([claim.message_id for claim in claimed]), claimed[0].claimed_until
    accounts = rows.integers(claim.account_id for claim in claimed)
    phones = rows.texts(claim.to_number for claim in claimed)
    kept = await connection.fetch(outgoing.KEEP_FROM_OPTING_OUT, ids, accounts, phones)
    others = rows.unless_all([claim.claimed_until for claim in claimed], until)
    texts = await rows.fetch(connection, ClaimedText, outgoing.FIND_CLAIMED, ids, others, until)
    return {row["id"] for row in kept}, {text.message_id: text for text in texts}


def _stop(text: ClaimedText, now: datetime) -> Gone | Blocked | Deferred | None:
    """Check the gates again, because the facts and the time have changed since accept."""
    if text.body is None:
        return Gone()
    if text.purpose == Purpose.compliance and text.expires_at and now > text.expires_at:
        return Blocked(FailureCode.expired)
    if text.is_refused:
        return Blocked(FailureCode.unregistered_sender)
    facts = text.facts_at(now)
    if refused := gates.find_refusal(gates.HANDOFF_GATES, facts):
        gate, error = refused
        return Blocked(FailureCode.expired if gate.defers else OwnCode(error.code))
    deferral = facts.timing.deferral if facts.timing else None
    return Deferred(deferral, facts.timing.place.zones) if facts.timing and deferral else None
