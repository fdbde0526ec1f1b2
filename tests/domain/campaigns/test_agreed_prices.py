"""Sends with the id of a preview: they cost no more than it showed, and their content is that which it showed."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest

from app.db.engine import Pool
from app.domain.accounts import service as accounts
from app.domain.campaigns import planning, service, snapshot, trial
from app.domain.campaigns.errors import OverMaxCredits, PreviewOutdated
from app.domain.campaigns.service import Order
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import service as templates
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run, preview_of
from tests.factories.billing import balance_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS
from tests.factories.messages import OUTBOUND
from tests.factories.tables import ahead

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]
Change = Callable[[UnitOfWork], Awaitable[object]]

BODY = "{first_name} {last_name} of {company_name}"
CHANGES = [
    pytest.param(lambda unit: accounts.update(unit, {"company_name": "Red Door"}), id="company_name"),
    pytest.param(lambda unit: accounts.update(unit, {"region": "GB"}), id="region"),
    pytest.param(lambda unit: accounts.update(unit, {"fold_accents": True}), id="fold_accents"),
    pytest.param(lambda unit: templates.set_fallback(unit, "last_name", "Miller"), id="fallback"),
]


@pytest.mark.parametrize("terms", [(None, None), (100, None), (None, ahead(hours=1))])
async def test_a_campaign_that_costs_more_than_its_preview_showed_sends_nothing(
    services: Services, add: Add, make: Make, act: Act, run: Run, terms: tuple[int | None, datetime | None]
) -> None:
    most, at = terms
    id = await add("+12025550140", first_name="Ann")
    campaign = await make(max_credits=most)
    shown = await preview_of(services, act, campaign.id)
    async with act() as unit:
        await contacts.update(unit, id, {"first_name": "Zoë Ω" * 10})

    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id, at=at))
    await CAMPAIGNS.age(services, "due_at", hours=2)
    await run()

    assert await CAMPAIGNS.only(services, "status", "reason", "max_credits") == ("paused", "over_max_credits", 1)
    assert (await OUTBOUND.count(services), await balance_of(services)) == (0, 1000)


async def test_the_limit_of_a_send_replaces_that_of_its_preview(
    services: Services, pool: Pool, add: Add, make: Make, act: Act
) -> None:
    await add("+12025550140", first_name="Ann")
    campaign = await make()
    shown = await preview_of(services, act, campaign.id)

    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id, max_credits=9))

    assert await CAMPAIGNS.only(pool, "max_credits") == 9


async def test_a_preview_above_the_limit_of_the_draft_is_not_sent(
    services: Services, pool: Pool, add: Add, make: Make, act: Act
) -> None:
    for number in range(2):
        await add(f"+1202555014{number}", first_name="Ann")
    campaign = await make(max_credits=1)
    shown = await preview_of(services, act, campaign.id)

    async with act() as unit:
        with pytest.raises(OverMaxCredits, match="costs 2 credits"):
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert await CAMPAIGNS.only(pool, "status", "max_credits") == ("draft", 1)


@pytest.mark.parametrize("change", CHANGES)
async def test_a_preview_is_outdated_once_a_setting_of_the_account_is_another(
    services: Services, add: Add, make: Make, act: Act, change: Change
) -> None:
    await add("+447400123456", first_name="Zoë")
    campaign = await make(body=BODY)
    shown = await preview_of(services, act, campaign.id)
    async with act() as unit:
        await change(unit)

    async with act() as unit:
        with pytest.raises(PreviewOutdated, match="a setting of the account"):
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert await CAMPAIGNS.only(services, "status", "account_settings") == ("draft", None)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each step write one recipient."""
    monkeypatch.setattr(planning, "CHUNK", 1)
    monkeypatch.setattr(snapshot, "SECONDS", -1)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("change", CHANGES)
async def test_a_setting_that_is_changed_between_two_steps_changes_no_text_and_no_price(
    services: Services, add: Add, send: Make, accept: Accept, act: Act, change: Change
) -> None:
    for number in range(2):
        await add(f"+44740012345{number}", first_name="Zoë")
    await send(body=BODY)
    await accept(1)

    async with act() as unit:
        await change(unit)
    await accept(2)

    text = ("Zoë of Blue Door", 6)
    assert await CAMPAIGN_RECIPIENTS.read(services, "body", "credits") == [text, text]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_scheduled_campaign_keeps_the_settings_of_its_send(
    services: Services, add: Add, send: Make, accept: Accept, act: Act, change: Change
) -> None:
    await add("+447400123456", first_name="Zoë")
    campaign = await send(Order(consent_attested=True, at=ahead(hours=1)), body=BODY)
    before = await preview_of(services, act, campaign.id)
    async with act() as unit:
        await change(unit)

    after = await preview_of(services, act, campaign.id)
    await CAMPAIGNS.age(services, "due_at", hours=2)
    await accept(2)

    assert (before.preview_id, before.samples) == (after.preview_id, after.samples)
    assert await CAMPAIGN_RECIPIENTS.read(services, "body", "credits") == [("Zoë of Blue Door", 6)]


async def test_a_campaign_that_is_unscheduled_has_the_settings_of_its_account_again(
    services: Services, add: Add, send: Make, act: Act
) -> None:
    await add("+12025550140", first_name="Ann")
    campaign = await send(Order(consent_attested=True, at=ahead(hours=1)), body=BODY)
    async with act() as unit:
        await accounts.update(unit, {"company_name": "Red Door"})

    async with act() as unit:
        await service.unschedule(unit, campaign.id)

    assert [each.body for each in (await preview_of(services, act, campaign.id)).samples] == ["Ann of Red Door"]


async def test_a_campaign_without_kept_settings_reads_those_of_its_account(
    services: Services, add: Add, send: Make, accept: Accept
) -> None:
    await add("+12025550140", first_name="Ann")
    await send(body=BODY)
    await CAMPAIGNS.change(services, account_settings=None)

    await accept(1)

    assert await CAMPAIGN_RECIPIENTS.read(services, "body") == ["Ann of Blue Door"]


async def test_a_test_of_a_campaign_that_was_sent_has_the_settings_of_its_send(
    services: Services, add: Add, send: Make, act: Act
) -> None:
    await add("+12025550140", first_name="Ann")
    campaign = await send(body=BODY)
    async with act() as unit:
        await accounts.update(unit, {"company_name": "Red Door"})

    async with act() as unit:
        await trial.send(unit, services.acceptor, campaign.id, "+12025550140", None, consent_attested=True)

    assert await OUTBOUND.read(services, "body") == ["Ann of Blue Door"]
