"""Figures of deliveries, for those who run the service."""

from datetime import timedelta

import httpx2
import pytest

from app.domain.webhooks import metrics
from app.rest import health
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, add_delivery, multiply_subscription
from tests.waiting import until


async def test_due_and_waiting_deliveries_are_counted_apart_with_their_ages(harness: Harness) -> None:
    first, second = await harness.subscribe("/1"), await harness.subscribe("/2")
    await harness.tell("contacted", "qualified", "won")
    await harness.dispatcher.run()
    now = harness.services.clock.now()
    for statement in (
        "UPDATE webhook_deliveries SET created_at = $1::timestamptz - interval '1 hour'",
        "UPDATE webhook_deliveries SET next_attempt_at = $1::timestamptz + interval '1 hour',"
        " created_at = $1::timestamptz - interval '2 hours' WHERE id = (SELECT max(id) FROM webhook_deliveries)",
    ):
        await harness.pool.execute(statement, now)

    mixed = await metrics.count_pending(harness.pool, now), await metrics.age_pending(harness.pool, now)
    await WEBHOOK_SUBSCRIPTIONS.where(id=first.id).change(harness.pool, open_until=now + timedelta(hours=1))
    broken = await metrics.count_pending(harness.pool, now)
    await harness.unsubscribe(second.id)
    await harness.unsubscribe(first.id)

    assert mixed == ({"due": 5, "waiting": 1}, {"due": 3600, "waiting": 7200})
    assert broken == {"due": 2, "waiting": 4}
    assert await metrics.count_pending(harness.pool, now) == {"due": 0, "waiting": 0}
    assert await metrics.age_pending(harness.pool, now) == {"due": 0, "waiting": 0}


async def test_the_success_rate_is_reported_for_the_hundred_busiest_webhooks(harness: Harness) -> None:
    harness.pace(waits=())
    codes = iter([500, 200, 200, 200])
    harness.receiver.respond = lambda post: status(next(codes))(post)
    subscription = await harness.subscribe()
    await harness.tell(*["won"] * 4)
    async with harness.at_work():
        await until(lambda: is_done(harness))
    now = harness.services.clock.now()

    rates = await metrics.rate_success(harness.pool, now)
    await multiply_subscription(harness.pool, 150)
    for id in await WEBHOOK_SUBSCRIPTIONS.read(harness.pool, "id"):
        await add_delivery(harness.pool, harness.account.account_id, id, status="delivered", attempts=1)
    many = await metrics.rate_success(harness.pool, now)

    assert rates == {str(subscription.id): 0.75}
    assert len(many) == 100
    assert many[str(subscription.id)] == 0.8
    assert await metrics.rate_success(harness.pool, now + timedelta(hours=1)) == {}


async def is_done(harness: Harness) -> bool:
    return sorted(state for state, _ in await harness.states()) == ["delivered"] * 3 + ["failed"]


async def test_prometheus_is_told(harness: Harness, api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)
    subscription = await harness.subscribe()
    await harness.tell("contacted", "won")
    await harness.dispatcher.run()
    first, _ = await WEBHOOK_DELIVERIES.read(harness.pool, "id")
    await WEBHOOK_DELIVERIES.where(id=first).change(harness.pool, status="delivered", attempts=1)

    text = (await api.get("/metrics")).text

    assert 'messaging_webhooks_pending{state="due"} 1.0\n' in text
    assert 'messaging_webhooks_pending{state="waiting"} 0.0\n' in text
    assert 'messaging_webhooks_oldest_seconds{state="due"} ' in text
    assert f'messaging_webhooks_success_ratio{{webhook="{subscription.id}"}} 1.0\n' in text
    assert "messaging_webhooks_in_flight " in text
