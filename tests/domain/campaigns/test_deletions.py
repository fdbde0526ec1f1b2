"""Campaigns that are deleted beside the work on them: nothing fails, and nothing is left."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import progress, service
from app.domain.campaigns.runner import CampaignRunner
from app.domain.campaigns.service import Order
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.campaigns import CAMPAIGN_COUNTS, CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people
from tests.factories.clocks import Moving
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def test_counts_that_are_folded_while_their_campaign_is_deleted_are_not_left(
    services: Services, send: Make, accept: Accept, run: Run, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, fold, deleting = services.database.pool, progress._fold, list[asyncio.Task[None]]()
    await add_people(pool, 2)
    campaign = await send()
    await run()
    async with act() as unit:
        await service.delete(unit, campaign.id)
    await accept(1)
    recipients = await CAMPAIGN_RECIPIENTS.count(pool)
    await CAMPAIGN_COUNTS.change(pool, is_folded=False)

    async def fold_beside(*given: Any) -> None:
        await fold(*given)
        deleting.append(asyncio.create_task(accept(1)))
        await until_blocked(pool)

    monkeypatch.setattr(progress, "_fold", fold_beside)
    await progress.Progress(services.database, services.notify).run()
    await within("the deletion", asyncio.gather(*deleting))

    assert (recipients, len(deleting)) == (0, 1)
    assert [await rows.count(pool) for rows in (CAMPAIGNS, CAMPAIGN_COUNTS)] == [0, 0]


async def test_a_scheduled_campaign_that_is_deleted_after_the_step_at_its_time_does_not_start(
    services: Services, pool: Pool, send: Make, runner: CampaignRunner, accept: Accept, act: Act
) -> None:
    await add_people(pool, 2)
    campaign = await send(Order(consent_attested=True, at=services.clock.now() + timedelta(days=1)))
    assert isinstance(runner.clock, Moving)
    runner.clock.move(days=2)

    async with runner._due() as (connection, taken):
        assert taken
        await runner._step(connection, taken)
    async with act() as unit:
        await service.delete(unit, campaign.id)
    await runner._start(taken)
    await accept(1)

    assert [await rows.count(pool) for rows in (CAMPAIGNS, CAMPAIGN_RECIPIENTS)] == [0, 0]
