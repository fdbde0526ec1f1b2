"""A campaign, its contacts, and the workers that send it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import open_campaigns, open_dispatcher
from app.db.engine import Pool
from app.domain.campaigns import previews, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.previews import Preview
from app.domain.campaigns.progress import Progress
from app.domain.campaigns.runner import CampaignRunner
from app.domain.campaigns.service import Order
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.clocks import Moving

BODY = "Hi {first_name}, our sale begins today."
NOW = Order(consent_attested=True)
EVERYONE = Audience(everyone=True)

Act = Callable[[], AbstractAsyncContextManager[UnitOfWork]]
Make = Callable[..., Awaitable[Campaign]]
Run = Callable[[], Awaitable[None]]
Accept = Callable[[int], Awaitable[None]]


async def preview_of(services: Services, act: Act, campaign_id: int) -> Preview:
    """Return the preview of a campaign."""

    async with act() as unit:
        return await previews.preview(unit, services.database.pool, campaign_id, 10)


@pytest.fixture
def pool(services: Services) -> Pool:
    """Provide the database pool."""
    return services.database.pool


@pytest.fixture
def act(services: Services, account: Opened) -> Act:
    """Provide a function that opens a unit of work of the account."""
    return lambda: unit_of(services, Actor(account.account_id, frozenset(), "key:7"))


@pytest.fixture
def add(act: Act) -> Callable[..., Awaitable[int]]:
    """Provide a function that adds a contact, and returns its id."""

    async def add(phone: str, **fields: Any) -> int:
        async with act() as unit:
            return (await contacts.create(unit, {"phone": phone, **fields})).id  # type: ignore[typeddict-item]

    return add


@pytest.fixture
def make(act: Act) -> Make:
    """Provide a function that creates a draft, by default to everyone."""

    async def make(**fields: Any) -> Campaign:
        given = {"name": "Sale", "body": BODY, "audience": EVERYONE, **fields}
        async with act() as unit:
            return await service.create(unit, given)  # type: ignore[arg-type]

    return make


@pytest.fixture
def send(act: Act, make: Make) -> Make:
    """Provide a function that creates a campaign and sends it."""

    async def send(order: Order = NOW, **fields: Any) -> Campaign:
        campaign = await make(**fields)
        async with act() as unit:
            return await service.send(unit, campaign.id, order)

    return send


@pytest.fixture
def runner(services: Services) -> CampaignRunner:
    """Provide the runner of campaigns."""
    return replace(open_campaigns(services), clock=Moving())


@pytest.fixture
def step(runner: CampaignRunner) -> Callable[[], Awaitable[bool]]:
    """Provide a function that takes a step of the campaign that has been due longest, a second after the last."""

    async def step() -> bool:
        assert isinstance(runner.clock, Moving)
        runner.clock.move(seconds=1)
        return await runner.due() and (await runner.run() or True)

    return step


@pytest.fixture
def accept(step: Callable[[], Awaitable[bool]]) -> Accept:
    """Provide a function that takes steps of campaigns: the first writes the recipients, the others accept texts."""

    async def accept(steps: int) -> None:
        for _ in range(steps):
            await step()

    return accept


@pytest.fixture
def leave(services: Services) -> Run:
    """Provide a function that hands off the accepted texts, and dispatches the events of it."""
    dispatcher = open_dispatcher(services)

    async def leave() -> None:
        await hand_over(services.handoff)
        while await dispatcher.due():
            await dispatcher.run()

    return leave


@pytest.fixture
def run(services: Services, step: Callable[[], Awaitable[bool]], work: Run) -> Run:
    """Provide a function that runs all jobs until nothing is due: campaigns, hand-off, callbacks, events, counts."""
    dispatcher, progress = open_dispatcher(services), Progress(services.database, services.notify)

    async def run() -> None:
        while await step() or await dispatcher.due() or await services.handoff.due():
            await work()
            while await dispatcher.due():
                await dispatcher.run()
        await progress.run()
        while await dispatcher.due():
            await dispatcher.run()

    return run


@pytest.fixture
def text(services: Services, account: Opened) -> Callable[..., Awaitable[None]]:
    """Provide a function that delivers an inbound message to the account's number."""
    ids = iter(range(1, 1000))

    async def text(body: str, sender: str) -> None:
        inbound = InboundMessage(f"in-{next(ids)}", sender, account.phone_number, body)
        await services.inbox.receive("sandbox", inbound)

    return text
