"""Sends with the id of a preview: they cost no more than it showed, and their content is that which it showed."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest

from app.db.engine import Pool
from app.domain.campaigns import service
from app.domain.campaigns.errors import OverMaxCredits
from app.domain.campaigns.service import Order
from app.domain.contacts import service as contacts
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run, preview_of
from tests.factories.billing import balance_of
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.messages import OUTBOUND
from tests.factories.tables import ahead

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]


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
