"""Files whose first reading takes longer than a transaction may be idle."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, select

from app.domain.bulk import files, imports
from app.domain.bulk.import_rules import Import
from app.domain.bulk.imports import Importer
from app.domain.jobs import uploads
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance

pytestmark = pytest.mark.anyio


async def test_a_file_that_is_read_for_longer_than_a_transaction_may_be_idle_is_imported(
    services: Services, unit_for: UnitFor, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, read = Importer._survey, files.read

    async def survey_with_little_time(self: Importer, unit: UnitOfWork, *given: Any) -> Any:
        await unit.one(select(func.set_config("idle_in_transaction_session_timeout", "1s", True)))
        return await survey(self, unit, *given)

    def read_slowly(*given: Any) -> Iterator[Any]:
        time.sleep(1.5)
        yield from read(*given)

    monkeypatch.setattr(Importer, "_survey", survey_with_little_time)
    monkeypatch.setattr(files, "read", read_slowly)
    monkeypatch.setattr(imports, "AWAKE_SECONDS", 0.1)
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n+12025550143\n")
        await imports.begin(unit, Import(upload.id))

    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "attempts", "done") == ("done", 0, 1)
    assert await CONTACTS.count(services) == 1
