"""The addresses of tools under load: what is being applied, flooded or paused delays no other."""

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.contacts import service as contacts
from app.domain.integrations import service
from tests.domain.integrations.conftest import START, Office, open_office
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import INTEGRATION_EVENTS, INTEGRATIONS, SECRET
from tests.factories.traps import locked, until_blocked, writes_refused
from tests.peers import calcom
from tests.peers.visits import Visit
from tests.waiting import within

pytestmark = pytest.mark.anyio


def booking(number: int) -> bytes:
    return calcom.event("BOOKING_CREATED", Visit(number, START - timedelta(minutes=1), START + timedelta(days=3)))


async def test_an_event_is_answered_while_another_one_of_its_tool_is_being_applied(office: Office) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
    await office.post(integration, booking(0))
    pool = office.services.database.pool

    async with locked(pool, CONTACTS):
        applying = asyncio.create_task(office.applier.run())
        await until_blocked(pool)
        answer = await within("an answer", office.post(integration, booking(1)))
        assert not applying.done()

    await within("the application", applying)
    await office.work()
    assert answer is not None
    assert await INTEGRATION_EVENTS.read(office.services, "status") == ["applied", "applied"]


async def test_an_event_is_applied_while_the_older_one_of_another_tool_is_being_applied(office: Office) -> None:
    slow, quick = await office.connect("calcom"), await office.connect("calcom")
    async with office.unit() as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
    await office.post(slow, booking(0))
    office.clock.instant += timedelta(seconds=1)
    for number in (1, 2):
        await office.post(quick, calcom.booked(Visit(number, START, START + timedelta(days=3), phone="")))
    pool = office.services.database.pool

    async with locked(pool, CONTACTS):
        applying = asyncio.create_task(office.applier.run())
        await until_blocked(pool)
        await within("the other tool", office.applier.run())
        states = INTEGRATION_EVENTS.where(integration_id=quick.id)
        assert await states.read(office.services, "status") == ["applied", "applied"]

    await within("the application", applying)


@pytest.mark.parametrize("secret", [SECRET, "forged"])
async def test_events_of_an_account_whose_integration_is_locked_leave_connections_to_others(
    office: Office, new_account: Any, secret: str
) -> None:
    async with open_office(office.services, await new_account()) as other:
        kept, quiet = await office.connect("calcom"), await other.connect("calcom")
        pool = office.services.database.pool
        signed = [calcom.sign(booking(number), START, secret) for number in range(30)]

        async with locked(pool, INTEGRATIONS.where(id=kept.id)):
            arriving = [asyncio.create_task(office.deliver(kept, each)) for each in signed]
            await until_blocked(pool)
            answer = await within("an answer", other.post(quiet, booking(30)))
            assert not any(each.done() for each in arriving)

        arrived = await asyncio.gather(*arriving, return_exceptions=True)
    assert answer is not None
    are_stored = secret == SECRET
    assert {isinstance(each, int) for each in arrived} == {are_stored}
    counted = await INTEGRATIONS.where(id=kept.id).only(office.services, "received", "refused")
    assert counted == ((30, 0) if are_stored else (0, 30))
    assert await INTEGRATION_EVENTS.where(integration_id=kept.id).count(office.services) == (30 if are_stored else 0)


async def test_of_equal_events_that_arrive_together_one_is_stored(office: Office) -> None:
    integration = await office.connect("calcom")

    answers = await asyncio.gather(*(office.post(integration, booking(number % 2)) for number in range(10)))

    ids = await INTEGRATION_EVENTS.read(office.services, "id")
    assert sorted(filter(None, answers)) == sorted(ids)
    assert len(ids) == 2
    assert await INTEGRATIONS.only(office.services, "received") == 10


async def test_an_event_that_cannot_be_stored_fails_alone(office: Office) -> None:
    integration = await office.connect("calcom")
    events = [calcom.booked(Visit(number, START, START, chain="trap" if number == 1 else "")) for number in range(3)]

    async with writes_refused(office.services.database.pool, "integration_events", "body NOT LIKE '%trap%'"):
        answers = await asyncio.gather(*(office.post(integration, each) for each in events), return_exceptions=True)

    assert [isinstance(each, int) for each in answers] == [True, False, True]
    assert await INTEGRATIONS.only(office.services, "received") == 2


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_tool_that_is_flooded_delays_no_other(office: Office, is_paused: bool) -> None:
    flooded, quiet = await office.connect("calcom"), await office.connect("calcom")
    for number in range(30):
        await office.post(flooded, booking(number))
    if is_paused:
        async with office.unit() as unit:
            await service.pause(unit, flooded.id)
    await office.post(quiet, booking(30))

    await replace(office.applier, batch=2).run()

    assert await INTEGRATION_EVENTS.where(integration_id=quiet.id).read(office.services, "status") == ["applied"]
    waiting = INTEGRATION_EVENTS.where(integration_id=flooded.id, status="waiting")
    assert await waiting.count(office.services) == (30 if is_paused else 29)
    assert await office.applier.due() is not is_paused
    assert await INTEGRATIONS.where(id=flooded.id).only(office.services, "received") == 30


@pytest.mark.parametrize("field", ["uid", "rescheduleUid"])
async def test_an_id_that_is_too_long_for_an_index_fails_its_event_at_once(office: Office, field: str) -> None:
    integration = await office.connect("calcom")
    letters = "".join(map(chr, random.Random(1).sample(range(0x4E00, 0x9FFF), 1000)))

    await office.post(integration, calcom.booked(Visit(0, START, START + timedelta(days=3)), **{field: letters}))
    await office.work()

    reason = f"The field {field} has more than 200 characters."
    assert await INTEGRATION_EVENTS.only(office.services, "status", "result") == ("failed", reason)


async def test_an_event_that_the_service_cannot_apply_is_put_off_alone(office: Office) -> None:
    broken, other = await office.connect("calcom"), await office.connect("calcom")
    reported = list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    await office.post(broken, calcom.booked(Visit(0, START, START + timedelta(days=3)), eventTitle="trap"))
    await office.post(other, booking(1))

    async with writes_refused(office.services.database.pool, "bookings", "title <> 'trap'"):
        await office.applier.run()

    events = INTEGRATION_EVENTS.where(status="applied")
    assert await events.read(office.services, "integration_id") == [other.id]
    put_off = INTEGRATION_EVENTS.where(integration_id=broken.id)
    assert await put_off.only(office.services, "status", "attempts") == ("waiting", 1)
    assert [each.partition(" could")[0] for each in reported] == [
        f"event {await put_off.only(office.services, 'id')} of an integration"
    ]


async def test_an_event_that_fails_in_two_workers_at_once_is_counted_once(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, b"{}")
    pool, workers = office.services.database.pool, [office.applier, replace(office.applier)]

    async with locked(pool, INTEGRATION_EVENTS):
        runs = [asyncio.create_task(each.run()) for each in workers]
        await until_blocked(pool, len(runs))

    await within("the failures", asyncio.gather(*runs))
    assert await INTEGRATION_EVENTS.only(office.services, "status") == "failed"
    assert await INTEGRATIONS.only(office.services, "failed") == 1
