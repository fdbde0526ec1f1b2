"""Reading an event, which the web process does before it answers: the work grows as the body does."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.providers.scheduling.calcom import CalCom
from tests.counting import count_calls
from tests.domain.integrations.conftest import START
from tests.peers import calcom
from tests.peers.visits import Visit

VISIT = Visit(1, START, START + timedelta(days=3))
HOST = {"rescheduledBy": "host@example.com", "seatsPerTimeSlot": 1000}
MANY = 200


def listed(name: str, count: int, **payload: Any) -> bytes:
    """Return an event of people in seats."""
    people = [calcom.attendee("Ann Lee", f"ann{number}@example.com", "") for number in range(count)]
    return calcom.event(name, VISIT, attendees=people, rescheduleUid="uid0", **{**HOST, **payload})


def repeated(count: int) -> bytes:
    """Return an event that lists one person in many seats, with many responses."""
    responses = {"email": VISIT.email} | {f"answer{number}": "" for number in range(count)}
    people = [calcom.attendee("Ann Lee", VISIT.email, "")] * count
    return calcom.event("BOOKING_RESCHEDULED", VISIT, attendees=people, responses=responses, **HOST)


@pytest.mark.parametrize(
    "write",
    [
        partial(listed, "BOOKING_RESCHEDULED"),
        partial(listed, "BOOKING_RESCHEDULED", responses={}),
        partial(listed, "BOOKING_REQUESTED"),
        partial(listed, "BOOKING_CANCELLED"),
        repeated,
    ],
    ids=["moved", "moved without responses", "requested", "canceled", "one person in all seats"],
)
def test_twice_the_people_and_responses_of_an_event_are_at_most_about_twice_the_work(
    write: Callable[[int], bytes],
) -> None:
    some, more = write(MANY), write(2 * MANY)

    assert count_calls(lambda: CalCom().read(more, "")) < 2.1 * count_calls(lambda: CalCom().read(some, ""))
