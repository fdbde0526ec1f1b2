"""A limit of credits that is set for a scheduled campaign, whose audience grows until its start."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.service import Order
from app.domain.contacts import queries
from app.domain.contacts import service as contacts
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run, preview_of
from tests.factories.billing import audit, balance_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS
from tests.factories.events import payloads
from tests.factories.messages import OUTBOUND
from tests.factories.tables import ahead

Add = Callable[..., Awaitable[int]]
Grow = Callable[[Act, Add, int], Awaitable[object]]
VIPS = Audience(tags=["vip"])


@pytest.fixture
async def sealed(services: Services, act: Act, make: Make, add: Add) -> Campaign:
    """Provide a campaign to two contacts in an hour, with the cost of its preview as the most credits."""
    for phone in ("+12025550140", "+12025550141"):
        await add(phone, first_name="Ann", tags=["vip"])
    campaign = await make(audience=VIPS)
    shown = await preview_of(services, act, campaign.id)
    order = Order(consent_attested=True, preview_id=shown.preview_id, max_credits=shown.credits, at=ahead(hours=1))
    async with act() as unit:
        return await service.send(unit, campaign.id, order)


@pytest.fixture
def start(pool: Pool, run: Run) -> Run:
    """Provide a function that lets the time of the campaign come, and runs all jobs."""

    async def start() -> None:
        await CAMPAIGNS.age(pool, "due_at", hours=2)
        await run()

    return start


async def add_vip(act: Act, add: Add, known: int) -> object:
    return await add("+12025550142", first_name="Ben", tags=["vip"])


async def tag_known(act: Act, add: Add, known: int) -> object:
    async with act() as unit:
        return await contacts.add_tag(unit, known, "vip")


async def write_dearer(act: Act, add: Add, known: int) -> object:
    """Give a contact of the audience a name that makes two parts of its text."""
    async with act() as unit:
        first = await queries.find_by_phone(unit, "+12025550140")
        assert first
        return await contacts.update(unit, first.id, {"first_name": "Анна" * 16})


@pytest.mark.parametrize("grow", [add_vip, tag_known, write_dearer])
async def test_a_scheduled_campaign_that_has_become_dearer_than_allowed_pauses_and_sends_nothing(
    pool: Pool, act: Act, add: Add, sealed: Campaign, start: Run, grow: Grow
) -> None:
    known = await add("+12025550143", first_name="Cleo")

    await grow(act, add, known)
    await start()

    assert sealed.max_credits == 2
    assert await CAMPAIGNS.only(pool, "status", "reason", "due_at") == ("paused", "over_max_credits", None)
    assert (await OUTBOUND.count(pool), await balance_of(pool)) == (0, 1000)
    assert set(await CAMPAIGN_RECIPIENTS.read(pool, "state")) == {"queued"}
    [notice] = await payloads(pool, "owners_notified")
    assert (notice["kind"], notice["subject_id"]) == ("campaign", sealed.id)
    await audit(pool)


async def test_a_scheduled_campaign_within_its_limit_is_sent(pool: Pool, sealed: Campaign, start: Run) -> None:
    await start()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ("completed", "")
    assert (await OUTBOUND.count(pool), await balance_of(pool)) == (2, 998)


async def test_a_scheduled_campaign_that_paused_for_its_limit_is_sent_once_more_is_allowed(
    pool: Pool, act: Act, add: Add, sealed: Campaign, start: Run, run: Run
) -> None:
    await add_vip(act, add, 0)
    await start()

    async with act() as unit:
        await service.resume(unit, sealed.id, 3)
    await run()

    assert await CAMPAIGNS.only(pool, "status") == "completed"
    assert (await OUTBOUND.count(pool), await balance_of(pool)) == (3, 997)


async def test_a_recipient_that_leaves_until_the_start_makes_room_for_another(
    pool: Pool, act: Act, add: Add, sealed: Campaign, start: Run, text: Callable[..., Any]
) -> None:
    await add_vip(act, add, 0)
    await text("STOP", "+12025550140")

    await start()

    assert await CAMPAIGNS.only(pool, "status") == "completed"
    assert await OUTBOUND.where(purpose="promotional").count(pool) == 2
