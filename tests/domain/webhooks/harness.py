"""Deliveries of a worker to a local subscriber."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from app.db.engine import Pool
from app.domain.accounts.scopes import ALL
from app.domain.contacts.events import ANN, AT, PipelineStageChanged
from app.domain.events import outbox
from app.domain.events.dispatcher import Dispatcher
from app.domain.events.reactions import Batch, Reaction
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.webhooks import service
from app.domain.webhooks.delivery_workers import DeliveryWorkers
from app.domain.webhooks.leftovers import Leftovers
from app.domain.webhooks.models import Subscription
from app.domain.webhooks.service import SubscriptionFields
from app.jobs.job import Job, Runner
from app.jobs.poller import tick
from app.services import Services
from tests.conftest import unit_of
from tests.domain.webhooks.receivers import Post, Receiver
from tests.factories.clocks import Moving
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_NOTICES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import within

EVENT = "pipeline_stage_changed"


@dataclass
class Harness:
    """An account with webhooks, the services that deliver them, and a subscriber."""

    services: Services
    account: Opened
    receiver: Receiver
    dispatcher: Dispatcher
    engine: DeliveryWorkers

    @property
    def pool(self) -> Pool:
        return self.services.database.pool

    def act(self) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open a unit of work of the account."""
        return unit_of(self.services, Actor(self.account.account_id, ALL, "test"))

    async def subscribe(self, path: str = "/hook", event: str = EVENT) -> Subscription:
        """Subscribe a path of the receiver to an event."""
        async with self.act() as unit:
            return await service.subscribe(unit, self.services.webhooks, event, self.receiver.url + path)

    async def update(self, id: int, **fields: Any) -> None:
        """Change a webhook."""
        async with self.act() as unit:
            await service.update_webhook(unit, self.services.webhooks, id, SubscriptionFields(**fields))

    async def clear(self) -> None:
        """Cancel or skip the pending deliveries of ended subscriptions."""
        leftovers = Leftovers(self.services.database)
        while await leftovers.run():
            pass

    async def unsubscribe(self, id: int) -> None:
        """End a subscription."""
        async with self.act() as unit:
            await service.unsubscribe(unit, id)

    async def tell(self, *stages: str, contact_id: int | None = 1) -> None:
        """Record an event for each pipeline stage of a contact, in one transaction."""
        async with self.act() as unit:
            for stage in stages:
                whom = ANN | {"contact_id": contact_id or 0}
                event = PipelineStageChanged(**whom, old_stage="new_lead", new_stage=stage, changed_at=AT)
                outbox.record(unit, event, contact_id)

    async def dispatch(self, *reactions: Callable[[Batch], Awaitable[None]]) -> None:
        """Dispatch a batch with other reactions."""
        await replace(self.dispatcher, reactions=[Reaction(each.__name__, each) for each in reactions]).run()

    def pace(self, **schedule: Any) -> None:
        """Set another schedule of deliveries."""
        dependencies = self.engine.shared.dependencies
        self.engine = DeliveryWorkers.of(replace(dependencies, schedule=replace(dependencies.schedule, **schedule)))

    def set_clock(self) -> Moving:
        """Set a clock that the test moves; return it."""
        clock = Moving()
        self.engine = DeliveryWorkers.of(replace(self.engine.shared.dependencies, clock=clock))
        return clock

    def another(self) -> DeliveryWorkers:
        """Return the delivery workers of another process."""
        return DeliveryWorkers.of(self.engine.shared.dependencies)

    @asynccontextmanager
    async def at_work(self, engine: DeliveryWorkers | None = None, grace: float = 10) -> AsyncGenerator[None]:
        """Dispatch and deliver within a block; stop as a worker does, within `grace` seconds."""
        engine, leftovers = engine or self.engine, Leftovers(self.services.database)
        runners = [
            Runner(Job("events", self.dispatcher.run, self.dispatcher.due, every=0.01)),
            Runner(Job("webhooks", engine.run, engine.due, every=0.01, finish=engine.finish)),
            Runner(Job("webhook_leftovers", leftovers.run, leftovers.due, every=0.01)),
        ]
        clock = asyncio.create_task(tick(runners))
        try:
            yield
        finally:
            clock.cancel()
            await within("clock to end", asyncio.wait({clock}))
            for runner in runners:
                await runner.stop(grace)

    async def states(self) -> list[tuple[str, int]]:
        """Return the status and number of attempts of every delivery, in order, after `clear`."""
        await self.clear()
        return await WEBHOOK_DELIVERIES.read(self.pool, "status", "attempts")

    async def are_all(self, status: str) -> bool:
        """Return whether all events were dispatched, and all deliveries have the given status."""
        return not await self.dispatcher.due() and {each for each, _ in await self.states()} == {status}

    async def is_at_rest(self) -> bool:
        """Return whether no process leases a subscription."""
        return await WEBHOOK_SUBSCRIPTIONS.where_not(leased_until=None).count(self.pool) == 0

    async def subscription(self, id: int) -> Any:
        """Return the row of a subscription."""
        return await WEBHOOK_SUBSCRIPTIONS.where(id=id).only(self.pool)

    async def notices(self) -> list[tuple[str, str]]:
        """Return the kind and text of the account's notices, in order."""
        return await WEBHOOK_NOTICES.read(self.pool, "kind", "text")


def stages(posts: list[Post]) -> list[str]:
    """Return the pipeline stages in the bodies of posts."""
    return [post.body["new_stage"] for post in posts]
