"""Which deliveries a list holds, and what is refused of webhooks before anything changes."""

import pytest

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Window
from app.domain.webhooks import queries, service
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.queries import DeliveryFilter
from app.domain.webhooks.service import MAX_DESCRIPTION
from tests.domain.webhooks.endpoints import delivery_ids, endpoint
from tests.domain.webhooks.harness import Harness
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES


async def test_deliveries_are_listed_of_one_subscription_or_of_one_status(harness: Harness) -> None:
    first, second = await harness.subscribe("/1"), await harness.subscribe("/2")
    await harness.tell("won")
    await harness.dispatcher.run()
    of_first, of_second = await delivery_ids(harness)
    await WEBHOOK_DELIVERIES.where(id=of_second).change(harness.pool, status="failed")

    async with harness.act() as unit:
        pages = [
            await queries.find_deliveries(unit, wanted, Window())
            for wanted in (
                DeliveryFilter(subscription_id=first.id),
                DeliveryFilter(status=DeliveryStatus.failed),
                DeliveryFilter(second.id, DeliveryStatus.pending),
            )
        ]
        assert [[each.id for each in page.nodes] for page in pages] == [[of_first], [of_second], []]
        assert [(await page.total()).count for page in pages] == [1, 1, 0]


async def test_only_failed_or_skipped_deliveries_are_replayed_since_an_instant(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    await WEBHOOK_DELIVERIES.change(harness.pool, status="delivered")

    async with harness.act() as unit:
        with pytest.raises(InvalidInput, match="status must be failed or skipped"):
            await service.replay_since(unit, subscription.id, DeliveryStatus.delivered, harness.services.clock.now())

    assert await harness.states() == [("delivered", 0)]


async def test_a_description_that_is_too_long_is_refused_and_the_webhook_stays_as_it_is(harness: Harness) -> None:
    webhook = await endpoint(harness, "contact.created")
    before = await harness.subscription(webhook.id)

    with pytest.raises(InvalidInput, match=f"at most {MAX_DESCRIPTION} characters"):
        await harness.update(webhook.id, description="x" * (MAX_DESCRIPTION + 1))

    assert await harness.subscription(webhook.id) == before


async def test_warming_the_engine_delivers_and_records_nothing(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()

    await harness.engine.warm()

    assert await harness.states() == [("pending", 0)]
    assert await WEBHOOK_ATTEMPTS.count(harness.pool) == 0
