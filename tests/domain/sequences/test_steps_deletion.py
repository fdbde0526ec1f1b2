"""The steps of an account that is to be deleted: they wait, and go on when that is withdrawn."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from app.db.engine import Pool
from app.domain.accounts import deletion
from app.domain.sequences.steps import Drip
from tests.domain.sequences.conftest import after, bodies, standing


async def test_a_step_waits_while_the_account_is_to_be_deleted_and_is_sent_once_that_is_withdrawn(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make())
    async with act() as unit:
        await deletion.request(unit, "Blue Door", timedelta(days=30))

    for hours in range(0, 40, 2):
        await after(drip, hours=hours).run()
    waited = await standing(pool), await bodies(pool)
    async with act() as unit:
        await deletion.withdraw(unit)
    await after(drip, hours=40).run()

    assert waited == ([("active", "", 1)], [])
    assert (await standing(pool), await bodies(pool)) == ([("active", "", 2)], ["Welcome, Ann!"])
