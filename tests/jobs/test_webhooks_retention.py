"""What is kept of deliveries, and for how long."""

from datetime import UTC, datetime, timedelta

from app.bootstrap import Services
from app.domain.kernel.clock import Clock
from app.domain.onboarding.service import Opened
from app.jobs.retention import purge

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
PAYLOADS, METADATA = timedelta(days=30), timedelta(days=90)
SUBSCRIPTION = """
INSERT INTO webhook_subscriptions (account_id, kind, target_url, events, secret, status, created_at)
VALUES ($1, 'hook', $2, '{}', '', $3, $4) RETURNING id
"""
DELIVERY = """
INSERT INTO webhook_deliveries (account_id, subscription_id, event, webhook_id, status, body, created_at)
VALUES (1, $1, '', $2, $3, 'body', $4)
"""
NOTICE = "INSERT INTO webhook_notices (account_id, subscription_id, kind, text, created_at) VALUES ($1, 1, '', $2, $3)"


class Noon(Clock):
    """A clock on which it is always noon."""

    def now(self) -> datetime:
        return NOON


async def forget(services: Services) -> None:
    await purge(services.database, Noon(), PAYLOADS, METADATA).run()


async def test_bodies_are_forgotten_before_deliveries_and_what_is_pending_is_kept(
    services: Services, account: Opened
) -> None:
    pool = services.database.pool
    id = await pool.fetchval(SUBSCRIPTION, account.account_id, "", "active", NOON)
    for name, status, at in [
        ("old", "delivered", NOON - METADATA - MOMENT),
        ("bare", "failed", NOON - PAYLOADS - MOMENT),
        ("whole", "skipped", NOON - PAYLOADS),
        ("pending", "pending", NOON - METADATA - MOMENT),
    ]:
        await pool.execute(DELIVERY, id, name, status, at)

    await forget(services)

    left = await pool.fetch("SELECT webhook_id, body IS NOT NULL FROM webhook_deliveries ORDER BY id")
    assert [tuple(row) for row in left] == [("bare", False), ("whole", True), ("pending", True)]


async def test_a_subscription_that_is_over_is_forgotten_with_its_last_delivery(
    services: Services, account: Opened
) -> None:
    pool, old = services.database.pool, NOON - METADATA - MOMENT
    ids = {
        name: await pool.fetchval(SUBSCRIPTION, account.account_id, name, status, at)
        for name, status, at in [
            ("over", "removed", old),
            ("still told of", "removed", old),
            ("young", "removed", NOON),
            ("alive", "active", old),
            ("disabled", "disabled", old),
        ]
    }
    await pool.execute(DELIVERY, ids["still told of"], "", "canceled", NOON)

    await forget(services)

    left = await pool.fetch("SELECT target_url FROM webhook_subscriptions ORDER BY id")
    assert [row["target_url"] for row in left] == ["still told of", "young", "alive", "disabled"]


async def test_notices_are_forgotten_with_the_deliveries(services: Services, account: Opened) -> None:
    pool = services.database.pool
    for name, at in {"old": NOON - METADATA - MOMENT, "kept": NOON - METADATA}.items():
        await pool.execute(NOTICE, account.account_id, name, at)

    await forget(services)

    assert [row["text"] for row in await pool.fetch("SELECT text FROM webhook_notices")] == ["kept"]
