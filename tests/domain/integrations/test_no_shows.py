"""No-shows: the text that the account wrote for them, and those that are withdrawn."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.providers.scheduling_tools import TOOLS
from tests.domain.integrations.conftest import START, Office
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS, INTEGRATION_EVENTS
from tests.factories.integrations import TOOLS as PEERS
from tests.peers import calcom, calendly
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))
CREATED = {kind: peer.booked(VISIT) for kind, peer in PEERS.items()}
EACH = pytest.mark.parametrize("kind", sorted(TOOLS))
MISSED_AT = datetime(2026, 10, 24, tzinfo=UTC)
ARRIVED = BOOKINGS.where_not(starts_at=None)
NO_SHOWS = {kind: peer.missed(VISIT, MISSED_AT) for kind, peer in PEERS.items()}


@EACH
async def test_a_no_show_gets_the_text_that_the_account_wrote_for_it_once(office: Office, kind: str) -> None:
    integration = await office.connect(kind, texts={"confirmation": "", "no_show": "We missed you, {first_name}."})
    await office.post(integration, CREATED[kind])
    await office.work()
    office.clock.instant = VISIT.starts_at + timedelta(hours=1)

    for _ in range(2):
        await office.post(integration, NO_SHOWS[kind])
        await office.work()

    assert await office.bodies() == ["We missed you, Ann."]
    assert await ARRIVED.only(office.services, "status") == "no_show"


@EACH
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 2), (2, 0, 1), (1, 2, 0)])
async def test_a_no_show_that_is_withdrawn_before_its_text_leaves_cancels_it_in_each_order_of_arrival(
    office: Office, kind: str, order: Sequence[int]
) -> None:
    """The third event is another no-show, which is not withdrawn."""
    peer, times = PEERS[kind], [MISSED_AT + timedelta(minutes=minutes) for minutes in range(3)]
    events = [peer.missed(VISIT, times[0]), peer.attended(VISIT, times[1]), peer.missed(VISIT, times[2])]
    integration = await office.connect(kind, texts={"confirmation": "", "no_show": "We missed you, {first_name}."})
    await office.post(integration, CREATED[kind])
    await office.work()
    office.clock.instant = VISIT.starts_at + timedelta(hours=1)

    for place in order:
        await office.post(integration, events[place])
    while await office.applier.due():
        await office.applier.run()
    follow_ups = BOOKING_TEXTS.where(kind="no_show")
    planned = await follow_ups.read(office.services, "status", "reason")
    await office.work()

    is_missing = 2 in order
    assert await ARRIVED.only(office.services, "status") == ("no_show" if is_missing else "booked")
    if is_missing:
        assert planned == [("waiting", "")]
    else:
        assert planned in ([], [("canceled", "attended")])
    assert await office.bodies() == ["We missed you, Ann."] * is_missing


@EACH
async def test_a_no_show_that_was_a_mistake_before_the_appointment_leaves_the_reminders(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind, texts={"confirmation": "", "reminder_day": "", "reminder_hour": "Soon"})
    await office.post(integration, CREATED[kind])
    await office.work()

    for body in (PEERS[kind].missed(VISIT, MISSED_AT), PEERS[kind].attended(VISIT, MISSED_AT + timedelta(minutes=1))):
        await office.post(integration, body)
        await office.work()
    office.clock.instant = VISIT.starts_at - timedelta(hours=1)
    await office.work()

    assert await office.bodies() == ["Soon"]


@EACH
async def test_a_no_show_that_arrives_before_its_booking_counts_when_the_booking_arrives(
    office: Office, kind: str
) -> None:
    integration = await office.connect(
        kind, texts={"confirmation": "Booked", "no_show": "We missed you, {first_name}."}
    )
    await office.post(integration, NO_SHOWS[kind])
    await office.work()
    office.clock.instant = VISIT.starts_at + timedelta(hours=1)

    await office.post(integration, CREATED[kind])
    await office.work()

    assert await office.bodies() == ["We missed you, Ann."]
    assert await ARRIVED.only(office.services, "status") == "no_show"


async def test_a_no_show_of_an_attendee_without_an_own_address_counts_when_the_booking_arrives(office: Office) -> None:
    made_up = "12025550143@sms.cal.com"
    attendee = calcom.attendee("Ann Lee", made_up, "America/New_York")
    responses = {"email": {"label": "email_address", "value": made_up}}
    missed = calcom.event("BOOKING_NO_SHOW_UPDATED", VISIT, attendees=[attendee | {"noShow": True}])
    integration = await office.connect("calcom", texts={"confirmation": "", "no_show": "We missed you, {first_name}."})
    await office.post(integration, missed)
    await office.work()
    office.clock.instant = VISIT.starts_at + timedelta(hours=1)

    await office.post(integration, calcom.booked(VISIT, attendees=[attendee], responses=responses))
    await office.work()

    assert await office.bodies() == ["We missed you, Ann."]
    assert await BOOKINGS.only(office.services, "status") == "no_show"


async def test_a_no_show_at_a_booking_whose_attendee_is_not_known_any_more_changes_nothing(office: Office) -> None:
    """A booking without a contact keeps no address."""
    integration = await office.connect("calcom", texts={"no_show": "We missed you"})
    visit = replace(VISIT, phone="")
    await office.post(integration, calcom.booked(visit))
    await office.work()
    id = await BOOKINGS.only(office.services, "id")

    await office.post(integration, calcom.missed(visit, MISSED_AT, ben=True))
    await office.work()

    assert await BOOKINGS.only(office.services, "status", "attendance_at") == ("booked", None)
    missed = INTEGRATION_EVENTS.where(event="BOOKING_NO_SHOW_UPDATED")
    assert await missed.only(office.services, "result") == f"The attendee of booking {id} is not known."


async def test_a_no_show_of_a_person_in_a_seat_counts_without_a_contact(office: Office) -> None:
    """The id of the booking tells the person."""
    integration = await office.connect("calcom")
    visit = replace(VISIT, phone="")
    await office.post(integration, calcom.booked(visit, seatsPerTimeSlot=5))

    await office.post(integration, calcom.missed(visit, MISSED_AT, ann=True))
    await office.work()

    assert await BOOKINGS.only(office.services, "status", "contact_id") == ("no_show", None)


@EACH
async def test_a_no_show_adds_no_booking_to_the_one_that_it_is_about_and_is_logged_once(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind, texts={"no_show": ""})
    await office.post(integration, CREATED[kind])
    await office.post(integration, NO_SHOWS[kind])
    await office.work()

    booking, contact = await BOOKINGS.only(office.services, "id", "contact_id")
    logged = await INTEGRATION_EVENTS.read(office.services, "booking_id", "contact_id", "result")
    assert logged[1] == (booking, contact, f"Booking {booking} is no_show. It needs no text.")


async def test_a_no_show_of_a_moved_booking_does_not_hide_that_its_event_is_missing(office: Office) -> None:
    """The first booking may have been replaced by the second, whose event is missing; only the third one counts."""
    integration = await office.connect("calendly", texts={"rescheduled": "Moved", "confirmation": "Booked"})
    first, second, third = (
        replace(VISIT, number=number, made_at=START + timedelta(hours=number)) for number in range(3)
    )
    office.clock.instant = START + timedelta(hours=3)
    bodies = [
        calendly.missed(second, office.clock.now()),
        calendly.event("invitee.created", third),
        calendly.event("invitee.created", first),
    ]

    for body in bodies:
        await office.post(integration, body)
        await office.work()

    assert await office.bodies() == ["Moved"]
