"""An SMSC that tests share."""

from collections.abc import Iterator

import pytest

from tests.smpp.smscs import Smsc, open_smsc
from tests.waiting import block_until


@pytest.fixture(scope="session")
def shared_smsc() -> Iterator[Smsc]:
    with open_smsc() as smsc:
        yield smsc


@pytest.fixture
def smsc(shared_smsc: Smsc) -> Smsc:
    """Give an SMSC that has told nothing yet."""
    shared_smsc.command("mute", commands=[])
    shared_smsc.events.clear()
    shared_smsc.command("sync")
    block_until(lambda: shared_smsc.all("synced"))
    shared_smsc.events.clear()
    return shared_smsc
