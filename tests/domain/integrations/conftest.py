"""Integrations of the scheduling tools, whose events arrive and whose texts leave at times that a test sets."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.bootstrap import open_applier, open_booking_texts
from app.domain.accounts import service as accounts
from app.domain.accounts.scopes import Scope
from app.domain.integrations import service
from app.domain.integrations.applying import Applier
from app.domain.integrations.intake import Intake
from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Delivery
from app.domain.integrations.sending import BookingTexts
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.messages.acceptor import SendAcceptor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.clocks import At
from tests.factories.integrations import SECRET, TOOLS
from tests.factories.messages import OUTBOUND

START = datetime(2026, 10, 20, 12, tzinfo=UTC)


@dataclass
class Office:
    """An account with one integration at a time of the test's own."""

    services: Services
    account: Opened
    clock: At
    intake: Intake
    applier: Applier
    texts: BookingTexts

    def unit(self) -> Any:
        return open_unit(self.services.database.sessions, self.actor, self.clock, self.services.notify)

    @property
    def actor(self) -> Actor:
        return Actor(self.account.account_id, frozenset(Scope), "test")

    async def connect(self, kind: str, **fields: Any) -> Integration:
        async with self.unit() as unit:
            return await service.add(unit, self.intake.ports, kind, SECRET, fields)

    async def deliver(self, to: Integration, delivery: Delivery) -> int | None:
        found = await self.intake.find(to.kind, to.address)
        if not self.intake.is_signed(found, delivery):
            await self.intake.refuse(found)
        return await self.intake.receive(found, delivery)

    async def post(self, to: Integration, body: bytes) -> int | None:
        return await self.deliver(to, TOOLS[to.kind].sign(body, self.clock.now(), SECRET))

    async def work(self) -> None:
        while await self.applier.due():
            await self.applier.run()
        while await self.texts.due():
            await self.texts.run()

    async def bodies(self) -> list[str]:
        return await OUTBOUND.read(self.services, "body")


@asynccontextmanager
async def open_office(services: Services, account: Opened) -> AsyncGenerator[Office]:
    """Open an account whose company name and texts are short."""
    clock = At(START)
    acceptor = SendAcceptor(services.database.pool, clock, services.notify, services.connections)
    opened = Office(
        services,
        account,
        clock,
        replace(services.intake, clock=clock),
        replace(open_applier(services), clock=clock),
        replace(open_booking_texts(services), clock=clock, acceptor=acceptor),
    )
    async with opened.unit() as unit:
        await accounts.update(unit, {"company_name": "Acme"})
    yield opened
    await acceptor.close()


@pytest.fixture
async def office(services: Services, account: Opened) -> AsyncGenerator[Office]:
    """Provide an account with short texts."""
    async with open_office(services, account) as opened:
        yield opened
