"""Files that are changed while they are imported."""

import pytest

from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.jobs import uploads
from app.domain.kernel.errors import Conflict
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.factories.tables import Rows

pytestmark = pytest.mark.anyio

FIRST, SECOND = b"phone\n+12025550143\n", b"+12025550144\n"
UPLOAD_PARTS = Rows("upload_parts")


async def begin(unit_for: UnitFor, account: Opened, *, dry_run: bool = False) -> int:
    """Begin an import of a file with one part; return the id of the upload."""
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, FIRST)
        await imports.begin(unit, Import(upload.id, dry_run=dry_run))
        return upload.id


@pytest.mark.parametrize("chunks", [0, 1])
async def test_a_file_that_is_being_imported_takes_no_further_part(
    services: Services, unit_for: UnitFor, account: Opened, chunks: int
) -> None:
    id = await begin(unit_for, account)
    await advance(services, chunks)

    async with unit_for(account) as unit:
        await uploads.add_part(unit, id, 0, FIRST)
        with pytest.raises(Conflict, match="The file is being imported"):
            await uploads.add_part(unit, id, 1, SECOND)
    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "total", "done") == ("done", 1, 1)


async def test_a_file_takes_further_parts_after_a_dry_run_and_during_the_import_of_another(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    id = await begin(unit_for, account, dry_run=True)
    await advance(services)
    await begin(unit_for, account)

    async with unit_for(account) as unit:
        await uploads.add_part(unit, id, 1, SECOND)

    assert await UPLOAD_PARTS.where(upload_id=id).count(services) == 2


async def test_a_dry_run_whose_file_is_deleted_meanwhile_fails(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    id = await begin(unit_for, account, dry_run=True)
    await advance(services, 1)
    async with unit_for(account) as unit:
        await uploads.delete(unit, id)
    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "done") == ("failed", 0)
    assert await CONTACTS.count(services) == 0
