"""Previews of campaigns: zones, advice, and the placeholders of the account."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import previews, trial
from app.domain.campaigns.previews import Start
from app.domain.contacts import custom_fields
from app.domain.contacts.custom_fields import NewField
from app.domain.kernel.errors import InvalidInput
from app.domain.templates import service as templates
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.domain.conftest import SetClock
from tests.factories.campaigns import add_people
from tests.factories.messages import OUTBOUND
from tests.factories.numbers import PHONE_NUMBERS
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


async def test_a_preview_for_a_time_shows_when_texts_leave_that_start_then(
    act: Act, make: Make, add: Any, pool: Pool
) -> None:
    await obey_the_law(pool)
    await add("+12025550143")
    campaign = await make()
    night, morning = datetime(2026, 11, 22, 4, tzinfo=UTC), datetime(2026, 11, 22, 13, tzinfo=UTC)

    async with act() as unit:
        unit.clock = SetClock(datetime(2026, 11, 21, 15, tzinfo=UTC))
        shown = [await previews.preview(unit, pool, campaign.id, 10, Start(at)) for at in (None, night, morning)]

    assert [each.zones[0].opens_at for each in shown] == [unit.clock.now(), morning, morning]


@pytest.mark.parametrize(("pace", "seconds"), [(0.5, 6), (1.5, 2), (3.0, 1), (0.0, 0), (None, 0)])
async def test_a_preview_shows_the_seconds_that_its_texts_need_at_the_pace_of_the_number(
    act: Act, make: Make, pool: Pool, *, pace: float | None, seconds: int
) -> None:
    await add_people(pool, 3)
    await PHONE_NUMBERS.change(pool, parts_per_second=pace)
    campaign = await make()

    async with act() as unit:
        shown = await previews.preview(unit, pool, campaign.id, 10)

    assert (shown.segments, shown.eta_seconds) == (3, seconds)


async def test_a_preview_shows_the_characters_that_cost_parts(act: Act, make: Make, add: Any, pool: Pool) -> None:
    for phone, name in (("+12025550143", "Zoë"), ("+12025550144", "Noël Ș"), ("+12025550145", "Ann")):
        await add(phone, first_name=name)
    campaign = await make(body="Hi {first_name}, " + "our sale begins today. " * 4, is_smart_encoded=True)
    plain = await make(body="Hi {first_name}, it’s today.", is_smart_encoded=False)

    async with act() as unit:
        shown = await previews.preview(unit, pool, campaign.id, 10)
        typed = await previews.preview(unit, pool, plain.id, 10)

    assert shown.characters == [("ë", None, 2, 2), ("Ș", None, 1, 1)]
    assert shown.encodings == {"GSM-7": 1, "UCS-2": 2}
    assert typed.characters == [("ë", None, 2, 0), ("Ș", None, 1, 0), ("’", "'", 3, 0)]
