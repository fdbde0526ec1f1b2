"""Plans of the statements of polls, events and erasures: none reads every stored booking."""

from datetime import timedelta

import pytest

from app.domain.crm.retention import RULES as CRM_RULES
from app.domain.erasure import service as erasure
from app.domain.integrations import backlog, sending
from app.domain.integrations.retention import RULES
from app.domain.integrations.service import pause
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.test_contract_of_tools import CREATED
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_SENDS
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS, INTEGRATION_EVENTS, add_bookings
from tests.factories.plans import Sent, noted, plan, plan_when_new

pytestmark = pytest.mark.anyio

RETENTION = {
    "ix_bookings_without_time": (BOOKINGS, RULES[3]),
    "ix_integration_events_body": (INTEGRATION_EVENTS, RULES[0]),
    "ix_bookings_of_no_contact": (BOOKINGS, RULES[-1]),
    "ix_crm_sends_body": (CRM_SENDS, CRM_RULES[1]),
}


async def explain(office: Office, sent: Sent, *parts: str) -> str:
    """Return the plan of the only statement that has some parts."""
    [(statement, parameters)] = [each for each in sent if all(part in each[0] for part in parts)]
    return await plan(office.services.database.pool, statement, *parameters)


@pytest.mark.parametrize("statement", [sending.IS_DUE, backlog.OLDEST["booking_texts"]], ids=["due", "oldest"])
async def test_the_due_texts_are_found_by_their_times_and_not_by_the_bookings(office: Office, statement: str) -> None:
    integration, pool = await office.connect("calcom"), office.services.database.pool
    await add_bookings(pool, integration.id, 3000, office.clock.now())

    found = await plan(pool, statement, office.clock.now())

    assert "ix_booking_texts_due" in found


@pytest.mark.parametrize("index", RETENTION)
async def test_rules_of_retention_read_only_the_rows_that_they_end(office: Office, index: str) -> None:
    rows, rule = RETENTION[index]

    found = await plan_when_new(office.services.database.pool, rows, rule.statement, office.clock.now() - rule.kept)

    assert index in found


async def test_an_event_and_an_erasure_read_only_their_own_rows(office: Office) -> None:
    integration = await office.connect("calcom")
    await add_bookings(office.services.database.pool, integration.id, 3000, office.clock.now() + timedelta(days=9))
    await office.post(integration, CREATED["calcom"])
    with noted() as applied:
        await office.work()
    contact = await CONTACTS.only(office.services, "id")
    with noted() as erased:
        async with office.unit() as unit:
            await erasure.erase(unit, contact)

    assert "ix_bookings_unknown" in await explain(office, applied, "FROM bookings", "NOT bookings.is_known")
    assert "ix_integration_events_booking_id" in await explain(
        office, erased, "UPDATE integration_events", "booking_id IN"
    )


async def test_a_text_of_a_paused_integration_that_is_of_no_use_any_more_does_not_wait(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.applier.run()
    async with office.unit() as unit:
        await pause(unit, integration.id)

    await office.work()
    kept = await BOOKING_TEXTS.where(kind="reminder_day").only(office.services, "status")
    office.clock.instant = START + timedelta(days=4)
    await office.work()

    assert kept == "waiting"
    assert set(await BOOKING_TEXTS.read(office.services, "status", "reason")) == {("skipped", "past")}
    assert await office.bodies() == []
