"""Fixtures for sending, receiving and handing off messages."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.messages.handoff import Handoff
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.lateness import Asked, Lost
from tests.factories.carriers import opened

TO = "+12025550143"


@pytest.fixture
def pool(services: Services) -> Pool:
    """Provide the database pool."""
    return services.database.pool


@pytest.fixture
def actor(account: Opened) -> Actor:
    """Provide the actor of the account."""
    return Actor(account.account_id, frozenset(), "key:1", "request-1")


@pytest.fixture
def act(services: Services, actor: Actor) -> Callable[[], AbstractAsyncContextManager[UnitOfWork]]:
    """Provide a function that opens a unit of work of the account."""
    return lambda: open_unit(services.database.sessions, actor, services.clock, services.notify)


@pytest.fixture
def send(services: Services, actor: Actor) -> Callable[..., Awaitable[Acceptance]]:
    """Provide a function that sends a message."""

    async def send(to: str = TO, body: str = "Hello", **wishes: Any) -> Acceptance:
        return await services.acceptor.accept(actor, Send(to, body, **{"consent_attested": True} | wishes))

    return send


@pytest.fixture
def text(services: Services, account: Opened) -> Callable[..., Awaitable[None]]:
    """Provide a function that delivers an inbound message to the account's number."""
    ids = iter(range(1, 1000))

    async def text(body: str, sender: str = TO, id: str | None = None) -> None:
        inbound = InboundMessage(id or f"in-{next(ids)}", sender, account.phone_number, body)
        await services.inbox.receive("sandbox", inbound)

    return text


@pytest.fixture
def handoff(services: Services, pool: Pool) -> Handoff:
    """Provide the hand-off, with timeouts for a busy machine."""
    handoff = services.handoff
    connections = opened(handoff, sandbox=SandboxCarrier(pool, b"secret", delay=0, timeout=10))
    return replace(handoff, connections=connections, pace=replace(handoff.pace, timeout=10, lease=30))


@pytest.fixture
def lost(services: Services, handoff: Handoff, send: Callable[..., Any], pool: Pool) -> Lost:
    """Provide texts of whose reports none has arrived."""
    return Lost(services, handoff, Asked(pool), send, datetime.now(UTC) + timedelta(minutes=1))
