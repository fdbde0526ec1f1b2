"""Campaigns under way beside a browser: what a worker does for them, a step at a time, and the updates of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from app.bootstrap import open_campaigns, open_dispatcher
from app.domain.campaigns import service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.progress import Progress
from app.domain.campaigns.runner import CampaignRunner
from app.domain.campaigns.service import Order
from tests.factories.clocks import Moving
from tests.graphql.live import Scene

BODY = "Hi {first_name|there}, our sale begins today. Reply STOP to opt out."


@dataclass
class Sending:
    """The campaigns of a scene, and the jobs that send them; `work` runs the jobs of messages."""

    scene: Scene
    work: Callable[[], Awaitable[None]]
    clock: Moving = field(default_factory=Moving)
    runner: CampaignRunner = field(init=False)
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        self.runner = replace(open_campaigns(self.scene.services), clock=self.clock)
        self.progress = Progress(self.scene.services.database, self.scene.services.notify)

    async def draft(self, name: str = "Sale", body: str = BODY) -> int:
        """Create a draft to everyone; return its id."""
        async with self.scene.unit() as unit:
            campaign = await service.create(unit, {"name": name, "body": body, "audience": Audience(everyone=True)})
        return campaign.id

    async def send(self, id: int, max_credits: int | None = None) -> None:
        """Send a draft."""
        async with self.scene.unit() as unit:
            await service.send(unit, id, Order(consent_attested=True, max_credits=max_credits))

    async def step(self) -> bool:
        """Take a step of the campaign that has been due longest: the first writes recipients, others accept texts.

        Return whether a campaign was due, a second after the last step.
        """
        self.clock.move(seconds=1)
        is_due = await self.runner.due()
        if is_due:
            await self.runner.run()
            await self.tell()
        return is_due

    async def tell(self) -> None:
        """Fold the counts, and send the updates of it."""
        await self.progress.run()
        await self.dispatch()

    async def dispatch(self) -> None:
        """Dispatch all events: many texts have more than one batch."""
        dispatcher = open_dispatcher(self.scene.services, self.scene.announcer.announce)
        while await dispatcher.due():
            await dispatcher.run()

    async def finish(self) -> None:
        """Send everything that is due, with the reports and the replies to it."""
        while await self.step() or await self.scene.services.handoff.due():
            await self.work()
            await self.dispatch()
        await self.tell()
