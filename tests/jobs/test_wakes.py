"""Notifications that start jobs outside the workers."""

import asyncio

import pytest

from app.jobs.wakes import Wakes
from app.services import Services
from tests.waiting import until

pytestmark = pytest.mark.anyio


async def test_a_notified_topic_is_told_to_each_process_that_listens(services: Services) -> None:
    told: tuple[list[str], list[str]] = [], []
    listeners = [Wakes(services.settings.redis_url or "", each.append) for each in told]
    running = [asyncio.create_task(each.run()) for each in listeners]

    def all_told() -> bool:
        services.notify("messages")
        return all("messages" in each for each in told)

    await until(all_told)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    for each in listeners:
        await each.close()
