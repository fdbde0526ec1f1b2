"""Creates webhooks, and reads their deliveries."""

from app.domain.webhooks import service
from app.domain.webhooks.models import Subscription
from tests.domain.webhooks.harness import Harness
from tests.factories.webhooks import WEBHOOK_DELIVERIES


async def endpoint(harness: Harness, *topics: str, path: str = "/hook") -> Subscription:
    async with harness.act() as unit:
        return await service.create_webhook(unit, harness.services.webhooks, harness.receiver.url + path, topics)


async def secret(harness: Harness, id: int) -> str:
    return harness.services.webhooks.seal.open((await harness.subscription(id))["secret"])


async def delivery_ids(harness: Harness) -> list[int]:
    return await WEBHOOK_DELIVERIES.read(harness.pool, "id")


async def is_open(harness: Harness, id: int) -> bool:
    row = await harness.subscription(id)
    return row["open_until"] is not None and row["leased_until"] is None


async def has(harness: Harness, state: str, count: int) -> bool:
    return [each for each, _ in await harness.states()].count(state) == count
