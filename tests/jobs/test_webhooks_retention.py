"""Retention of deliveries."""

from datetime import UTC, datetime, timedelta

from app.domain.kernel.clock import Clock
from app.domain.kernel.retention import HistoryRetention
from app.domain.onboarding.service import Opened
from app.domain.webhooks.retention import make_history_rules, make_rules
from app.jobs.sweeps import end_histories, purge
from app.services import Services
from tests.factories.webhooks import (
    WEBHOOK_ATTEMPTS,
    WEBHOOK_DELIVERIES,
    WEBHOOK_NOTICES,
    WEBHOOK_SUBSCRIPTIONS,
    add_attempt,
    add_delivery,
    add_subscription,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
PAYLOADS, METADATA = timedelta(days=30), timedelta(days=90)


class Noon(Clock):
    """A clock on which it is always noon."""

    def now(self) -> datetime:
        return NOON


async def forget(services: Services) -> None:
    pool = services.database.pool
    deliveries = HistoryRetention((), make_history_rules(PAYLOADS, METADATA), pool)
    await end_histories("histories", deliveries, Noon()).run()
    await purge("retention", make_rules(METADATA), services.database, Noon()).run()


async def test_bodies_are_deleted_before_deliveries_and_pending_deliveries_are_kept(
    services: Services, account: Opened
) -> None:
    id = await add_subscription(services, account.account_id, created_at=NOON)
    for name, status, at in [
        ("old", "delivered", NOON - METADATA - MOMENT),
        ("bare", "failed", NOON - PAYLOADS - MOMENT),
        ("whole", "skipped", NOON - PAYLOADS),
        ("pending", "pending", NOON - METADATA - MOMENT),
    ]:
        await add_delivery(services, account.account_id, id, webhook_id=name, status=status, created_at=at)

    await forget(services)

    left = await WEBHOOK_DELIVERIES.read(services, "webhook_id", "body")
    assert left == [("bare", None), ("whole", b"{}"), ("pending", b"{}")]


async def test_attempts_end_with_their_deliveries_and_deliveries_with_their_subscription(
    services: Services, account: Opened
) -> None:
    ids = [await add_subscription(services, account.account_id) for _ in range(2)]
    for id, at in [(ids[0], NOON - METADATA - MOMENT), (ids[0], NOON), (ids[1], NOON)]:
        delivery = await add_delivery(services, account.account_id, id, status="failed", created_at=at)
        await add_attempt(services, delivery, body=str(delivery))

    await forget(services)
    before = await WEBHOOK_ATTEMPTS.read(services, "body")
    await WEBHOOK_SUBSCRIPTIONS.where(id=ids[0]).delete(services)

    [kept] = await WEBHOOK_DELIVERIES.read(services, "id")
    assert len(before) == 2
    assert await WEBHOOK_ATTEMPTS.read(services, "body") == [str(kept)]


async def test_a_delivery_that_is_sent_again_meanwhile_keeps_its_body(services: Services, account: Opened) -> None:
    id = await add_subscription(services, account.account_id)
    delivery = await add_delivery(
        services, account.account_id, id, status="failed", created_at=NOON - METADATA - MOMENT
    )
    async with services.database.pool.acquire() as connection, connection.transaction():
        await WEBHOOK_DELIVERIES.where(id=delivery).change(connection, status="pending")
        await forget(services)

    await forget(services)

    assert await WEBHOOK_DELIVERIES.read(services, "status", "body") == [("pending", b"{}")]


async def test_a_subscription_that_is_over_is_forgotten_with_its_last_delivery(
    services: Services, account: Opened
) -> None:
    id, old = account.account_id, NOON - METADATA - MOMENT
    ids = {
        name: await add_subscription(services, id, target_url=name, status=status, created_at=at)
        for name, status, at in [
            ("over", "removed", old),
            ("still told of", "removed", old),
            ("young", "removed", NOON),
            ("alive", "active", old),
            ("disabled", "disabled", old),
        ]
    }
    await add_delivery(services, id, ids["still told of"], status="canceled", created_at=NOON)

    await forget(services)

    left = await WEBHOOK_SUBSCRIPTIONS.read(services, "target_url")
    assert left == ["still told of", "young", "alive", "disabled"]


async def test_notices_are_forgotten_with_the_deliveries(services: Services, account: Opened) -> None:
    pool = services.database.pool
    for name, at in {"old": NOON - METADATA - MOMENT, "kept": NOON - METADATA}.items():
        await WEBHOOK_NOTICES.insert(
            pool, account_id=account.account_id, subscription_id=1, kind="", text=name, created_at=at
        )

    await forget(services)

    assert await WEBHOOK_NOTICES.read(pool, "text") == ["kept"]
