"""Imports and exports of files by commands."""

import asyncio
from pathlib import Path

import pytest

from app.cli import transfers
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.import_rules import Import
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import uploads
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import advance
from tests.factories.tables import Rows
from tests.waiting import until, within

pytestmark = pytest.mark.anyio

UPLOADS, JOBS = Rows("uploads"), Rows("account_jobs")


@pytest.mark.parametrize(
    ("name", "chosen", "format"),
    [
        ("people.csv", None, ExportFormat.csv),
        ("people", None, ExportFormat.csv),
        ("people.VCF", None, ExportFormat.vcard),
        ("people.json", None, ExportFormat.json),
        ("people.json", "csv", ExportFormat.csv),
    ],
)
def test_an_export_has_the_chosen_format_or_else_that_of_the_name_of_its_file(
    name: str, chosen: str | None, format: ExportFormat
) -> None:
    assert transfers.format_of(Path(name), chosen) == format


async def test_a_dry_run_leaves_no_uploaded_file(
    services: Services, settings: Settings, account: Opened, tmp_path: Path
) -> None:
    (file := tmp_path / "people.csv").write_text("phone\n+12025550143\n")
    importing = transfers.import_file(settings, account.account_id, file, Import(0, dry_run=True), None)

    running = asyncio.create_task(importing)
    await until(lambda: JOBS.count(services))
    await advance(services)
    done = await within("the end of the command", running)

    assert (done["status"], done["would_change"]) == ("done", 1)
    assert (await UPLOADS.count(services), await CONTACTS.count(services)) == (0, 0)


async def test_a_file_that_is_refused_leaves_no_uploaded_file(
    services: Services, settings: Settings, account: Opened, tmp_path: Path
) -> None:
    (file := tmp_path / "people.csv").write_text("name\nAnn\n")

    with pytest.raises(InvalidInput, match="No column was found to be the phone"):
        await transfers.import_file(settings, account.account_id, file, Import(0), None)

    assert await UPLOADS.count(services) == 0


async def test_an_import_that_is_interrupted_while_it_uploads_leaves_no_uploaded_file(
    services: Services, settings: Settings, account: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "people.csv").write_text("phone\n+12025550143\n")
    seen = list[int]()

    async def interrupt(*_: object) -> None:
        seen.append(await UPLOADS.count(services))
        raise asyncio.CancelledError

    monkeypatch.setattr(uploads, "add_part", interrupt)
    importing = transfers.import_file(settings, account.account_id, file, Import(0), None)

    with pytest.raises(asyncio.CancelledError):
        await within("the end of the command", importing)
    assert (seen, await UPLOADS.count(services)) == ([1], 0)


async def test_an_export_that_is_canceled_is_an_error_and_writes_no_file(
    services: Services, settings: Settings, account: Opened, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    exporting = transfers.export_file(settings, account.account_id, file, ContactFilter(), ExportFormat.csv)

    running = asyncio.create_task(exporting)
    await until(lambda: JOBS.count(services))
    await JOBS.change(services, status="canceled")

    with pytest.raises(Conflict, match="The export ended before all contacts were written"):
        await within("the end of the command", running)
    assert not file.exists()
