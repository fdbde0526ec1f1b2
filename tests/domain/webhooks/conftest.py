"""Fixtures for deliveries with short retries."""

from collections.abc import AsyncGenerator

import pytest

from app.bootstrap import open_delivery_workers
from app.domain.events.dispatcher import Dispatcher
from app.domain.notices.reactions import REACTIONS as NOTICE_REACTIONS
from app.domain.onboarding.service import Opened
from app.domain.webhooks.reactions import REACTIONS
from app.services import Services
from app.settings import Settings
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Receiver, receiving


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Return settings with short times for webhooks too."""
    quick = {
        "webhook_retry_schedule": (0.05, 0.05, 0.05, 0.05, 0.05, 0.05),
        "webhook_breaker_seconds": (0.3, 0.6),
        "webhook_lease_seconds": 60.0,
        "webhook_connect_seconds": 5.0,
        "webhook_timeout_seconds": 60.0,
    }
    return settings.model_copy(update=quick)


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """Provide a subscriber."""
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def harness(services: Services, account: Opened, receiver: Receiver) -> Harness:
    """Provide a harness without a running worker."""
    dispatcher = Dispatcher(services.database, services.clock, services.notify, (*REACTIONS, *NOTICE_REACTIONS))
    return Harness(services, account, receiver, dispatcher, open_delivery_workers(services))


@pytest.fixture
async def working(harness: Harness) -> AsyncGenerator[Harness]:
    """Provide a harness with a worker that dispatches and delivers until the test ends."""
    async with harness.at_work():
        yield harness
