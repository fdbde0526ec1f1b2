"""Pauses of sequences, which change no enrollment, and of enrollments."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing.service import InsufficientCredits
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Conflict, DomainError, InvalidInput, NotFound
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Acceptance, Send
from app.domain.quiet_hours.errors import QuietHours
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.setting_aside import set_aside
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.sequences.acceptors import with_acceptor
from tests.domain.sequences.conftest import after, bodies, standing, wait
from tests.domain.sequences.test_steps import interrupted
from tests.factories.events import IDEMPOTENCY_KEYS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

HOUR = timedelta(hours=1)


@pytest.fixture
def set_status(act: Callable[..., Any]) -> Callable[..., Any]:
    """Provide a function that changes the status of a sequence."""

    async def set_status(id: int, status: str) -> None:
        async with act() as unit:
            await service.update_status(unit, id, SequenceStatus(status))

    return set_status


@pytest.fixture
def pause(act: Callable[..., Any]) -> Callable[..., Any]:
    """Provide a function that pauses an enrollment."""

    async def pause(enrollment_id: int, until: datetime | None = None) -> Any:
        async with act() as unit:
            return await enrollments.pause(unit, enrollment_id, until)

    return pause


@pytest.fixture
def resume(act: Callable[..., Any]) -> Callable[..., Any]:
    """Provide a function that resumes an enrollment."""

    async def resume(enrollment_id: int) -> Any:
        async with act() as unit:
            return await enrollments.resume(unit, enrollment_id)

    return resume


async def die_after_the_send(services: Services, drip: Drip) -> None:
    class Dying(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await super().accept(actor, send)
            raise RuntimeError("The worker dies.")

    with pytest.raises(RuntimeError, match="dies"):
        await with_acceptor(Dying, services, drip).run()


async def enroll_people(act: Any, enroll: Any, id: int, count: int) -> None:
    for number in range(count):
        async with act() as unit:
            contact = await contacts.create(unit, {"phone": f"+1202555{1000 + number}"})
        await enroll(id, contact.id)


async def test_a_pause_writes_no_enrollment_and_a_worker_sets_each_due_one_aside_once(
    act: Any, make: Any, enroll: Any, set_status: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll_people(act, enroll, id, 5)
    before = await SEQUENCE_ENROLLMENTS.read(pool)
    await set_status(id, "paused")
    paused = await SEQUENCE_ENROLLMENTS.read(pool)

    small = replace(drip, batch=2)
    runs = [await small.run() for _ in range(3)]
    is_due = await drip.due()

    assert paused == before
    assert runs == [True, True, False]
    assert await SEQUENCE_ENROLLMENTS.read(pool, "is_set_aside") == [True] * 5
    assert (is_due, await bodies(pool)) == (False, [])


async def test_steps_set_aside_are_sent_after_the_pause(
    act: Any, make: Any, enroll: Any, set_status: Any, drip: Drip, pool: Pool
) -> None:
    id = await make(NewStep(0, "Only"))
    await enroll_people(act, enroll, id, 5)
    await set_status(id, "paused")
    while await drip.due():
        await drip.run()
    await set_status(id, "active")

    while await drip.due():
        await drip.run()

    assert await bodies(pool) == ["Only"] * 5
    assert await SEQUENCE_ENROLLMENTS.read(pool, "status", "is_set_aside") == [("finishing", False)] * 5
    assert await SEQUENCES.read(pool, "has_set_aside") == [False]


async def test_a_step_is_not_sent_once_its_sequence_was_paused_since_its_claim(
    make: Any, enroll: Any, set_status: Any, services: Services, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)

    await interrupted(services, drip, lambda: set_status(id, "paused")).run()
    await drip.run()

    assert await bodies(pool) == []
    assert await SEQUENCE_ENROLLMENTS.read(pool, "status", "is_set_aside") == [("active", True)]


async def test_an_enrollment_that_was_claimed_before_the_end_of_the_pause_is_not_left_aside(
    make: Any, enroll: Any, set_status: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    enrolled = await enroll(id)
    await set_status(id, "paused")
    until = datetime.now(UTC) + timedelta(minutes=1)
    await SEQUENCE_ENROLLMENTS.change(pool, claimed_until=until)
    await set_status(id, "active")

    await set_aside(pool, [id], [(enrolled.enrollment_id, until)])
    await after(drip, minutes=2).run()

    assert await bodies(pool) == ["Welcome, Ann!"]


async def test_a_paused_enrollment_sends_nothing_and_goes_on_with_the_rest_of_its_delay(
    make: Any, enroll: Any, pause: Any, resume: Any, drip: Drip, pool: Pool
) -> None:
    enrolled = await enroll(await make())
    await drip.run()

    paused = await pause(enrolled.enrollment_id)
    again = await pause(enrolled.enrollment_id)
    is_due = await after(drip, days=30).due()
    resumed = await resume(enrolled.enrollment_id)
    same = await resume(enrolled.enrollment_id)
    left = await wait(pool)
    await after(drip, minutes=61).run()

    assert (paused.next_send_at, paused.paused_until) == (None, None)
    assert HOUR - timedelta(minutes=1) < paused.remaining == again.remaining <= HOUR
    assert is_due is False
    assert (resumed.remaining, same.next_send_at) == (None, resumed.next_send_at)
    assert HOUR - timedelta(minutes=1) < left <= HOUR
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]


async def test_a_pause_until_a_time_ends_by_itself(make: Any, enroll: Any, pause: Any, drip: Drip, pool: Pool) -> None:
    enrolled = await enroll(await make())
    await drip.run()
    until = datetime.now(UTC) + timedelta(days=3)

    paused = await pause(enrolled.enrollment_id, until)
    early = await after(drip, days=3).due()
    await after(drip, days=3, minutes=61).run()

    assert timedelta(minutes=59) < paused.next_send_at - until <= HOUR
    assert (paused.is_paused_at(until - HOUR), paused.is_paused_at(until)) == (True, False)
    assert early is False
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]
    assert await SEQUENCE_ENROLLMENTS.read(pool, "status", "remaining", "paused_until") == [("finishing", None, None)]


async def test_a_step_is_not_sent_once_its_enrollment_was_paused_since_its_claim(
    make: Any, enroll: Any, pause: Any, services: Services, drip: Drip, pool: Pool
) -> None:
    enrolled = await enroll(await make())

    await interrupted(services, drip, lambda: pause(enrolled.enrollment_id)).run()

    assert await bodies(pool) == []
    assert await SEQUENCE_ENROLLMENTS.read(pool, "status", "next_send_at") == [("active", None)]


@pytest.mark.parametrize("days", [None, 3])
@pytest.mark.parametrize("refusal", [QuietHours(rule="US", until="08:00"), InsufficientCredits(needed=1, balance=0)])
async def test_a_step_that_is_put_off_after_a_pause_of_its_enrollment_does_not_end_the_pause(
    make: Any,
    enroll: Any,
    pause: Any,
    *,
    services: Services,
    drip: Drip,
    pool: Pool,
    refusal: DomainError,
    days: int | None,
) -> None:
    enrolled = await enroll(await make())
    until = days and datetime.now(UTC) + timedelta(days=days)

    class Refusing(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await pause(enrolled.enrollment_id, until)
            raise refusal

    await with_acceptor(Refusing, services, drip).run()
    await after(drip, hours=30).run()

    assert await bodies(pool) == []
    assert await SEQUENCE_ENROLLMENTS.read(pool, "status", "next_send_at") == [("active", until)]


@pytest.mark.parametrize("days", [None, 3])
async def test_a_step_that_was_sent_while_its_enrollment_was_paused_is_not_sent_again(
    make: Any, enroll: Any, pause: Any, resume: Any, *, services: Services, drip: Drip, pool: Pool, days: int | None
) -> None:
    enrolled = await enroll(await make())
    until = days and datetime.now(UTC) + timedelta(days=days)

    class Paused(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            accepted = await super().accept(actor, send)
            await pause(enrolled.enrollment_id, until)
            return accepted

    await with_acceptor(Paused, services, drip).run()
    [(position, left, next_send_at)] = await SEQUENCE_ENROLLMENTS.read(pool, "position", "remaining", "next_send_at")
    await IDEMPOTENCY_KEYS.delete(pool)
    await resume(enrolled.enrollment_id)
    await after(drip, minutes=61).run()

    assert (position, left) == (2, HOUR)
    assert next_send_at == (until and until + HOUR)
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]


@pytest.mark.parametrize("days", [None, 3])
async def test_a_step_whose_worker_died_before_a_pause_of_its_enrollment_is_not_sent_again(
    make: Any, enroll: Any, pause: Any, resume: Any, *, services: Services, drip: Drip, pool: Pool, days: int | None
) -> None:
    enrolled = await enroll(await make())
    until = days and datetime.now(UTC) + timedelta(days=days)
    await die_after_the_send(services, drip)

    await pause(enrolled.enrollment_id, until)
    await pause(enrolled.enrollment_id, until)
    await after(drip, seconds=11).run()
    [(position, left, at)] = await SEQUENCE_ENROLLMENTS.read(pool, "position", "remaining", "next_send_at")
    await IDEMPOTENCY_KEYS.delete(pool)
    is_due = await after(drip, hours=3).due()
    await resume(enrolled.enrollment_id)
    await after(drip, minutes=61).run()

    assert (position, left, is_due) == (2, HOUR, False)
    assert at == (until and until + HOUR)
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]


async def test_a_step_whose_worker_died_before_a_pause_of_its_sequence_is_not_sent_again(
    make: Any, enroll: Any, set_status: Any, services: Services, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await die_after_the_send(services, drip)

    await set_status(id, "paused")
    await after(drip, seconds=11).run()
    await IDEMPOTENCY_KEYS.delete(pool)
    await set_status(id, "active")
    await after(drip, minutes=62).run()

    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]


async def test_a_paused_enrollment_ends_with_a_reply(
    make: Any, enroll: Any, pause: Any, text: Any, dispatch: Any, pool: Pool
) -> None:
    enrolled = await enroll(await make())
    await pause(enrolled.enrollment_id)

    await text("Who is this?")
    await dispatch()

    assert await standing(pool) == [("exited", "replied", 1)]


async def test_a_contact_that_is_enrolled_again_while_it_is_paused_stays_paused(
    make: Any, enroll: Any, pause: Any, pool: Pool
) -> None:
    id = await make()
    enrolled = await enroll(id)
    await pause(enrolled.enrollment_id)

    again = await enroll(id)

    assert (again.already, again.enrollment_id) == (True, enrolled.enrollment_id)
    assert await SEQUENCE_ENROLLMENTS.read(pool, "next_send_at") == [None]


@pytest.mark.parametrize("days", [-1, 366])
async def test_a_pause_until_a_time_that_is_past_or_far_is_refused(
    make: Any, enroll: Any, pause: Any, pool: Pool, days: int
) -> None:
    enrolled = await enroll(await make())

    with pytest.raises(InvalidInput):
        await pause(enrolled.enrollment_id, datetime.now(UTC) + timedelta(days=days))

    assert await SEQUENCE_ENROLLMENTS.read(pool, "remaining") == [None]


async def test_an_enrollment_that_has_ended_is_not_paused(
    act: Any, make: Any, enroll: Any, pause: Any, resume: Any, pool: Pool
) -> None:
    enrolled = await enroll(await make())
    async with act() as unit:
        await enrollments.unenroll(unit, enrolled.enrollment_id)

    with pytest.raises(Conflict, match="is exited"):
        await pause(enrolled.enrollment_id)
    with pytest.raises(Conflict, match="is exited"):
        await resume(enrolled.enrollment_id)
    with pytest.raises(NotFound):
        await pause(10**12)

    assert await standing(pool) == [("exited", "removed", 1)]
