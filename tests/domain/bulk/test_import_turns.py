"""Imports that are made to hold up others: their order, and the size of what they write."""

import pytest

from app.domain.bulk import candidates, imports
from app.domain.bulk.import_rules import Import
from app.domain.contacts import custom_fields
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.jobs import uploads
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance, read_file

pytestmark = pytest.mark.anyio


async def begin(unit_for: UnitFor, account: Opened, content: bytes) -> int:
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, content)
        return (await imports.begin(unit, Import(upload.id))).id


async def test_the_imports_of_an_account_are_done_one_after_the_other(
    services: Services, unit_for: UnitFor, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 2)
    for area in ("202", "212"):
        await begin(unit_for, account, "\n".join(["phone", *(f"+1{area}555010{n}" for n in range(5))]).encode())

    await advance(services, 3)
    halfway = await ACCOUNT_JOBS.read(services, "status", "done")
    await advance(services)

    assert halfway == [("running", 4), ("waiting", 0)]
    assert await ACCOUNT_JOBS.read(services, "status", "done") == [("done", 5), ("done", 5)]
    assert await CONTACTS.count(services) == 10


@pytest.mark.parametrize("cell", ["1." + "1" * 100_000 + "E+11", "+12025550143,x"])
async def test_a_reason_is_short_however_long_the_cell_or_the_choices_are(
    services: Services, unit_for: UnitFor, account: Opened, cell: str
) -> None:
    async with unit_for(account) as unit:
        choices = [f"{number:064}" for number in range(100)]
        await custom_fields.create(unit, NewField("size", "", CustomFieldType.choice, choices))
    id = await begin(unit_for, account, f"phone,size\n{cell}\n".encode())

    await advance(services)

    report = await read_file(services, id)
    assert b"invalid" in report
    assert len(report) < 2 * candidates.MAX_REASON
