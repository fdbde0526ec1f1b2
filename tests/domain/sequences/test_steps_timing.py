"""When steps are sent: after an outage, after a pause, when they cannot be paid."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Unavailable
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.sequences import service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.sequences.acceptors import HOUR, with_acceptor
from tests.domain.sequences.conftest import after, bodies, standing, wait
from tests.factories.sequences import SEQUENCE_ENROLLMENTS


class Away(SendAcceptor):
    """An acceptor that does not reach the database."""

    async def accept(self, actor: Any, send: Send) -> Acceptance:
        raise Unavailable()


async def test_steps_that_are_on_time_follow_as_they_are_written(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make(NewStep(0, "One"), NewStep(0, "Two"), NewStep(5, "Three")))

    await drip.run()
    await drip.run()

    assert await bodies(pool) == ["One", "Two"]
    assert await wait(pool) == timedelta(minutes=5)


async def test_after_an_outage_steps_are_an_hour_apart(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make(NewStep(0, "One"), NewStep(5, "Two"), NewStep(120, "Three")))
    late = timedelta(hours=23)

    await after(drip, hours=23).run()
    apart = await wait(pool)
    await after(drip, hours=23, minutes=59).run()
    await after(drip, hours=23, minutes=61).run()

    assert apart == late + HOUR
    assert await bodies(pool) == ["One", "Two"]
    assert timedelta(0) <= await wait(pool) - (late + HOUR + 2 * HOUR) <= timedelta(minutes=2)


@pytest.mark.parametrize("hours", [25, 47, 49])
async def test_a_step_that_was_missed_for_a_day_waits_for_its_time_of_the_day(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool, hours: int
) -> None:
    await enroll(await make(NewStep(0, "One"), NewStep(5, "Two")))
    due_after = 24 * (hours // 24 + 1)

    await after(drip, hours=hours).run()

    assert (await bodies(pool), await standing(pool)) == ([], [("active", "", 1)])
    assert abs(await wait(pool) - timedelta(hours=due_after)) <= timedelta(minutes=2)
    await after(drip, hours=due_after - 1).run()
    assert await bodies(pool) == []
    await after(drip, hours=due_after, minutes=2).run()
    assert await bodies(pool) == ["One"]


async def test_a_paused_sequence_takes_contacts_and_sends_nothing_until_it_goes_on(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make()
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.paused)
    await enroll(sequence_id)

    waits = await drip.run(), await drip.due(), await bodies(pool)
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.active)
    while await drip.due():
        await drip.run()

    assert waits == (False, False, [])
    assert await bodies(pool) == ["Welcome, Ann!"]


async def test_a_pause_holds_enrollments_and_overdue_steps_are_sent_one_at_a_time_after_it(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make(NewStep(0, "One"), NewStep(5, "Two"), NewStep(5, "Three"))
    await enroll(sequence_id)
    await drip.run()
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.paused)
    await after(drip, days=2).run()
    held = await after(drip, days=2).due()
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.active)

    await after(drip, days=2).run()
    again = await after(drip, days=2, minutes=30).due()

    assert (held, again) == (False, False)
    assert await bodies(pool) == ["One", "Two"]


async def test_a_step_that_cannot_be_paid_is_tried_three_more_times_in_a_day_and_then_given_up(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    async with act() as unit:
        await billing.grant(unit, -1000, "Spent")
    await enroll(await make())
    waits = []

    for hours in (0, 1.1, 7.2, 24.5):
        await after(drip, hours=hours).run()
        if (await standing(pool))[0][0] == "active":
            waits.append((await wait(pool)) - timedelta(hours=hours))

    assert [round(each.total_seconds() / 3600) for each in waits] == [1, 6, 17]
    assert await standing(pool) == [("exited", "insufficient_credits", 1)]
    assert await bodies(pool) == []


async def test_a_step_that_can_be_paid_later_is_sent_then(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    async with act() as unit:
        await billing.grant(unit, -1000, "Spent")
    await enroll(await make(NewStep(0, "One"), NewStep(5, "Two")))
    await drip.run()
    async with act() as unit:
        await billing.grant(unit, 10, "Paid")

    await after(drip, hours=1.1).run()

    assert await bodies(pool) == ["One"]
    assert await standing(pool) == [("active", "", 2)]
    assert await SEQUENCE_ENROLLMENTS.only(pool, "attempts") == 0
    assert await wait(pool) >= 2 * HOUR


async def test_a_phone_that_takes_no_texts_ends_the_enrollment(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    async with act() as unit:
        landline = await contacts.create(unit, {"phone": "+442071838750"})
    await enroll(await make(), landline.id)

    await drip.run()

    assert await standing(pool) == [("exited", "landline", 1)]
    assert await bodies(pool) == []


async def test_a_step_waits_for_the_next_run_while_the_database_is_unreachable(
    make: Callable[..., Any], enroll: Callable[..., Any], services: Services, drip: Drip, pool: Pool
) -> None:
    await enroll(await make())

    await with_acceptor(Away, services, drip).run()
    await after(drip, minutes=2).run()

    assert await bodies(pool) == ["Welcome, Ann!"]
    assert await standing(pool) == [("active", "", 2)]
