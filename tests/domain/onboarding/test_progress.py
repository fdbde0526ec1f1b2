"""The steps of setting an account up."""

from typing import Any

import pytest

from app.domain.carriers import sql
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding import progress
from app.domain.onboarding.progress import SetupStatus, SetupStepName
from app.domain.onboarding.service import Opened
from app.domain.webhooks import service as webhooks
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS
from tests.factories.carriers import add_connection
from tests.factories.numbers import add_number
from tests.factories.quiet_hours import QUIET_HOURS_RULES

pytestmark = pytest.mark.anyio


async def read(services: Services, account: Opened) -> SetupStatus:
    await QUIET_HOURS_RULES.where(account_id=account.account_id).delete(services)
    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        return await progress.get_status(unit, has_model=False, sells_online=False)


def done(status: SetupStatus) -> list[str]:
    return [step.name for step in status.steps if step.is_done]


async def test_a_new_account_reaches_no_phone(services: Services, account: Opened) -> None:
    status = await read(services, account)

    assert done(status) == ["company_name", "credits"]
    assert (status.texts_reach_phones, status.next_step) == (False, SetupStepName.carrier)
    assert [step.name for step in status.steps if not step.is_required] == [
        "support_contact",
        "quiet_hours",
        "ai",
        "payments",
        "webhook",
    ]
    assert [step.text for step in status.steps if step.name == "carrier"] == [
        "No text reaches a phone: only the sandbox is connected. Add a connection of the account's own, or have the "
        "operator connect a carrier: messaging carrier add."
    ]


async def test_an_account_without_a_name_and_credits_lacks_both(services: Services, account: Opened) -> None:
    await ACCOUNTS.where(id=account.account_id).change(services, company_name="", balance=0)

    status = await read(services, account)

    assert (done(status), status.next_step) == ([], SetupStepName.company_name)


async def test_steps_of_the_operator_and_settings_of_the_account_count_as_done(
    services: Services, account: Opened
) -> None:
    await ACCOUNTS.where(id=account.account_id).change(services, support_contact="+12025550100", time_zone="Asia/Tokyo")

    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        status = await progress.get_status(unit, has_model=True, sells_online=True)

    assert done(status) == ["company_name", "support_contact", "credits", "quiet_hours", "ai", "payments"]


async def test_texts_reach_phones_from_a_number_at_a_carrier(services: Services, account: Opened) -> None:
    await add_connection(services, "main", kind="twilio")
    connected = await read(services, account)
    await add_number(services, account.account_id, "+14155550100", carrier="main")
    ready = await read(services, account)

    assert (done(connected), connected.next_step) == (["company_name", "carrier", "credits"], "phone_number")
    assert connected.texts_reach_phones is False
    assert (done(ready), ready.next_step) == (["company_name", "carrier", "phone_number", "credits"], None)
    assert ready.texts_reach_phones is True


async def test_the_connection_of_another_account_does_not_count(
    services: Services, account: Opened, new_account: Any
) -> None:
    other = await new_account()
    await add_connection(services, "theirs", kind="twilio", account_id=other.account_id)

    assert "carrier" not in done(await read(services, account))
    assert "carrier" in done(await read(services, other))


async def test_a_webhook_is_the_last_step(services: Services, account: Opened) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset({"messages:read", "contacts:read"}))) as unit:
        await webhooks.create_webhook(unit, services.webhooks, "https://example.com/hook", ["message.inbound"], "")

    assert done(await read(services, account)) == ["company_name", "credits", "webhook"]


async def test_the_start_says_that_no_text_leaves_until_a_carrier_is_connected(services: Services) -> None:
    async def reaches_phones() -> Any:
        return await services.database.pool.ask(sql.REACHES_PHONES)

    before = await reaches_phones()
    await add_connection(services, "second")
    with_second_sandbox = await reaches_phones()
    await add_connection(services, "main", kind="smpp")

    assert (before, with_second_sandbox, await reaches_phones()) == (False, False, True)
