"""The times for which bodies, events and bookings are kept."""

from datetime import timedelta

import pytest

from app.domain.integrations.retention import RULES
from app.domain.kernel import retention
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.test_contract_of_tools import CREATED
from tests.domain.integrations.test_no_shows import NO_SHOWS
from tests.factories.integrations import BOOKINGS, INTEGRATION_EVENTS

pytestmark = pytest.mark.anyio


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
