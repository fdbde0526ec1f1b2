"""An SMSC that tests share, and a connection to it."""

from collections.abc import Iterator

import pytest

from app.bootstrap import smpp
from app.db.engine import Pool
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.providers.carriers.smpp import deliveries, link
from app.services import Services
from tests.factories.numbers import PHONE_NUMBERS
from tests.smpp.lines import KEY, Line
from tests.smpp.smscs import Smsc, open_smsc
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="session")
def shared_smsc() -> Iterator[Smsc]:
    with open_smsc() as smsc:
        yield smsc


@pytest.fixture
def smsc(shared_smsc: Smsc) -> Smsc:
    """Give an SMSC that has told nothing yet."""
    shared_smsc.command("reset")
    shared_smsc.events.clear()
    return shared_smsc


@pytest.fixture
def pool(services: Services) -> Pool:
    return services.database.pool


@pytest.fixture
def actor(account: Opened) -> Actor:
    return Actor(account.account_id, frozenset(), "key:1")


@pytest.fixture
async def line(services: Services, account: Opened, smsc: Smsc) -> Line:
    """Connect the account's number to the SMSC."""
    await PHONE_NUMBERS.change(services, carrier=KEY)
    line = Line(services, account, smsc)
    await line.connect(smsc.port)
    return line


@pytest.fixture
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have leases renewed often, and waits be short."""
    monkeypatch.setattr(smpp, "LEASE_SECONDS", 2 * PATIENCE_SECONDS)
    monkeypatch.setattr(smpp, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(deliveries, "SLOW_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(link, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(deliveries, "UNKNOWN_ID_WAITS", (0.01,))
