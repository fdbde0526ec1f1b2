"""Hand-offs for tests: at another time, to another carrier, to numbers that the sandbox refuses."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from app.db.engine import Pool
from app.domain.carriers.carrier import Answer, OutboundMessage
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.waiting import until, within

TO = "+12025550143"
INVALID, OPTED_OUT, RATE_LIMITED = "+15005550001", "+15005550004", "+15005550007"


class Absorbed(SandboxCarrier):
    """A carrier that answers a hand-off when the test sets the answer; it finds no messages."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.asked = asyncio.Event()
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    async def send(self, message: OutboundMessage) -> Answer:
        self.asked.set()
        return await self.answer


class Slow(SandboxCarrier):
    """A carrier that takes a text once the test permits it."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.asked, self.permitted = asyncio.Event(), asyncio.Event()

    async def send(self, message: OutboundMessage) -> Answer:
        self.asked.set()
        await within("the test to permit the answer", self.permitted.wait())
        return await super().send(message)


async def hand_over(handoff: Handoff) -> None:
    """Hand off every due message, and wait for the results; promotions are limited while others are in progress."""
    is_limited = True
    while is_limited:
        while await handoff.run():
            pass
        is_limited = handoff._promotions._is_awaited
        await handoff.finish()
        await until(lambda: not handoff._promotions._is_resting)


async def reconcile(handoff: Handoff) -> None:
    """Query every message whose state is unknown, and wait for the results."""
    while await handoff.reconcile():
        pass
    await handoff.finish_questions()


def after(handoff: Handoff, **ahead: float) -> Handoff:
    """Return the hand-off with a clock moved ahead."""
    return replace(handoff, clock=Later(timedelta(**ahead)))


def through(handoff: Handoff, carrier: SandboxCarrier) -> Handoff:
    """Return the hand-off with another carrier."""
    return replace(handoff, connections=opened(handoff, sandbox=carrier))
