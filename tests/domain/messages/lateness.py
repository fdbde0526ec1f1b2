"""Texts of whose reports none has arrived, and the questions to their carriers, for tests."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.bootstrap.late import open_late_reports
from app.db.engine import Pool
from app.domain.carriers.carrier import CarriedMessage, Carrier, FailureCode, Receipt, ReceiptStatus
from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.handoff import Handoff
from app.domain.messages.late_reports import LateReports
from app.domain.messages.missed_texts import MissedTexts
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.carriers import opened
from tests.factories.clocks import At
from tests.waiting import within


def report(message: CarriedMessage, status: str, code: FailureCode | None = None) -> Receipt:
    raw = "undelivered" if code else status
    return Receipt(str(message.provider_message_id), ReceiptStatus(status), raw, code, "30003" if code else "")


def failed(message: CarriedMessage) -> Receipt:
    return report(message, "failed", FailureCode.unreachable)


class Asked(SandboxCarrier):
    """A carrier that takes texts and reports nothing; it answers questions as the test says, and counts them."""

    def __init__(self, pool: Pool, key: str = "sandbox") -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.key = key
        self.asked: list[int] = []
        self.answer: Callable[[CarriedMessage], Receipt | None] = failed
        self.asks = asyncio.Event()
        self.permitted = asyncio.Event()
        self.permitted.set()

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        self.asked.append(message.reference)
        self.asks.set()
        await within("the test to permit the answer", self.permitted.wait())
        return self.answer(message)


@dataclass
class Lost:
    """Texts that a carrier has taken, and of whose reports none has arrived."""

    services: Services
    handoff: Handoff
    carrier: Asked
    send: Callable[..., Any]
    start: datetime

    async def hand_over(self, to: str = "+12025550143", **wishes: Any) -> int:
        """Hand a text over; return its id."""
        accepted = await self.send(to, **wishes)
        await hand_over(replace(self.handoff, connections=opened(self.handoff, sandbox=self.carrier)))
        return accepted.message_id

    def after(self, hours: float, *carriers: Carrier) -> LateReports:
        """Return the questions at a time after the hand-off, of a process of its own."""
        clock = At(self.start + timedelta(hours=hours))
        connections = opened(self.handoff, **{each.key: each for each in carriers or (self.carrier,)})
        calls = CarrierCalls(connections, clock, TimeLimit(30))
        return replace(open_late_reports(self.services), calls=calls, clock=clock)


async def work(reports: LateReports | MissedTexts) -> None:
    """Run until nothing is due, as the worker does."""
    if await reports.due() and await reports.run():
        await work(reports)
