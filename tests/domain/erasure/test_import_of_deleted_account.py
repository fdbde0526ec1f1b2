"""An import that adds rows while its account is deleted."""

import asyncio
from typing import Any

import pytest

from app.domain.bulk import imports, merging
from app.domain.bulk.import_rules import Import
from app.domain.erasure.accounts import AFTER_LOCK, AccountDeletions
from app.domain.jobs import uploads
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.erasure.deletions import ask, run_out
from tests.factories.clocks import Moving
from tests.factories.jobs import ACCOUNT_JOBS, JOB_KEYS, JOB_PARTS, advance
from tests.waiting import within

PHONES = [f"+120255501{number}" for number in range(10, 16)]


async def test_the_phones_that_the_last_chunk_of_an_import_noted_are_deleted_with_its_job(
    services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 2)
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, "\n".join(["phone", *PHONES]).encode())
        await imports.begin(unit, Import(upload.id))
    await advance(services, 2)
    begun, deleted, apply = asyncio.Event(), asyncio.Event(), merging.apply

    async def apply_late(*given: Any) -> Any:
        begun.set()
        await within("the deletion", deleted.wait())
        return await apply(*given)

    monkeypatch.setattr(merging, "apply", apply_late)
    importing = asyncio.create_task(advance(services, 1))
    await within("the chunk", begun.wait())
    await ask(services, account.account_id)
    deletions = AccountDeletions(services.database, clock := Moving(), services.notify, batch=2)
    await run_out(deletions)
    deleted.set()
    await within("the import", importing)
    clock.move(seconds=AFTER_LOCK.total_seconds() + 1)
    await run_out(deletions)

    assert [await rows.count(services) for rows in (ACCOUNT_JOBS, JOB_PARTS, JOB_KEYS)] == [0, 0, 0]
