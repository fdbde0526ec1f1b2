"""Watched keywords in texts that arrive late."""

import pytest

from app.domain.automations import watching
from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.automations.test_runs import PHONE, work
from tests.domain.conftest import Act
from tests.factories.contacts import CONSENTS, SUPPRESSIONS
from tests.factories.messages import OPT_IN_REQUESTS
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.tables import ago


@pytest.fixture(autouse=True)
async def number_of_long_ago(services: Services, account: Opened) -> None:
    """Let the account have had its number for a day."""
    await PHONE_NUMBERS.age(services, "created_at", days=1)


async def receive(services: Services, account: Opened, body: str, hours: float) -> None:
    """Receive a text that was sent some hours ago, and do all work after it."""
    text = InboundMessage(f"{body}-{hours}", PHONE, account.phone_number, body, at=ago(hours=hours))
    await services.inbox.receive("sandbox", text)
    await work(services)


@pytest.mark.parametrize(("hours", "is_suppressed"), [(5, True), (7, False)])
async def test_the_consent_by_a_late_keyword_is_older_than_a_stop_that_was_sent_after_it(
    perform: Act, services: Services, account: Opened, hours: float, is_suppressed: bool
) -> None:
    await perform(watching.watch, "join", {"opts_in": True})

    await receive(services, account, "JOIN", hours=6)
    await receive(services, account, "STOP", hours=hours)

    assert await SUPPRESSIONS.count(services) == is_suppressed
    consent = await CONSENTS.where(kind="opt_in").only(services, "occurred_at", "recorded_at")
    assert consent["occurred_at"] < ago(hours=5, minutes=55)


@pytest.mark.parametrize(("stops", "count"), [(["STOP"], 0), ([], 1)])
async def test_a_late_keyword_is_asked_to_be_confirmed_unless_the_person_has_opted_out_since(
    perform: Act, services: Services, account: Opened, stops: list[str], count: int
) -> None:
    await perform(watching.watch, "join", {"double_opt_in": True})
    for body in stops:
        await receive(services, account, body, hours=0)

    await receive(services, account, "JOIN", hours=5)

    assert await OPT_IN_REQUESTS.count(services) == count
