"""No text leaves after a committed opt-out of its recipient, whatever the interleaving of hand-off and opt-out."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Answer, OutboundMessage
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outgoing
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import TO, after, hand_over, through
from tests.factories.billing import audit, entries
from tests.factories.messages import calls, states
from tests.factories.traps import RELEASED, VisitedPool, count_blocked
from tests.waiting import until, within

Withdraw = Callable[[UnitOfWork], Awaitable[Any]]

PLACES = ("before the claim", "before the lock", "before the facts", "before the call", "after the release of the lock")
PLACES += ("after the call",)
VISITED = {
    (outgoing.KEEP_FROM_OPTING_OUT, False): "before the lock",
    (outgoing.FIND_CLAIMED, False): "before the facts",
    (outgoing.FIND_CLAIMED, True): "before the call",
    (outgoing.FIND_CLAIMED + RELEASED, True): "after the release of the lock",
}
IN_TIME = PLACES[:2]
"""The places at which an opt-out that begins there still stops the text."""


async def revoke(unit: UnitOfWork) -> None:
    await opt_outs.revoke(unit, TO, Evidence("mail", "Please stop."))


async def hold(unit: UnitOfWork) -> None:
    await opt_outs.hold(unit, await contacts.find_or_create(unit, TO, ""))


@dataclass
class Withdrawal:
    """A consent that is withdrawn at one place of a hand-off and committed at another, as far as locks let it."""

    pool: Pool
    act: Callable[..., Any]
    withdraw: Withdraw
    begins: str
    commits: str
    written: asyncio.Event = field(default_factory=asyncio.Event)
    may_commit: asyncio.Event = field(default_factory=asyncio.Event)
    visited: set[str] = field(default_factory=set)
    is_committed: bool = False
    running: asyncio.Task[None] | None = None

    async def reach(self, place: str) -> None:
        """Go as far as the withdrawal goes at a place of the hand-off."""
        if place == self.begins:
            self.running = asyncio.create_task(self._run())
            await self._go_on(self.written.is_set)
        if place == self.commits:
            self.may_commit.set()
            await self._go_on(lambda: self.is_committed)

    async def visit(self, statement: str, is_done: bool) -> None:
        """Be told of a statement of the hand-off."""
        if place := VISITED.get((statement, is_done)):
            await self.reach(place)
            self.visited.add(place)

    async def follow(self, handoff: Handoff) -> None:
        """Hand off, and go as far as the withdrawal goes meanwhile, and after; a call may end before the lock does."""
        await self.reach("before the claim")
        await within("the hand-off", hand_over(handoff))
        await until(lambda: self.visited == set(VISITED.values()))
        await self.reach("after the call")
        assert self.running
        await within("the withdrawal", self.running)

    async def _run(self) -> None:
        async with self.act() as unit:
            await self.withdraw(unit)
            self.written.set()
            await within("the commit", self.may_commit.wait())
        self.is_committed = True

    async def _go_on(self, is_done: Callable[[], bool]) -> None:
        async def is_done_or_blocked() -> bool:
            assert self.running
            return is_done() or self.running.done() or await count_blocked(self.pool) > 0

        await until(is_done_or_blocked, every=0.005)


class Watching(SandboxCarrier):
    """A carrier that notes whether the withdrawal was committed when each call began."""

    withdrawal: Withdrawal
    late: list[bool]

    async def send(self, message: OutboundMessage) -> Answer:
        if message.body == "Hello":
            self.late.append(self.withdrawal.is_committed)
        return await super().send(message)


def watching(handoff: Handoff, pool: Pool, withdrawal: Withdrawal) -> tuple[Handoff, list[bool]]:
    """Return the hand-off that visits a withdrawal, and the notes of its carrier."""
    carrier = Watching(pool, b"secret", 0, 10)
    carrier.withdrawal, carrier.late = withdrawal, []
    visited: Any = VisitedPool(pool, withdrawal.visit)
    return replace(through(handoff, carrier), database=replace(handoff.database, pool=visited)), carrier.late


@pytest.mark.parametrize("withdraw", [revoke, hold])
@pytest.mark.parametrize("places", list(combinations_with_replacement(PLACES, 2)), ids=", then ".join)
async def test_a_call_begins_before_an_opt_out_or_hold_is_committed_or_not_at_all(
    send: Callable[..., Any],
    act: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    withdraw: Withdraw,
    places: tuple[str, str],
) -> None:
    await send()
    withdrawal = Withdrawal(pool, act, withdraw, *places)
    visited, late = watching(handoff, pool, withdrawal)

    await withdrawal.follow(visited)
    await hand_over(after(handoff, seconds=3))

    if places[0] in IN_TIME:
        assert (late, await calls(pool)) == ([], [])
        assert await states(pool) == [("failed", "contact_held" if withdraw is hold else "contact_opted_out")]
        assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    else:
        assert late == [False]
        assert await states(pool) == [("sent", None)]
    await audit(pool)


@pytest.mark.parametrize("place", PLACES)
async def test_a_stop_stops_a_text_whose_call_has_not_begun(
    send: Callable[..., Any],
    text: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    act: Callable[..., Any],
    place: str,
) -> None:
    await send()

    async def stop(_: UnitOfWork) -> None:
        await text("STOP", sender=TO)

    withdrawal = Withdrawal(pool, act, stop, place, place)
    visited, late = watching(handoff, pool, withdrawal)

    await withdrawal.follow(visited)
    await hand_over(after(handoff, seconds=3))

    assert late == ([] if place in IN_TIME else [False])
    assert (await states(pool))[0] == (("failed", "contact_opted_out") if place in IN_TIME else ("sent", None))
    assert [body for body, _ in await calls(pool) if body == "Hello"] == ([] if place in IN_TIME else ["Hello"])
    await audit(pool)
