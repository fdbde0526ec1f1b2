"""The steps of a suspended account: they wait for as long as that takes."""

from collections.abc import Callable
from typing import Any

from app.db.engine import Pool
from app.domain.accounts import administration
from app.domain.billing import service as billing
from app.domain.sequences.steps import Drip
from tests.domain.sequences.conftest import after, bodies, standing


async def test_a_step_of_a_suspended_account_waits_for_days_and_is_sent_once_it_is_resumed(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make())
    async with act() as unit:
        await administration.suspend(unit, "")

    for hours in range(0, 60, 2):
        await after(drip, hours=hours).run()
    waited = await standing(pool), await bodies(pool)
    async with act() as unit:
        await administration.resume(unit)
    await after(drip, hours=60).run()

    assert waited == ([("active", "", 1)], [])
    assert (await standing(pool), await bodies(pool)) == ([("active", "", 2)], ["Welcome, Ann!"])


async def test_a_step_that_cannot_be_paid_after_a_suspension_is_tried_for_a_day(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make())
    async with act() as unit:
        await administration.suspend(unit, "")
    for hours in range(0, 10, 2):
        await after(drip, hours=hours).run()
    async with act() as unit:
        await administration.resume(unit)
        await billing.grant(unit, -1000, "Spent")

    held = []
    for hours in (10, 16.1, 33.2):
        held += await standing(pool)
        await after(drip, hours=hours).run()

    assert held == [("active", "", 1)] * 3
    assert (await standing(pool), await bodies(pool)) == ([("exited", "insufficient_credits", 1)], [])
