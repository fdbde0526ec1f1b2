"""Texts of campaigns that a carrier took, and then refused for the day."""

from collections.abc import Callable
from typing import Any

from app.db.engine import Pool
from app.domain.campaigns import service
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.factories.billing import audit, balance_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, audit_counts
from tests.factories.messages import MESSAGES, OUTGOING

DAILY_CAP = "+15005550106"


async def test_a_text_that_waits_for_the_next_day_keeps_its_campaign_going(
    pool: Pool, add: Callable[..., Any], send: Make, run: Run
) -> None:
    await add(DAILY_CAP)

    await send()
    await run()

    assert await MESSAGES.only(pool, "status", "deferral_rule") == ("pending", "carrier.daily_cap")
    assert await CAMPAIGN_RECIPIENTS.only(pool, "state", "reason") == ("claimed", "deferred")
    assert await CAMPAIGNS.only(pool, "status") == "sending"
    await audit_counts(pool)


async def test_a_cancellation_ends_a_text_that_waits_for_the_next_day(
    pool: Pool, act: Act, add: Callable[..., Any], send: Make, run: Run
) -> None:
    await add(DAILY_CAP)
    campaign = await send()
    await run()

    async with act() as unit:
        await service.cancel(unit, campaign.id)
    await run()

    assert await MESSAGES.only(pool, "status", "error_code") == ("failed", "canceled")
    assert await CAMPAIGN_RECIPIENTS.only(pool, "state") == "canceled"
    assert (await OUTGOING.count(pool), await balance_of(pool)) == (0, 1000)
    await audit(pool)
    await audit_counts(pool)
