"""Events of Cal.com with several attendees: guests of a booking, and people in the seats of an event."""

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from app.domain.erasure import service as erasure
from app.domain.integrations.models import Integration
from tests.domain.integrations.conftest import START, Office
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import BOOKINGS, INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.peers import calcom
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

ANN, BEN = "+12025550143", "+12025550144"
VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))
LATER = Visit(1, START, START + timedelta(days=4))
PEOPLE = {
    name: {"name": f"{name} Lee", "email": f"{name}@Example.com", "timeZone": "America/New_York"}
    for name in ("Ann", "Ben")
}
KINDS = ("confirmation", "rescheduled", "canceled", "reminder_day", "reminder_hour", "no_show")
TEXTS = {kind: f"{kind} {{first_name}} {{booking.start:date(d MMM)}}" for kind in KINDS}


def event(name: str, by: str, *attendees: str, visit: Visit = VISIT, **payload: Any) -> bytes:
    """Return an event with the responses of one person and a list of attendees."""
    phone = {"Ann": ANN, "Ben": BEN}[by]
    responses = {
        "email": {"label": "email_address", "value": f"{by.lower()}@example.com"},
        "smsReminderNumber": {"label": "Text me", "value": phone},
    }
    listed = [PEOPLE[each] for each in attendees]
    return calcom.event(name, visit, attendees=listed, responses=responses, **payload)


@pytest.fixture
async def class_of_two(office: Office) -> Integration:
    """Give the integration of an office in which two people have booked the seats of one event."""
    integration = await office.connect("calcom", texts=TEXTS)
    await office.post(integration, event("BOOKING_CREATED", "Ann", "Ann", seatsPerTimeSlot=5))
    later = Visit(0, VISIT.made_at + timedelta(seconds=9), VISIT.starts_at)
    await office.post(integration, event("BOOKING_CREATED", "Ben", "Ann", "Ben", visit=later, seatsPerTimeSlot=5))
    await office.work()
    return integration


async def sent(office: Office) -> list[tuple[str, str]]:
    """Return the receivers and the texts that left since the last call."""
    found = [tuple(row) for row in await OUTBOUND.read(office.services, "to_number", "body")]
    await OUTBOUND.change(office.services, body="")
    return sorted(row for row in found if row[1])


async def test_the_guests_of_a_booking_change_nothing_for_the_person_who_made_it(office: Office) -> None:
    integration = await office.connect("calcom", texts=TEXTS)

    await office.post(integration, event("BOOKING_CREATED", "Ann", "Ben", "Ann"))
    await office.work()

    assert await sent(office) == [(ANN, "confirmation Ann 23 Oct")]
    assert await CONTACTS.read(office.services, "phone", "first_name") == [(ANN, "Ann")]


@pytest.mark.parametrize(
    ("noted", "status", "told"),
    [
        ({"ben": True}, "booked", "Another attendee of booking {}."),
        (
            {"ben": True, "ann": False},
            "booked",
            "Another attendee of booking {0}. Booking {0} is booked. It needs no text.",
        ),
        (
            {"ann": True, "ben": False},
            "no_show",
            "Booking {0} is no_show. It needs no text. Another attendee of booking {0}.",
        ),
    ],
)
async def test_the_no_show_of_a_guest_is_not_that_of_the_person_who_made_the_booking(
    office: Office, noted: dict[str, bool], status: str, told: str
) -> None:
    integration = await office.connect("calcom", texts=dict.fromkeys(KINDS, ""))
    await office.post(integration, event("BOOKING_CREATED", "Ann", "Ann", "Ben"))
    await office.post(integration, calcom.missed(VISIT, office.clock.now(), **noted))
    await office.work()

    id, contact, found = await BOOKINGS.only(office.services, "id", "contact_id", "status")
    logged = await INTEGRATION_EVENTS.read(office.services, "contact_id", "result")
    assert (found, logged[1]) == (status, (contact, told.format(id)))


@pytest.mark.parametrize("noted", [{"ben": True}, {"ben": True, "ann": False}, {"ann": True, "ben": False}])
@pytest.mark.parametrize("seats", [None, 5])
async def test_no_shows_count_for_their_own_person_in_each_order_of_arrival(
    office: Office, noted: dict[str, bool], seats: int | None
) -> None:
    """Without seats Ben is a guest, who has no booking of his own."""
    found = list[object]()
    bodies = [
        event("BOOKING_CREATED", "Ann", "Ann", "Ben", seatsPerTimeSlot=seats),
        calcom.missed(VISIT, START, **noted),
        calcom.missed(VISIT, START - timedelta(minutes=1), ann=True, ben=True),
    ]
    for order in permutations(bodies):
        integration = await office.connect("calcom", texts=dict.fromkeys(KINDS, ""))
        for body in order:
            await office.post(integration, body)
            await office.work()
        booking = BOOKINGS.where(integration_id=integration.id, name="Ann Lee")
        found.append(await booking.only(office.services, "status"))

    assert set(found) == {"no_show" if noted.get("ann", True) else "booked"}


@pytest.mark.parametrize("seats", [None, 5])
async def test_a_no_show_before_its_booking_is_logged_once_and_erased_with_the_contact(
    office: Office, seats: int | None
) -> None:
    integration = await office.connect("calcom", texts=dict.fromkeys(KINDS, ""))
    missed = INTEGRATION_EVENTS.where(event="BOOKING_NO_SHOW_UPDATED")
    await office.post(integration, calcom.missed(VISIT, START, ann=True))
    await office.work()
    kept = await BOOKINGS.only(office.services, "id")
    logged = await missed.only(office.services, "result")

    await office.post(integration, event("BOOKING_CREATED", "Ann", "Ann", seatsPerTimeSlot=seats))
    await office.work()
    contact = await CONTACTS.only(office.services, "id")
    async with office.unit() as unit:
        await erasure.erase(unit, contact)

    assert logged == f"Booking {kept} is no_show. It has no time yet."
    assert await missed.only(office.services, "body", "booking_id") == ("", None)
    assert await BOOKINGS.count(office.services) == 0


async def test_the_body_of_an_event_that_lists_several_people_is_not_kept(
    office: Office, class_of_two: Integration
) -> None:
    """The erasure of a contact would not reach it: the event is about the booking of another one."""
    created = INTEGRATION_EVENTS.where(event="BOOKING_CREATED")

    (alone, both) = await created.read(office.services, "body")

    assert "ann@example.com" in alone
    assert both == ""


async def test_each_person_in_a_seat_gets_the_texts_of_a_booking_of_their_own(
    office: Office, class_of_two: Integration
) -> None:
    assert await sent(office) == [(ANN, "confirmation Ann 23 Oct"), (BEN, "confirmation Ben 23 Oct")]
    assert await BOOKINGS.read(office.services, "external_id", "name", "phone") == [
        ("uid0#71d4f55f72fa128d", "Ann Lee", ANN),
        ("uid0#f871a76fb7b15231", "Ben Lee", BEN),
    ]

    office.clock.instant = VISIT.starts_at - timedelta(hours=24)
    await office.work()

    assert await sent(office) == [(ANN, "reminder_day Ann 23 Oct"), (BEN, "reminder_day Ben 23 Oct")]


async def test_a_canceled_seat_leaves_the_other_one_and_a_canceled_event_ends_all(
    office: Office, class_of_two: Integration
) -> None:
    await sent(office)

    await office.post(class_of_two, event("BOOKING_CANCELLED", "Ann", "Ann", seatsPerTimeSlot=5))
    await office.work()
    assert await sent(office) == [(ANN, "canceled Ann 23 Oct")]

    await office.post(class_of_two, event("BOOKING_CANCELLED", "Ann", "Ben", seatsPerTimeSlot=5))
    await office.work()
    assert await sent(office) == [(BEN, "canceled Ben 23 Oct")]
    assert await BOOKINGS.read(office.services, "status") == ["canceled", "canceled"]


async def test_a_canceled_seat_without_an_address_cancels_none_and_fails_visibly(
    office: Office, class_of_two: Integration
) -> None:
    await sent(office)
    unknown = [{"email": "", "name": "[attendee data unavailable]", "timeZone": "UTC"}]

    await office.post(class_of_two, calcom.event("BOOKING_CANCELLED", VISIT, attendees=unknown, seatsPerTimeSlot=5))
    await office.work()

    assert await sent(office) == []
    assert await BOOKINGS.read(office.services, "status") == ["booked", "booked"]
    failed = INTEGRATION_EVENTS.where(status="failed")
    assert await failed.only(office.services, "result") == "The field attendees.email is missing."


@pytest.mark.parametrize(
    ("mover", "moved"),
    [("Ben@example.com", [(BEN, "rescheduled Ben 24 Oct")]), ("host@example.com", None)],
)
async def test_a_person_moves_their_own_seat_and_the_organizer_all(
    office: Office, class_of_two: Integration, mover: str, moved: list[tuple[str, str]] | None
) -> None:
    await sent(office)
    office.clock.instant = START + timedelta(hours=1)

    facts = {"seatsPerTimeSlot": 5, "rescheduledBy": mover}
    await office.post(class_of_two, event("BOOKING_RESCHEDULED", "Ben", "Ann", "Ben", visit=LATER, **facts))
    await office.work()

    everybody = [(ANN, "rescheduled Ann 24 Oct"), (BEN, "rescheduled Ben 24 Oct")]
    assert await sent(office) == (moved or everybody)
    assert await INTEGRATION_EVENTS.where(status="failed").count(office.services) == 0


@pytest.mark.parametrize("mover", ["host@example.com", None])
async def test_an_organizer_who_moves_an_event_under_its_uid_keeps_the_phones_of_all(
    office: Office, class_of_two: Integration, mover: str | None
) -> None:
    await sent(office)
    same = Visit(0, START, LATER.starts_at)

    facts = {"seatsPerTimeSlot": 5, "rescheduledBy": mover, "rescheduleUid": "uid0"}
    await office.post(class_of_two, event("BOOKING_RESCHEDULED", "Ann", "Ann", "Ben", visit=same, **facts))
    await office.work()

    assert await sent(office) == [(ANN, "rescheduled Ann 24 Oct"), (BEN, "rescheduled Ben 24 Oct")]
    assert await BOOKINGS.read(office.services, "phone", "status") == [(ANN, "booked"), (BEN, "booked")]


async def test_only_the_person_in_a_seat_who_did_not_come_is_told_so(office: Office, class_of_two: Integration) -> None:
    await sent(office)

    await office.post(class_of_two, calcom.missed(VISIT, office.clock.now(), ben=True, ann=False))
    await office.work()

    assert await sent(office) == [(BEN, "no_show Ben 23 Oct")]
    assert await BOOKINGS.read(office.services, "name", "status") == [("Ann Lee", "booked"), ("Ben Lee", "no_show")]


async def test_a_no_show_of_a_person_in_a_seat_is_erased_with_the_contact(
    office: Office, class_of_two: Integration
) -> None:
    ben = await CONTACTS.where(phone=BEN).only(office.services, "id")
    missed = INTEGRATION_EVENTS.where(event="BOOKING_NO_SHOW_UPDATED")

    await office.post(class_of_two, calcom.missed(VISIT, office.clock.now(), ben=True))
    await office.work()
    about = await missed.only(office.services, "contact_id")
    async with office.unit() as unit:
        await erasure.erase(unit, ben)

    assert about == ben
    assert await missed.only(office.services, "body", "result") == ("", "The contact was deleted.")
    assert await BOOKINGS.read(office.services, "name") == ["Ann Lee"]


@pytest.mark.parametrize("seats", [None, 5])
async def test_a_number_for_text_reminders_beside_the_responses_counts_except_in_an_event_with_seats(
    office: Office, seats: int | None
) -> None:
    integration = await office.connect("calcom", texts=TEXTS)
    answers = {"email": {"label": "email_address", "value": "ann@example.com"}}
    payload = {"attendees": [PEOPLE["Ann"]], "responses": answers, "smsReminderNumber": ANN, "seatsPerTimeSlot": seats}

    await office.post(integration, calcom.event("BOOKING_CREATED", VISIT, **payload))
    await office.work()

    assert await sent(office) == ([] if seats else [(ANN, "confirmation Ann 23 Oct")])
    assert await BOOKINGS.only(office.services, "consent") == (None if seats else f"smsReminderNumber: {ANN}")


async def test_a_seat_does_not_get_the_phone_and_the_consent_of_the_person_in_another_one(office: Office) -> None:
    integration = await office.connect("calcom", texts=TEXTS)

    await office.post(integration, event("BOOKING_CREATED", "Ann", "Ben", seatsPerTimeSlot=5))
    await office.work()

    assert await sent(office) == []
    assert await BOOKINGS.only(office.services, "name", "phone", "consent") == ("", "", None)
    assert await CONTACTS.count(office.services) == 0
