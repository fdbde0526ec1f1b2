"""The addresses of tools under load: what is being applied, flooded or paused delays no other."""

import asyncio
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.contacts import service as contacts
from app.domain.integrations import service
from tests.domain.integrations.conftest import START, Office
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import INTEGRATION_EVENTS, INTEGRATIONS
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
        answer = await within("an answer", office.post(integration, booking(1)), 2)
        assert not applying.done()

    await within("the application", applying)
    await office.work()
    assert answer is not None
    assert await INTEGRATION_EVENTS.read(office.services, "status") == ["applied", "applied"]


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
