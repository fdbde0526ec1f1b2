"""A drip sequence, a contact, and the sender of steps."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.bootstrap import open_dispatcher, open_drip
from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.clocks import Later
from tests.factories.messages import OUTBOUND
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.factories.tables import ago

PHONE = "+12025550143"
ANN = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}
TWO = (NewStep(0, "Welcome, {first_name}!"), NewStep(60, "How do you like it?"))
"""The steps of the usual sequence: one at once, one an hour later."""


@pytest.fixture
def pool(services: Services) -> Pool:
    """Provide the database pool."""
    return services.database.pool


@pytest.fixture
def act(services: Services, account: Opened) -> Callable[[], AbstractAsyncContextManager[UnitOfWork]]:
    """Provide a function that opens a unit of work of the account."""
    return lambda: unit_of(services, Actor(account.account_id, frozenset(), "key:7"))


@pytest.fixture
async def contact_id(act: Callable[..., Any]) -> int:
    """Provide a contact."""
    async with act() as unit:
        return (await contacts.create(unit, ANN)).id


@pytest.fixture
def make(act: Callable[..., Any]) -> Callable[..., Awaitable[int]]:
    """Provide a function that creates a sequence."""

    async def make(*steps: NewStep, name: str = "Welcome") -> int:
        async with act() as unit:
            return (await service.create(unit, name, steps or TWO)).id

    return make


@pytest.fixture
def enroll(act: Callable[..., Any], contact_id: int) -> Callable[..., Awaitable[Any]]:
    """Provide a function that enrolls a contact in a sequence."""

    async def enroll(sequence_id: int, whom: int = contact_id) -> Any:
        async with act() as unit:
            return await enrollments.enroll(unit, sequence_id, whom)

    return enroll


@pytest.fixture
def text(services: Services, account: Opened) -> Callable[..., Awaitable[None]]:
    """Provide a function that delivers an inbound message to the account's number."""
    ids = iter(range(1, 1000))

    async def text(body: str, sender: str = PHONE) -> None:
        inbound = InboundMessage(f"in-{next(ids)}", sender, account.phone_number, body)
        await services.inbox.receive("sandbox", inbound)

    return text


@pytest.fixture
def drip(services: Services) -> Drip:
    """Provide the sender of due steps."""
    return open_drip(services)


@pytest.fixture
def dispatch(services: Services) -> Callable[[], Awaitable[None]]:
    """Provide a function that dispatches all events with the reactions of sequences."""
    dispatcher = open_dispatcher(services)

    async def dispatch() -> None:
        while await dispatcher.due():
            await dispatcher.run()

    return dispatch


@pytest.fixture
def deliver(services: Services, dispatch: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Provide a function that hands all due messages to the carrier, and dispatches the events of its answers."""

    async def deliver() -> None:
        await hand_over(services.handoff)
        await dispatch()

    return deliver


def after(drip: Drip, **ahead: float) -> Drip:
    """Return the sender of the steps that are due after a time."""
    return replace(drip, clock=Later(timedelta(**ahead)))


async def standing(pool: Pool) -> list[tuple[str, str, int]]:
    """Return the status, exit reason and next step of every enrollment, in order."""
    return await SEQUENCE_ENROLLMENTS.read(pool, "status", "exit_reason", "position")


async def bodies(pool: Pool) -> list[str]:
    """Return the bodies of accepted messages, in order."""
    return await OUTBOUND.read(pool, "body")


async def wait(pool: Pool) -> timedelta:
    """Return the time until the next step of the only enrollment, rounded to minutes."""
    until = await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at") - ago()
    return timedelta(minutes=round(until / timedelta(minutes=1)))
