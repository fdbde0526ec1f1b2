"""Creates webhooks, and reads their deliveries."""

from app.domain.webhooks import service
from app.domain.webhooks.models import Subscription
from tests.domain.webhooks.stages import Stage
from tests.factories.webhooks import WEBHOOK_DELIVERIES


async def endpoint(stage: Stage, *topics: str, path: str = "/hook") -> Subscription:
    async with stage.act() as unit:
        return await service.create_webhook(unit, stage.services.webhooks, stage.receiver.url + path, topics)


async def secret(stage: Stage, id: int) -> str:
    return stage.services.webhooks.seal.open((await stage.subscription(id))["secret"])


async def delivery_ids(stage: Stage) -> list[int]:
    return await WEBHOOK_DELIVERIES.read(stage.pool, "id")


async def is_open(stage: Stage, id: int) -> bool:
    row = await stage.subscription(id)
    return row["open_until"] is not None and row["leased_until"] is None


async def has(stage: Stage, state: str, count: int) -> bool:
    return [each for each, _ in await stage.states()].count(state) == count
