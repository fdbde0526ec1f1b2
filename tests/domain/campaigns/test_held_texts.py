"""Texts that are in calls to their carriers while their campaign is paused or canceled, and come back unsent."""

import asyncio

import pytest

from app.db.engine import Pool
from app.domain.campaigns import service
from app.domain.carriers.carrier import Answer, FailureCode, Rejected
from app.domain.messages import connections
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.domain.messages.handing import Absorbed, after, hand_over, reconcile, through
from tests.factories.billing import audit, balance_of
from tests.factories.campaigns import CAMPAIGNS, add_people, audit_counts, states
from tests.factories.messages import OUTBOUND, OUTGOING, calls
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.quiet_hours import CAPPED_TEXTS
from tests.factories.tables import ago, ahead
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def begin_call(services: Services) -> tuple[Absorbed, asyncio.Task[None]]:
    """Return a carrier that has been called with a text, and the hand-off that waits for its answer."""
    carrier = Absorbed(services.database.pool)
    calling = asyncio.create_task(hand_over(through(services.handoff, carrier)))
    await within("the call", carrier.asked.wait())
    return carrier, calling


@pytest.mark.parametrize(
    "answer",
    [Rejected(FailureCode.rate_limited, retryable=True), Rejected(FailureCode.carrier_error, retryable=True)],
)
async def test_a_text_that_its_carrier_refuses_for_now_while_its_campaign_is_paused_waits_until_it_is_resumed(
    services: Services, pool: Pool, send: Make, accept: Accept, run: Run, *, act: Act, answer: Answer
) -> None:
    await add_people(pool, 1)
    campaign = await send()
    await accept(2)
    carrier, calling = await begin_call(services)

    async with act() as unit:
        await service.pause(unit, campaign.id)
    carrier.answer.set_result(answer)
    await calling
    await hand_over(after(services.handoff, hours=1))
    paused = await states(pool), await calls(pool)
    async with act() as unit:
        await service.resume(unit, campaign.id)
    await hand_over(after(services.handoff, hours=1))
    await run()

    assert paused == ({"claimed": 1}, [])
    assert await states(pool) == {"delivered": 1}
    assert [times for _, times in await calls(pool)] == [1]
    await audit(pool)
    await audit_counts(pool)


async def test_a_text_of_a_campaign_that_was_paused_for_days_is_tried_again_after_the_campaign_is_resumed(
    services: Services, pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 1)
    campaign = await send()
    await accept(2)
    async with act() as unit:
        await service.pause(unit, campaign.id)
    await OUTBOUND.change(pool, created_at=ago(days=4))
    await OUTGOING.change(pool, expires_at=ago(days=1), tried_since=ago(days=4))

    async with act() as unit:
        await service.resume(unit, campaign.id)
    carrier, calling = await begin_call(services)
    carrier.answer.set_result(Rejected(FailureCode.rate_limited, retryable=True))
    await calling
    await hand_over(after(services.handoff, hours=1))
    await run()

    assert await states(pool) == {"delivered": 1}
    assert [times for _, times in await calls(pool)] == [1]
    await audit(pool)


async def test_a_campaign_canceled_before_its_first_text_counts_toward_no_frequency_cap(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 3)
    campaign = await send()
    await accept(2)
    counted = await CAPPED_TEXTS.count(pool)

    async with act() as unit:
        await service.cancel(unit, campaign.id)
    await run()

    assert (counted, await CAPPED_TEXTS.count(pool)) == (3, 0)
    assert await calls(pool) == []


async def test_a_text_whose_worker_died_while_its_campaign_is_paused_waits_until_it_is_resumed(
    services: Services, pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 1)
    campaign = await send()
    await accept(2)
    await OUTGOING.change(pool, claimed_until=ahead(minutes=1), attempts=1)

    async with act() as unit:
        await service.pause(unit, campaign.id)
    await OUTGOING.change(pool, claimed_until=ago())
    await reconcile(services.handoff)
    await hand_over(after(services.handoff, hours=1))
    paused = await states(pool), await calls(pool), await OUTGOING.only(pool, "claimed_until")
    async with act() as unit:
        await service.resume(unit, campaign.id)
    await run()

    assert paused == ({"claimed": 1}, [], None)
    assert await states(pool) == {"delivered": 1}


async def test_a_text_that_comes_back_from_its_call_after_the_campaign_was_canceled_is_refunded(
    services: Services, pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 1)
    campaign = await send()
    await accept(2)
    carrier, calling = await begin_call(services)

    async with act() as unit:
        done = await service.cancel(unit, campaign.id)
    carrier.answer.set_result(Rejected(FailureCode.carrier_error, retryable=True))
    await calling
    await hand_over(after(services.handoff, hours=1))
    await run()

    assert (done.canceled, done.left, done.in_flight) == (0, 0, 1)
    assert (await states(pool), await calls(pool)) == ({"canceled": 1}, [])
    assert await balance_of(pool) == 1000
    await audit(pool)


async def test_a_text_of_a_released_number_that_comes_back_while_its_campaign_is_paused_is_refunded(
    services: Services, pool: Pool, send: Make, accept: Accept, leave: Run, act: Act
) -> None:
    await add_people(pool, 1)
    campaign = await send()
    await accept(2)
    carrier, calling = await begin_call(services)

    async with act() as unit:
        await connections.release_number(unit, await PHONE_NUMBERS.only(pool, "id"))
        await service.pause(unit, campaign.id)
    carrier.answer.set_result(Rejected(FailureCode.carrier_error, retryable=True))
    await calling
    await leave()

    assert await CAMPAIGNS.only(pool, "status") == "paused"
    assert (await states(pool), await calls(pool)) == ({"failed": 1}, [])
    assert await balance_of(pool) == 1000
    await audit(pool)
