"""Whatever is done to a campaign in whatever order, its states add up, and no phone gets two texts."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.bootstrap import open_campaigns, open_dispatcher
from app.domain.billing import service as billing
from app.domain.campaigns import batches, planning, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.models import CampaignStatus
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.campaigns.conftest import NOW
from tests.domain.messages.handing import hand_over
from tests.factories.billing import audit
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, audit_counts
from tests.factories.clocks import Moving
from tests.factories.conversations import open_conversations
from tests.factories.messages import OUTBOUND, calls

pytestmark = pytest.mark.anyio

PEOPLE = 9
STEPS = ("step", "kill", "leave", "dispatch", "pause", "resume", "cancel", "opt_out", "top_up", "send")


class Killed(BaseException):
    """The worker dies before its commit."""


class Course:
    """A campaign to nine contacts whose account can pay for six, and what is done to it."""

    def __init__(self, services: Services, account: Opened, campaign_id: int, tag: str) -> None:
        self.services, self.account, self.campaign_id, self.tag = services, account, campaign_id, tag
        self.clock = Moving()
        self.runner = replace(open_campaigns(services), clock=self.clock)
        self.dispatcher = open_dispatcher(services)
        self.opted_out: dict[str, int] = {}

    def unit(self) -> Any:
        """Open a unit of work of the account."""
        return unit_of(self.services, Actor(self.account.account_id, frozenset(), "key:7"))

    async def do(self, what: str, number: int) -> None:
        """Do one thing; what the status of the campaign does not allow is refused."""
        with suppress(DomainError):
            await getattr(self, what)(number)

    async def step(self, _: int) -> None:
        self.clock.move(seconds=10)
        await self.runner.run()

    async def kill(self, _: int) -> None:
        """Have the worker die at the end of its transaction."""
        self.clock.move(seconds=10)
        with suppress(Killed):
            async with self.runner._due() as (connection, campaign):
                if campaign:
                    await self.runner._step(connection, campaign)
                raise Killed

    async def leave(self, _: int) -> None:
        await hand_over(self.services.handoff)

    async def dispatch(self, _: int) -> None:
        while await self.dispatcher.due():
            await self.dispatcher.run()

    async def pause(self, _: int) -> None:
        async with self.unit() as unit:
            await service.pause(unit, self.campaign_id)

    async def resume(self, _: int) -> None:
        async with self.unit() as unit:
            await service.resume(unit, self.campaign_id)

    async def cancel(self, _: int) -> None:
        async with self.unit() as unit:
            done = await service.cancel(unit, self.campaign_id)
        assert done.in_flight == 0

    async def opt_out(self, number: int) -> None:
        phone = f"+1202555{self.account.account_id % 1000:03d}{number % PEOPLE}"
        sent = await OUTBOUND.where(to_number=phone, purpose="promotional").count(self.services)
        left = {body for body, _ in await calls(self.services)}
        await self.services.inbox.receive(
            "sandbox", InboundMessage(f"{self.tag}-{phone}-{number}", phone, self.account.phone_number, "STOP")
        )
        self.opted_out.setdefault(phone, int(sent > 0 and f"{self.tag} {phone}" in left))

    async def top_up(self, _: int) -> None:
        async with self.unit() as unit:
            await billing.grant(unit, 2, "top-up")

    async def send(self, _: int) -> None:
        async with self.unit() as unit:
            await service.send(unit, self.campaign_id, NOW)

    async def check(self) -> None:
        """Fail unless the counts are those of the recipients, and each phone has one message at most."""
        await audit_counts(self.services)
        campaign_id = self.campaign_id
        rows = await CAMPAIGN_RECIPIENTS.where(campaign_id=campaign_id).read(self.services, "phone", "state")
        assert len(rows) in {0, 3, 6, PEOPLE}
        actor = f"campaign:{campaign_id}"
        texted = await OUTBOUND.where(actor=actor).read(self.services, "to_number")
        assert len(texted) == len(set(texted))
        assert {phone for phone, state in rows if state in ("claimed", "sent", "delivered", "failed")} <= set(texted)

    async def end(self) -> None:
        """Fail unless a campaign that goes on ends with a final state for each recipient."""
        async with self.unit() as unit:
            await billing.grant(unit, 100, "top-up")
        for what in ("send", "resume", *("step", "leave", "dispatch") * 12):
            await self.do(what, 0)
            await self.check()
        status = await CAMPAIGNS.where(id=self.campaign_id).only(self.services, "status")
        assert status in (CampaignStatus.completed, CampaignStatus.canceled, CampaignStatus.failed)
        found = CAMPAIGN_RECIPIENTS.where(campaign_id=self.campaign_id)
        assert {*await found.read(self.services, "state")} <= {"sent", "suppressed", "canceled", "delivered"}
        bodies = await calls(self.services)
        assert {times for _, times in bodies} <= {1}
        for phone, had_left in self.opted_out.items():
            assert sum(body == f"{self.tag} {phone}" for body, _ in bodies) <= had_left


@pytest.fixture
def begin(
    services: Services, new_account: Callable[..., Awaitable[Opened]], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Awaitable[Course]]:
    """Provide a function that begins a course in an account of its own."""
    for module, name in ((batches, "BATCH"), (planning, "CHUNK")):
        monkeypatch.setattr(module, name, 3)

    async def begin() -> Course:
        account = await new_account(credits=6)
        tag = f"course{account.account_id}"
        async with unit_of(services, Actor(account.account_id, frozenset(), "key:7")) as unit:
            for number in range(PEOPLE):
                await contacts.create(unit, {"phone": f"+1202555{account.account_id % 1000:03d}{number}"})
            fields: Any = {"name": "Sale", "body": f"{tag} {{phone}}", "audience": Audience(everyone=True)}
            campaign = await service.create(unit, fields)
        if account.account_id % 2:
            await open_conversations(services)
        return Course(services, account, campaign.id, tag)

    return begin


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=12)
@given(plan=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, PEOPLE - 1)), max_size=25))
async def test_states_add_up_and_no_phone_gets_two_texts_in_any_order_of_actions(
    begin: Callable[[], Awaitable[Course]], plan: list[tuple[str, int]]
) -> None:
    course = await begin()
    await course.do("send", 0)

    for what, number in plan:
        await course.do(what, number)
        await course.check()

    await course.end()
    await audit(course.services)
