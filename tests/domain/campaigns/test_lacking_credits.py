"""Campaigns whose account lacks the credits for the next text."""

from collections.abc import Awaitable, Callable

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.kernel.unit_of_work import UnitOfWork
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people, states
from tests.factories.notices import NOTICES
from tests.factories.tables import ago

pytestmark = pytest.mark.anyio


async def test_owners_are_told_once_that_credits_lack_until_they_add_some(
    pool: Pool, send: Make, run: Run, act: Act
) -> None:
    async def go_on_with(add: Callable[[UnitOfWork], Awaitable[int]]) -> int:
        async with act() as unit:
            await add(unit)
        await CAMPAIGNS.age(pool, "due_at", seconds=10)
        await run()
        return await NOTICES.where(kind="campaign").count(pool)

    await add_people(pool, 6)
    async with act() as unit:
        await billing.grant(unit, -999, "taken")
    await send()
    await run()

    told = await NOTICES.where(kind="campaign").count(pool)
    refunded = [await go_on_with(lambda unit: billing.give_back(unit, 1, "a failed text")) for _ in range(2)]
    topped_up = await go_on_with(lambda unit: billing.grant(unit, 1, "a top-up"))

    assert (told, refunded, topped_up) == (1, [1, 1], 2)
    assert await states(pool) == {"delivered": 4, "queued": 2}


async def test_texts_without_an_hour_go_before_those_whose_hour_has_come_and_credits_may_lack_for_the_latter(
    pool: Pool, send: Make, accept: Accept, act: Act
) -> None:
    await add_people(pool, 2)
    await send()
    await accept(1)
    first, _ = sorted(await CAMPAIGN_RECIPIENTS.read(pool, "id"))
    await CAMPAIGN_RECIPIENTS.where(id=first).change(pool, state="deferred", due_at=ago(), credits=3, segments=3)
    async with act() as unit:
        await billing.grant(unit, -998, "taken")
    await accept(2)
    short = await CAMPAIGNS.only(pool, "status", "reason")

    await CAMPAIGNS.age(pool, "due_at", seconds=10)
    await accept(1)

    assert short == ("paused", "insufficient_credits")
    assert await CAMPAIGNS.only(pool, "status", "reason") == short
    assert await states(pool) == {"claimed": 1, "deferred": 1}
