"""Texts of people whose callbacks were lost, and the questions to their carriers, for tests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from app.bootstrap.late import open_missed_texts
from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage, Media
from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.handoff import Handoff
from app.domain.messages.missed_texts import MissedTexts
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.replies import TO
from tests.factories.carriers import opened
from tests.factories.clocks import At
from tests.factories.tables import ago

PICTURE = Media("https://files.example.com/1", "image/png")


class Lists(SandboxCarrier):
    """A carrier that lists the texts of people, as the test says, and keeps the questions."""

    capabilities = replace(SandboxCarrier.capabilities, lists_inbound=True)

    def __init__(self, pool: Pool, key: str = "sandbox") -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.key = key
        self.texts: list[InboundMessage] = []
        self.asked: list[tuple[str, datetime]] = []
        self.error: Exception | None = None
        self.media_error: Exception | None = None
        self.pause = 0.0
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        self.asked.append((number, since))
        await asyncio.sleep(self.pause)
        if self.meanwhile:
            await self.meanwhile()
        if self.error:
            raise self.error
        return self.texts

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        if self.media_error:
            raise self.media_error
        return replace(message, media=(PICTURE,), lacks_media=False)


@dataclass
class Missed:
    """A number that has received a text by a callback, long ago, and its carrier."""

    services: Services
    handoff: Handoff
    carrier: Lists
    number: str
    others: list[Lists] = field(default_factory=list)

    def add(
        self, id: str, body: str = "Hello", sender: str = TO, to: str | None = None, **age: float
    ) -> InboundMessage:
        """Have a person send a text, whose callback is lost."""
        text = InboundMessage(id, sender, to or self.number, body, at=ago(**age or {"hours": 5}))
        self.carrier.texts.append(text)
        return text

    def after(self, **duration: float) -> MissedTexts:
        """Return the questions at a time from now, of a process of its own."""
        clock = At(ago() + timedelta(**duration))
        connections = opened(self.handoff, **{each.key: each for each in (self.carrier, *self.others)})
        calls, inbox = (
            CarrierCalls(connections, clock, TimeLimit(30)),
            replace(self.services.inbox, connections=connections),
        )
        return replace(open_missed_texts(self.services), inbox=inbox, calls=calls, clock=clock)
