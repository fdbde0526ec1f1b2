"""Conversations with AI agents: contacts write, and workers run on a clock that the test moves."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from app.bootstrap import open_dispatcher
from app.domain.agents.runner import AgentRunner
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.inbound import Inbox
from app.domain.messages.requests import Acceptance, Send
from app.domain.onboarding.service import Opened
from app.domain.writing.drafting import Writers
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.agents import AGENT_RUNS
from tests.factories.billing import audit
from tests.factories.clocks import Later
from tests.factories.messages import MESSAGES

PHONE = "+12025550143"


class Suspending(SendAcceptor):
    """An acceptor whose accounts are suspended before each send."""

    async def accept(self, actor: Actor, send: Send) -> Acceptance:
        await ACCOUNTS.change(self._pool, status="suspended")
        return await super().accept(actor, send)


@dataclass
class Chat:
    """A conversation of a contact with an account, and the worker that runs its agents."""

    services: Services
    account: Opened
    writers: Writers
    later: timedelta = timedelta()
    count: int = 0
    phone: str = PHONE
    replies: list[str] = field(default_factory=list)

    @property
    def clock(self) -> Later:
        """Return the clock."""
        return Later(self.later)

    @property
    def runner(self) -> AgentRunner:
        """Return the worker."""
        services = self.services
        return AgentRunner(services.database, services.acceptor, self.writers, self.clock, services.notify)

    async def write(self, body: str) -> None:
        """Receive a text of the contact, and dispatch its events."""
        await self.receive(body)
        await self.dispatch()

    async def receive(self, body: str) -> None:
        """Receive a text of the contact."""
        self.count += 1
        inbox = replace(self.services.inbox, clock=self.clock)
        assert isinstance(inbox, Inbox)
        inbound = InboundMessage(f"in-{self.phone}-{self.count}", self.phone, self.account.phone_number, body)
        await inbox.receive("sandbox", inbound)

    async def dispatch(self) -> None:
        """Dispatch all events."""
        dispatcher = replace(open_dispatcher(self.services), clock=self.clock)
        while await dispatcher.due():
            await dispatcher.run()

    async def wait(self, **duration: float) -> None:
        """Let time pass."""
        self.later += timedelta(**duration)

    async def run(self) -> None:
        """Run every due run."""
        while await self.runner.due():
            await self.runner.run()

    async def run_until_suspended(self) -> None:
        """Run the due runs, of an account that is suspended before the first text is accepted."""
        services, parts = self.services, (self.services.database.pool, self.clock, self.services.notify)
        await replace(self.runner, acceptor=Suspending(*parts, services.connections)).run()

    async def ask(self, body: str) -> tuple[str | None, str | None]:
        """Receive a text, wait for the agent, and return the outcome and gate of the run."""
        await self.write(body)
        await self.wait(seconds=20)
        await self.run()
        own = AGENT_RUNS.where(account_id=self.account.account_id)
        return tuple(await own.last(self.services, "outcome", "gate"))

    async def sent(self) -> list[str]:
        """Return the texts to the contact."""
        return await MESSAGES.where(direction="outbound").read(self.services, "body")

    async def own_texts(self) -> list[str]:
        """Return the texts that this account sent."""
        own = MESSAGES.where(direction="outbound", account_id=self.account.account_id)
        return await own.read(self.services, "body")

    async def last_gate(self) -> str | None:
        """Return the gate of the last run of this account."""
        return await AGENT_RUNS.where(account_id=self.account.account_id).last(self.services, "gate")


@pytest.fixture
async def chat(services: Services, account: Opened) -> AsyncGenerator[Chat]:
    """Provide a conversation without an AI; afterwards every credit is accounted for."""
    yield Chat(services, account, services.writers)
    await audit(services.database.pool)
