"""Sending steps: in order, once each, whatever dies on the way."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.bootstrap import Services
from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Unavailable
from app.domain.messages.acceptance import Acceptance
from app.domain.messages.desk import Desk, Send
from app.domain.sequences import service
from app.domain.sequences.events import DripCompleted
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.service import NewStep
from app.domain.sequences.steps import Drip
from tests.domain.books import audit, payloads, told
from tests.domain.sequences.conftest import PHONE, after, bodies, standing, wait

HOUR = timedelta(hours=1)


class Dying(Desk):
    """A desk whose caller dies as soon as a send is accepted."""

    async def accept(self, actor: Any, send: Send) -> Acceptance:
        await super().accept(actor, send)
        raise asyncio.CancelledError


class Away(Desk):
    """A desk that does not reach the database."""

    async def accept(self, actor: Any, send: Send) -> Acceptance:
        raise Unavailable()


def at(desk: type[Desk], services: Services, drip: Drip) -> Drip:
    return replace(drip, desk=desk(services.database.pool, services.clock, services.ring, 10))


async def test_steps_are_sent_one_after_the_other_and_then_it_is_told(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool, contact_id: int
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)

    await drip.run()
    first = await standing(pool), await bodies(pool), await wait(pool)
    early = await after(drip, minutes=59).due()
    await after(drip, minutes=61).run()

    assert first == ([("active", "", 2)], ["Welcome, Ann!"], HOUR)
    assert early is False
    assert await standing(pool) == [("completed", "", 3)]
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]
    [completed] = await payloads(pool, "drip_completed")
    assert list(completed) == list(DripCompleted.example)
    assert completed | {"completed_at": ""} == {
        "contact_id": contact_id,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": PHONE,
        "email": "ann@example.com",
        "sequence_id": sequence_id,
        "sequence_name": "Welcome",
        "completed_at": "",
    }
    assert not await after(drip, days=365).due()
    await audit(pool)


async def test_a_step_is_a_promotional_text_with_its_consent_and_its_debit(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)

    await drip.run()

    [message] = await pool.fetch("SELECT id, purpose, actor, to_number, credits FROM messages")
    assert tuple(message) == (message["id"], "promotional", f"sequence:{sequence_id}", PHONE, 1)
    [attested] = await pool.fetch("SELECT method, actor FROM consents WHERE message_id = $1", message["id"])
    assert tuple(attested) == ("enrollment", f"sequence:{sequence_id}")


async def test_a_step_sent_by_a_worker_that_died_before_it_went_on_is_not_sent_again(
    make: Callable[..., Any], enroll: Callable[..., Any], services: Services, drip: Drip, pool: Pool
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    with pytest.raises(asyncio.CancelledError):
        await at(Dying, services, drip).run()
    claimed = await standing(pool), await drip.due()
    await pool.execute("UPDATE contacts SET first_name = 'Changed since'")

    await after(drip, minutes=2).run()
    await after(drip, minutes=4).run()

    assert claimed == ([("active", "", 1)], False)
    assert await bodies(pool) == ["Only"]
    assert await standing(pool) == [("completed", "", 2)]
    assert await told(pool, "drip_completed") == ["drip_completed"]
    await audit(pool)


@pytest.mark.parametrize("words", ["Thanks, who is this?", "STOP"])
async def test_a_last_step_that_was_sent_completes_the_sequence_whatever_is_said_before_that_is_noted(
    *,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
    words: str,
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    with pytest.raises(asyncio.CancelledError):
        await at(Dying, services, drip).run()
    await text(words)
    await dispatch()

    await after(drip, minutes=2).run()

    assert (await bodies(pool)).count("Only") == 1
    assert await standing(pool) == [("completed", "", 2)]
    assert await told(pool, "drip_completed") == ["drip_completed"]


async def test_a_reply_after_a_step_that_was_not_the_last_ends_the_enrollment(
    *,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())
    with pytest.raises(asyncio.CancelledError):
        await at(Dying, services, drip).run()
    await text("Thanks, who is this?")
    await dispatch()

    await after(drip, minutes=2).run()

    assert await bodies(pool) == ["Welcome, Ann!"]
    assert await standing(pool) == [("exited", "replied", 1)]


def interrupted(services: Services, drip: Drip, interrupt: Callable[[], Any]) -> Drip:
    """Return a drip in which something happens between the claim of a step and its sending."""

    class Interrupted(Desk):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await interrupt()
            return await super().accept(actor, send)

    return at(Interrupted, services, drip)


async def test_a_step_is_not_sent_once_its_enrollment_was_ended(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    act: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    enrolled = await enroll(await make())

    async def unenroll() -> None:
        async with act() as unit:
            await service.unenroll(unit, enrolled.enrollment_id)

    await interrupted(services, drip, unenroll).run()

    assert await bodies(pool) == []
    assert await standing(pool) == [("exited", "removed", 1)]
    assert await pool.fetchval("SELECT balance FROM accounts") == 1000


async def test_a_step_is_not_sent_once_the_contact_has_replied_whether_or_not_that_was_heard(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    await interrupted(services, drip, lambda: text("Thanks, who is this?")).run()
    is_due = await drip.due()
    await drip.run()

    assert is_due
    assert await bodies(pool) == []
    assert await standing(pool) == [("exited", "replied", 1)]


async def test_a_text_that_is_no_reply_delays_a_step_by_one_look(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    await interrupted(services, drip, lambda: text("Out of office")).run()
    before = await bodies(pool)
    await drip.run()

    assert (before, await bodies(pool)) == ([], ["Welcome, Ann!"])


async def test_a_step_whose_worker_slept_past_its_claim_is_sent_and_told_once(
    make: Callable[..., Any], enroll: Callable[..., Any], services: Services, drip: Drip, pool: Pool
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    asleep, wake = asyncio.Event(), asyncio.Event()

    class Asleep(Desk):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            asleep.set()
            await wake.wait()
            return await super().accept(actor, send)

    sleeper = asyncio.create_task(at(Asleep, services, drip).run())
    await asleep.wait()
    await after(drip, minutes=2).run()
    wake.set()
    await sleeper

    assert await bodies(pool) == ["Only"]
    assert await standing(pool) == [("completed", "", 2)]
    assert await told(pool, "drip_completed") == ["drip_completed"]
    await audit(pool)


async def test_many_workers_send_each_step_once(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make(NewStep(0, "Only"))
    for number in range(20):
        async with act() as unit:
            contact = await contacts.create(unit, {"phone": f"+1202555{1000 + number}"})
        await enroll(sequence_id, contact.id)
    small = replace(drip, batch=3)

    while await drip.due():
        await asyncio.gather(*(small.run() for _ in range(4)))

    assert await bodies(pool) == ["Only"] * 20
    assert len(await told(pool, "drip_completed")) == 20
    await audit(pool)


async def test_a_full_batch_says_that_there_may_be_more(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip
) -> None:
    for name in ("One", "Two", "Three"):
        await enroll(await make(NewStep(0, "Only"), name=name))
    pairs = replace(drip, batch=2)

    assert [await pairs.run(), await pairs.run()] == [True, False]


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
    late = timedelta(days=1)

    await after(drip, days=1).run()
    apart = await wait(pool)
    await after(drip, days=1, minutes=59).run()
    await after(drip, days=1, minutes=61).run()

    assert apart == late + HOUR
    assert await bodies(pool) == ["One", "Two"]
    assert timedelta(0) <= await wait(pool) - (late + HOUR + 2 * HOUR) <= timedelta(minutes=2)


async def test_a_paused_sequence_takes_contacts_and_sends_nothing_until_it_goes_on(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make()
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.paused)
    await enroll(sequence_id)

    waits = await drip.due(), await drip.run(), await bodies(pool)
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.active)
    await drip.run()

    assert waits == (False, False, [])
    assert await bodies(pool) == ["Welcome, Ann!"]


async def test_a_pause_holds_what_is_under_way_and_what_became_due_goes_on_a_step_at_a_time(
    act: Callable[..., Any], make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make(NewStep(0, "One"), NewStep(5, "Two"), NewStep(5, "Three"))
    await enroll(sequence_id)
    await drip.run()
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.paused)
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
    assert await pool.fetchval("SELECT attempts FROM sequence_enrollments") == 0
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


async def test_while_the_database_is_away_a_step_waits_for_whoever_comes_next(
    make: Callable[..., Any], enroll: Callable[..., Any], services: Services, drip: Drip, pool: Pool
) -> None:
    await enroll(await make())

    await at(Away, services, drip).run()
    await after(drip, minutes=2).run()

    assert await bodies(pool) == ["Welcome, Ann!"]
    assert await standing(pool) == [("active", "", 2)]


async def test_a_step_goes_to_no_other_contact_that_has_the_phone_by_now(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    contact_id = (await enroll(await make())).contact_id

    class Meanwhile(Desk):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            async with act() as unit:
                await contacts.update(unit, contact_id, {"phone": "+12025550199"})
            return await super().accept(actor, send)

    await at(Meanwhile, services, drip).run()
    before = await bodies(pool), await standing(pool)
    await after(drip, hours=1.1).run()

    assert before == ([], [("active", "", 1)])
    assert await pool.fetchval("SELECT count(*) FROM contacts") == 1
    [sent] = await pool.fetch("SELECT to_number FROM messages")
    assert sent["to_number"] == "+12025550199"


async def test_a_contact_that_is_erased_while_its_step_is_sent_does_not_come_back(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    class Meanwhile(Desk):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await pool.execute("DELETE FROM contacts")
            return await super().accept(actor, send)

    await at(Meanwhile, services, drip).run()

    assert await pool.fetchval("SELECT count(*) FROM contacts") == 0
    assert (await bodies(pool), await standing(pool)) == ([], [])
