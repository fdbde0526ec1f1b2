"""Files whose reading takes longer than a transaction may be idle."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.domain.bulk import files, imports
from app.domain.bulk.import_rules import Import
from app.domain.jobs import uploads
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.anyio


class Statements:
    """Notes the statements that the transaction of an import makes while its file is read."""

    def __init__(self) -> None:
        self.seen = list[bool]()
        self._one = threading.Event()

    def note(self, *_: Any) -> None:
        self._one.set()

    def await_one(self) -> None:
        """Wait in the thread that reads, which holds up no statement."""
        self._one.clear()
        self.seen.append(self._one.wait(PATIENCE_SECONDS))


@pytest.fixture
def statements() -> Iterator[Statements]:
    noted = Statements()
    event.listen(Engine, "before_cursor_execute", noted.note)
    yield noted
    event.remove(Engine, "before_cursor_execute", noted.note)


async def test_the_transaction_of_an_import_is_not_idle_while_its_file_is_read(
    services: Services, unit_for: UnitFor, account: Opened, statements: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = files.read

    def read_slowly(*given: Any) -> Iterator[Any]:
        statements.await_one()
        yield from read(*given)

    monkeypatch.setattr(files, "read", read_slowly)
    monkeypatch.setattr(imports, "AWAKE_SECONDS", 0.01)
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n+12025550143\n")
        await imports.begin(unit, Import(upload.id))

    await advance(services)

    assert statements.seen == [True, True]
    assert await ACCOUNT_JOBS.only(services, "status", "attempts", "done") == ("done", 0, 1)
    assert await CONTACTS.count(services) == 1
