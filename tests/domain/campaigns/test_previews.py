"""Previews of campaigns: zones, advice, and the placeholders of the account."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import previews, trial
from app.domain.contacts import custom_fields
from app.domain.contacts.custom_fields import NewField
from app.domain.kernel.errors import InvalidInput
from app.domain.templates import service as templates
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.domain.conftest import SetClock
from tests.factories.messages import OUTBOUND
from tests.factories.quiet_hours import obey_the_law

pytestmark = pytest.mark.anyio


async def test_a_preview_shows_the_zones_of_its_recipients_and_when_each_opens(
    act: Act, make: Make, add: Any, pool: Pool
) -> None:
    await obey_the_law(pool)
    for phone in ("+12025550143", "+12025550144", "+14145550143"):
        await add(phone)
    await add("+12025550145", time_zone="America/Denver")
    campaign = await make()

    async with act() as unit:
        unit.clock = SetClock(datetime(2026, 11, 21, 13, 30, tzinfo=UTC))
        shown = await previews.preview(unit, pool, campaign.id, 10)

    now = datetime(2026, 11, 21, 13, 30, tzinfo=UTC)
    assert shown.zones == [
        (("America/New_York",), now, 2),
        (("America/Chicago",), now.replace(hour=14, minute=0), 1),
        (("America/Denver",), now.replace(hour=15, minute=0), 1),
    ]


async def test_a_campaign_takes_custom_fields_and_the_fallbacks_of_the_account(
    services: Services, act: Act, send: Make, run: Run, pool: Pool, add: Any
) -> None:
    with pytest.raises(InvalidInput, match=r"custom\.color"):
        await send(body="Your {custom.color} shoes")
    async with act() as unit:
        await custom_fields.create(unit, NewField("color", "Color"))
        await templates.set_fallback(unit, "first_name", "friend")
    await add("+12025550143", custom_fields={"color": "red"})

    campaign = await send(body="{first_name}, your {custom.color} shoes")
    await run()
    async with act() as unit:
        await trial.send(unit, services.acceptor, campaign.id, "+12025550143", None, consent_attested=True)

    assert await OUTBOUND.read(pool, "body") == ["friend, your red shoes"] * 2
