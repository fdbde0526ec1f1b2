"""Events of many attendees: the number of statements does not depend on that of the attendees."""

from collections import Counter
from datetime import timedelta

import pytest

from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.test_plans_of_volumes import noted
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS
from tests.peers import calcom
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio


def event(name: str, by: int, count: int, visit: Visit) -> bytes:
    """Return an event of an event with seats, with the responses of one of its attendees."""
    responses = {
        "email": {"label": "email_address", "value": f"p{by}@example.com"},
        "smsReminderNumber": {"label": "Text me", "value": f"+1202555{1000 + by}"},
    }
    people = [calcom.attendee(f"P{n} Lee", f"p{n}@example.com", "America/New_York") for n in range(count)]
    given = {"attendees": people, "responses": responses, "rescheduledBy": "host@example.com"}
    return calcom.event(name, visit, seatsPerTimeSlot=1000, **given)


async def statements(office: Office, chain: str, count: int) -> list[int]:
    """Return the numbers of statements for an event that moves everybody, and one that cancels everybody."""
    integration, found = await office.connect("calcom"), list[int]()
    for by in range(count):
        made = Visit(0, START - timedelta(seconds=count - by), START + timedelta(days=3), chain=chain)
        await office.post(integration, event("BOOKING_CREATED", by, count, made))
        await office.applier.run()
    for name in ("BOOKING_RESCHEDULED", "BOOKING_CANCELLED"):
        moved = Visit(1, office.clock.now(), START + timedelta(days=4), chain=chain)
        await office.post(integration, event(name, 0, count, moved))
        with noted() as sent:
            await office.applier.run()
        found.append(len(sent))
    own = BOOKINGS.where(integration_id=integration.id)
    assert Counter(await own.read(office.services, "status")) == {"moved": count, "canceled": count}
    assert None not in await own.read(office.services, "contact_id")
    return found


async def test_an_event_of_many_attendees_takes_as_many_statements_as_one_of_a_few(office: Office) -> None:
    few = await statements(office, "few", 4)

    many = await statements(office, "many", 40)

    assert many == few
    assert Counter(await BOOKING_TEXTS.read(office.services, "kind", "status")) == {
        ("confirmation", "canceled"): 44,
        ("rescheduled", "canceled"): 44,
        ("reminder_day", "canceled"): 88,
        ("reminder_hour", "canceled"): 88,
        ("canceled", "waiting"): 44,
    }
