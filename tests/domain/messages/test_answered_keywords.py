"""Keywords that only the carrier recognizes: each part of the service treats them as the keywords that they are."""

import pytest

from app.bootstrap import open_dispatcher
from app.domain.agents import signals
from app.domain.agents.signals import Signal
from app.domain.automations import service as automations
from app.domain.carriers.carrier import InboundMessage, Keyword
from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep
from app.services import Services
from tests.domain.conftest import Act
from tests.factories.automations import AUTOMATION_RUNS, watch
from tests.factories.events import EVENTS, OUTBOX
from tests.factories.notices import NOTICES
from tests.factories.sequences import SEQUENCE_ENROLLMENTS

PHONE = "+12025550143"
BODY = "adios amigos"
"""A text that is no keyword of the service."""

TEXTED = {"kind": "event", "event": "new_message"}, {"kind": "event", "event": "new_conversation"}


async def text(services: Services, account: Opened, keyword: Keyword | None) -> None:
    inbound = InboundMessage(f"in-{keyword}", PHONE, account.phone_number, BODY, answered_keyword=keyword)
    await services.inbox.receive("sandbox", inbound)


async def dispatch(services: Services) -> None:
    dispatcher = open_dispatcher(services)
    while await dispatcher.due():
        await dispatcher.run()


@pytest.mark.parametrize(("keyword", "noticed"), [(Keyword.stop, 0), (Keyword.help, 1), (None, 1)])
async def test_an_opt_out_gives_no_notice(
    services: Services, account: Opened, keyword: Keyword | None, noticed: int
) -> None:
    await text(services, account, keyword)
    await dispatch(services)

    assert await NOTICES.where(kind="new_message").count(services) == noticed


@pytest.mark.parametrize(("keyword", "status"), [(Keyword.stop, "active"), (Keyword.help, "exited"), (None, "exited")])
async def test_an_opt_out_is_no_reply_that_ends_an_enrollment(
    services: Services, account: Opened, perform: Act, keyword: Keyword | None, status: str
) -> None:
    """The event of the opt-out itself, which ends it with another reason, is not dispatched here."""
    contact = await perform(contacts.create, {"phone": PHONE})
    sequence = await perform(service.create, "Welcome", [NewStep(0, "One"), NewStep(60, "Two")])
    await perform(enrollments.enroll, sequence.id, contact.id)
    await text(services, account, keyword)
    for id in await EVENTS.where(name="new_opt_out").read(services, "id"):
        await OUTBOX.where(event_id=id).delete(services)

    await dispatch(services)

    assert await SEQUENCE_ENROLLMENTS.read(services, "status") == [status]


@pytest.mark.parametrize(("keyword", "runs"), [*((each, 0) for each in Keyword), (None, 2)])
async def test_a_keyword_of_the_carrier_starts_no_automation_and_is_no_keyword_of_the_account(
    services: Services, account: Opened, perform: Act, keyword: Keyword | None, runs: int
) -> None:
    for trigger in TEXTED:
        fields = {"name": "Test", "trigger": trigger, "actions": [{"kind": "add_tag", "tag": "wrote"}]}
        automation = await perform(automations.create, fields)
        await perform(automations.set_status, automation.id, enabled=True)
    await watch(services, account.account_id, BODY)
    await text(services, account, keyword)

    await dispatch(services)

    assert await AUTOMATION_RUNS.count(services) == runs
    assert await EVENTS.where(name="keyword_reply").count(services) == (1 if runs else 0)


def test_an_agent_leaves_a_keyword_of_the_carrier_alone() -> None:
    assert {keyword: Signal.consent in signals.read(BODY, keyword) for keyword in Keyword} == dict.fromkeys(
        Keyword, True
    )
    assert Signal.consent not in signals.read(BODY)
