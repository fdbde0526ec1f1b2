"""Texts of automations and keywords that must not leave: to another phone, too late, or in a circle."""

import pytest

from app.bootstrap import open_dispatcher, open_drip
from app.domain.automations import watching
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.services import Services
from tests.domain.automations.test_runs import NEW, PHONE, add_ann, enable, runner, shown, work
from tests.domain.conftest import Act
from tests.domain.messages.handing import hand_over
from tests.factories.automations import AUTOMATION_RUNS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND
from tests.factories.tables import ago

OTHER = "+12025550177"


async def test_a_run_that_waits_is_canceled_when_its_contact_gets_another_phone(
    perform: Act, services: Services
) -> None:
    await enable(perform, NEW, {"kind": "wait", "minutes": 60}, {"kind": "send", "body": "Hi! Reply STOP to opt out."})
    ann = await add_ann(perform)
    await work(services)

    await perform(contacts.update, ann.id, {"phone": OTHER})
    await work(services, minutes=61)

    assert await shown(services) == [("canceled", "phone_changed", ["waited"])]
    assert await OUTBOUND.count(services) == 0


async def receive_menu(perform: Act, services: Services, account: Opened) -> None:
    """Receive a watched keyword that has an answer."""
    await perform(watching.watch, "menu", {"reply": "Soup. Reply STOP to opt out."})
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Menu"))


@pytest.mark.parametrize("is_changed", [True, False])
async def test_the_answer_to_a_keyword_goes_only_to_the_phone_that_wrote_it(
    perform: Act, services: Services, account: Opened, *, is_changed: bool
) -> None:
    await receive_menu(perform, services, account)

    if is_changed:
        await perform(contacts.update, await CONTACTS.only(services, "id"), {"phone": OTHER})
    await work(services)

    assert await OUTBOUND.read(services, "to_number") == ([] if is_changed else [PHONE])
    assert [row[0] for row in await shown(services)] == (["running"] if is_changed else ["done"])


async def test_the_answer_to_a_keyword_is_not_sent_a_day_later(
    perform: Act, services: Services, account: Opened
) -> None:
    await receive_menu(perform, services, account)
    dispatcher = open_dispatcher(services)
    await dispatcher.run()
    await AUTOMATION_RUNS.change(services, created_at=ago(hours=25))

    for minutes in (0, 1, 4, 15):
        await runner(services, minutes=minutes).run()

    assert await OUTBOUND.count(services) == 0
    assert await shown(services) == [("done", "", ["refused"])]


async def test_an_automation_is_not_started_by_the_end_of_a_drip_sequence_in_which_it_enrolled_the_contact(
    perform: Act, services: Services
) -> None:
    sequence = await perform(sequences.create, "Welcome", [NewStep(0, "Hi! Reply STOP to opt out.")])
    await enable(perform, {"kind": "event", "event": "drip_completed"}, {"kind": "enroll", "sequence_id": sequence.id})
    ann = await add_ann(perform)
    await perform(enrollments.enroll, sequence.id, ann.id)
    drip = open_drip(services)

    for _ in range(4):
        await drip.run()
        await hand_over(services.handoff)
        await work(services)

    assert await AUTOMATION_RUNS.count(services) == 1
    assert await OUTBOUND.count(services) == 2
