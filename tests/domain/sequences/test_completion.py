"""The end of enrollments with the answer of the carrier about their last step."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.sequences.definition import NewStep
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.messages.handing import INVALID
from tests.domain.sequences.acceptors import with_acceptor
from tests.domain.sequences.conftest import after, bodies, standing
from tests.domain.sequences.test_steps import Dying
from tests.factories.billing import balance_of
from tests.factories.events import event_names


async def test_a_sequence_completes_once_when_its_last_step_was_sent_before_that_was_recorded(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    with pytest.raises(asyncio.CancelledError):
        await with_acceptor(Dying, services, drip).run()
    await deliver()
    taken = await standing(pool)

    await after(drip, minutes=2).run()
    await deliver()

    assert taken == [("active", "", 1)]
    assert await bodies(pool) == ["Only"]
    assert await standing(pool) == [("completed", "", 2)]
    assert await event_names(pool, "drip_completed") == ["drip_completed"]


async def test_a_last_step_that_fails_ends_the_enrollment_without_completing_it(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    async with act() as unit:
        wrong = await contacts.create(unit, {"phone": INVALID})
    await enroll(await make(NewStep(0, "Only")), wrong.id)

    await drip.run()
    await deliver()

    assert await standing(pool) == [("exited", "invalid_number", 2)]
    assert await event_names(pool, "drip_completed") == []
    assert await balance_of(pool) == 1000


async def test_a_step_that_can_never_arrive_ends_the_enrollment_before_the_next(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    async with act() as unit:
        wrong = await contacts.create(unit, {"phone": INVALID})
    await enroll(await make(), wrong.id)

    await drip.run()
    await deliver()

    assert await standing(pool) == [("exited", "invalid_number", 2)]
    assert not await after(drip, days=1).due()
