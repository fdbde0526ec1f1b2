"""Imports whose files take long to read."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.domain.bulk import files, imports
from app.domain.bulk.import_rules import Import
from app.domain.jobs import service as jobs
from app.domain.jobs import slow_work, uploads
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.waiting import PATIENCE_SECONDS, until, within

pytestmark = pytest.mark.anyio


class SlowReader:
    """Reads files in the thread of an import, which waits before each until the test lets it go on."""

    def __init__(self) -> None:
        self.reads = 0
        self._begun, self._may_go_on = threading.Event(), threading.Event()
        self._read = files.read

    def read(self, *given: Any) -> Iterator[Any]:
        self.reads += 1
        self._begun.set()
        assert self._may_go_on.wait(PATIENCE_SECONDS)
        yield from self._read(*given)

    async def await_begin(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, PATIENCE_SECONDS)

    def go_on(self) -> None:
        self._may_go_on.set()


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> SlowReader:
    """Let the reading of each file wait, with the job unlocked from the first moment on."""
    slow = SlowReader()
    monkeypatch.setattr(files, "read", slow.read)
    monkeypatch.setattr(slow_work, "LOCKED_SECONDS", 0)
    return slow


@pytest.fixture
async def job_id(unit_for: UnitFor, account: Opened) -> int:
    """Begin the import of a file with one contact."""
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n+12025550143\n")
        return (await imports.begin(unit, Import(upload.id))).id


async def test_a_slow_file_is_read_by_one_worker_with_no_transaction_open_and_is_imported(
    services: Services, job_id: int, reader: SlowReader
) -> None:
    working = asyncio.create_task(advance(services))
    await reader.await_begin()
    await until(lambda: ACCOUNT_JOBS.only(services, "retry_at"))
    await advance(services)
    attempts, retry_at = await ACCOUNT_JOBS.only(services, "attempts", "retry_at")
    reads = reader.reads
    reader.go_on()
    await within("the import", working)
    await advance(services)

    assert (reads, attempts, retry_at > services.clock.now()) == (1, 0, True)
    assert await ACCOUNT_JOBS.only(services, "status", "attempts", "done", "retry_at") == ("done", 0, 1, None)
    assert await CONTACTS.count(services) == 1


async def test_an_import_is_canceled_while_its_file_is_read_and_stays_so(
    services: Services, unit_for: UnitFor, account: Opened, job_id: int, reader: SlowReader
) -> None:
    working = asyncio.create_task(advance(services))
    await reader.await_begin()
    async with unit_for(account) as unit:
        canceled = await within("the cancellation", jobs.cancel(unit, job_id))
    reader.go_on()
    await within("the import", working)
    await advance(services)

    assert canceled.status == "canceled"
    assert await ACCOUNT_JOBS.only(services, "status", "attempts", "done") == ("canceled", 0, 0)
    assert await CONTACTS.count(services) == 0


async def test_an_import_that_another_worker_advanced_meanwhile_is_not_advanced_twice(
    services: Services, job_id: int, reader: SlowReader
) -> None:
    working = asyncio.create_task(advance(services, 1))
    await reader.await_begin()
    await ACCOUNT_JOBS.change(services, position="0")
    reader.go_on()
    await within("the step", working)

    assert await ACCOUNT_JOBS.only(services, "position", "total", "started_at") == ("0", None, None)
