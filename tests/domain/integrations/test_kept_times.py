"""The times for which bodies, events and bookings are kept, and what a contact's erasure leaves of them."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.integrations import service
from app.domain.integrations.retention import RULES
from app.domain.kernel import retention
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.test_contract_of_tools import CREATED, VISIT
from tests.domain.integrations.test_no_shows import NO_SHOWS
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import BOOKINGS, INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.factories.traps import locked, until_blocked
from tests.peers import calcom
from tests.waiting import within

pytestmark = pytest.mark.anyio

NAME = "Ann Lee"


async def test_bodies_events_and_bookings_are_kept_for_their_times(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.work()
    left = list[tuple[int, int, int]]()

    for days in (13.9, 14.1, 89.9, 90.1, 367.9, 368.1):
        await retention.apply(RULES, office.services.database.pool, START + timedelta(days=days))
        bodies = await INTEGRATION_EVENTS.where_not(body="").count(office.services)
        left.append((bodies, await INTEGRATION_EVENTS.count(office.services), await BOOKINGS.count(office.services)))

    assert left == [(1, 1, 1), (0, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 1), (0, 0, 0)]


async def test_a_reference_to_a_booking_that_never_arrives_is_kept_as_long_as_a_body(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, NO_SHOWS["calcom"])
    await office.work()
    left = list[int]()

    for days in (13.9, 14.1):
        await retention.apply(RULES, office.services.database.pool, START + timedelta(days=days))
        left.append(await BOOKINGS.count(office.services))

    assert left == [1, 0]


async def test_a_booking_that_was_left_without_a_contact_keeps_nothing_of_the_person(office: Office) -> None:
    integration = await office.connect("calcom")
    for number in (0, 1):
        visit = replace(VISIT, phone=f"+1202555014{number}", chain=str(number))
        await office.post(integration, calcom.booked(visit, eventTitle=f"Check-up with {NAME}"))
    await office.work()
    [kept, left] = await BOOKINGS.read(office.services, "id")
    await BOOKINGS.where(id=left).change(office.services, contact_id=None)

    await retention.apply(RULES, office.services.database.pool, START + timedelta(seconds=1))

    personal = "title", "name", "email", "location", "cancel_url", "reschedule_url"
    assert set(await BOOKINGS.where(id=left).only(office.services, *personal)) == {""}
    assert await BOOKINGS.where(id=kept).only(office.services, "name", "email") == (NAME, "ann0@example.com")


async def test_an_erased_contact_leaves_no_body_of_an_event_that_failed(office: Office) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        ann = await contacts.create(unit, {"phone": "+12025550143", "email": "Ann1@example.com"})
    people = [("+1 (202) 555-0143", "x"), ("2025550144", "1"), ("+12025550145", "2")]
    for place, (phone, chain) in enumerate(people):
        visit = replace(VISIT, phone=phone, chain=chain)
        await office.post(integration, calcom.booked(visit, uid=f"{place}" * 201))
    await office.work()

    async with office.unit() as unit:
        await erasure.erase(unit, ann.id)

    kept = "The field uid has more than 200 characters."
    found = await INTEGRATION_EVENTS.read(office.services, "status", "result", "body")
    assert [(status, result, body != "") for status, result, body in found] == [
        ("failed", "The contact was deleted.", False),
        ("failed", "The contact was deleted.", False),
        ("failed", kept, True),
    ]


async def test_an_event_of_a_paused_integration_with_the_phone_of_an_erased_contact_is_not_applied(
    office: Office,
) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        ann = await contacts.create(unit, {"phone": "+12025550143", "email": "host@example.com"})
    for place, phone in enumerate(("+1 (202) 555-0143", "+12025550144")):
        visit = replace(VISIT, phone=phone, chain=f"{place}")
        await office.post(integration, calcom.booked(visit))
    async with office.unit() as unit:
        await service.pause(unit, integration.id)

    async with office.unit() as unit:
        await erasure.erase(unit, ann.id)
    async with office.unit() as unit:
        await service.resume(unit, office.intake.ports, integration.id)
    await office.work()

    assert await CONTACTS.read(office.services, "phone") == ["+12025550144"]
    assert await BOOKINGS.read(office.services, "phone") == ["+12025550144"]
    events = await INTEGRATION_EVENTS.read(office.services, "status", "result", "body")
    assert events[0] == ("ignored", "The contact was deleted.", "")
    assert (events[1]["status"], events[1]["body"] != "") == ("applied", True)


async def test_an_event_that_is_being_applied_does_not_add_the_contact_that_is_erased_meanwhile(
    office: Office,
) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        ann = await contacts.create(unit, {"phone": VISIT.phone})
    await office.post(integration, CREATED["calcom"])

    async with office.unit() as unit:
        await erasure.erase(unit, ann.id)
        applying = asyncio.create_task(office.applier.run())
        await until_blocked(office.services.database.pool)
    await within("the end of the batch", applying)
    await office.work()

    assert await CONTACTS.count(office.services) == 0
    assert await BOOKINGS.count(office.services) == 0
    assert await INTEGRATION_EVENTS.only(office.services, "status", "body") == ("ignored", "")


async def test_an_erasure_and_an_event_about_a_booking_of_the_contact_wait_for_each_other_in_one_order(
    office: Office,
) -> None:
    reported = list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    integration, pool = await office.connect("calcom"), office.services.database.pool
    await office.post(integration, CREATED["calcom"])
    await office.work()
    await office.post(integration, calcom.event("BOOKING_RESCHEDULED", replace(VISIT, number=1)))
    contact = await CONTACTS.only(office.services, "id")

    async def erase() -> None:
        async with office.unit() as unit:
            await erasure.erase(unit, contact)

    async with locked(pool, OUTBOUND):
        erasing = asyncio.create_task(erase())
        await until_blocked(pool)
        applying = asyncio.create_task(office.applier.run())
        await until_blocked(pool, 2)
    await within("both transactions", asyncio.gather(erasing, applying))

    assert reported == []
    assert await CONTACTS.count(office.services) == await BOOKINGS.count(office.services) == 0


@pytest.mark.parametrize("sender", ["72345", "e", "+1"])
async def test_an_erased_contact_of_a_sender_without_a_number_leaves_the_events_of_others(
    office: Office, sender: str
) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        alerts = await contacts.find_or_create(unit, sender, "inbound_sms")
    visit = replace(VISIT, phone="+12025723459")
    await office.post(integration, calcom.booked(visit, uid="1" * 201))
    await office.work()

    async with office.unit() as unit:
        await erasure.erase(unit, alerts.id)

    assert await INTEGRATION_EVENTS.only(office.services, "status") == "failed"
    assert await INTEGRATION_EVENTS.where_not(body="").count(office.services) == 1
