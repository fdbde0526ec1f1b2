"""Exported files that are imported again."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bulk import csv_text, exports, imports, selection, tag_lists
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.import_rules import Existing, Import
from app.domain.bulk.selection import Selection
from app.domain.consent.service import Evidence
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.queries import ContactFilter
from app.domain.conversations import review
from app.domain.jobs import downloads, uploads
from app.domain.jobs import queries as jobs
from app.domain.jobs.models import JobStatus
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import advance, read_file

pytestmark = pytest.mark.anyio

TAGS = ["vip", "Berlin, Germany", "a;b|c", '5" pipe', '"quoted"', "back\\slash"]


async def import_file(services: Services, unit_for: UnitFor, account: Opened, content: bytes, **rules: Any) -> str:
    """Import a file; return the report."""
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, content)
        job = await imports.begin(unit, Import(upload.id, **rules))
    await advance(services)
    return (await read_file(services, job.id)).decode()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1", "'=1"),
        ("\uff1dHYPERLINK(A1)", "'\uff1dHYPERLINK(A1)"),
        ("Ann;=cmd|' /C calc'!A0", "Ann;'=cmd|' /C calc'!A0"),
        ("Ann\n@SUM(A1)", "Ann\n'@SUM(A1)"),
        ("Ann\t-1+1;;+1", "Ann\t'-1+1;;'+1"),
        ("+12025550143", "+12025550143"),
        ("Ann - Lee; 'B' = C", "Ann - Lee; 'B' = C"),
    ],
)
def test_no_cell_is_a_formula_wherever_a_spreadsheet_divides_the_line(text: str, cell: str) -> None:
    [written] = csv.reader(io.StringIO(csv_text.write([[text]]).decode(), newline=""))

    assert written == [cell]
    assert csv_text.read(cell) == text


@given(st.text(alphabet="a=-+@;|\t\n\uff1d ", min_size=1))
def test_a_text_without_apostrophes_is_read_as_it_was_written(text: str) -> None:
    [[cell]] = csv.reader(io.StringIO(csv_text.write([[text]]).decode(), newline=""))

    assert csv_text.read(cell) == text
    assert csv_text.FORMULA.search(cell) is None


@given(st.lists(st.text(alphabet='ab",;| ', min_size=1).map(str.strip).filter(bool)))
def test_tags_are_read_as_they_were_written(tags: list[str]) -> None:
    assert tag_lists.read(tag_lists.write(tags)) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a, b;c|d", ["a", "b", "c", "d"]),
        (',a,," ",', ["a"]),
        ('"a,b", "say ""hi""" ;c', ["a,b", 'say "hi"', "c"]),
        ('5" pipe,"a" b,"open', ['5" pipe', '"a" b', '"open']),
    ],
)
def test_tags_are_separated_by_commas_semicolons_or_bars_outside_of_quotes(text: str, tags: list[str]) -> None:
    assert tag_lists.read(text) == tags


@pytest.mark.parametrize("format", [ExportFormat.csv, ExportFormat.vcard])
async def test_an_exported_contact_has_the_same_names_and_tags_in_the_account_that_imports_it(
    services: Services, unit_for: UnitFor, account: Opened, new_account: Callable[..., Any], format: ExportFormat
) -> None:
    fields: Any = {"phone": "+12025550143", "first_name": "Ann; Lee", "last_name": "O,Neil", "tags": TAGS}
    async with unit_for(account) as unit:
        await contacts.create(unit, fields)
        job = await exports.begin(unit, Selection(filter=ContactFilter()), format)
    await advance(services)
    other = await new_account()

    await import_file(services, unit_for, other, await read_file(services, job.id))

    imported = CONTACTS.where(account_id=other.account_id)
    assert await imported.only(services, *fields) == tuple(fields.values())


@pytest.mark.parametrize("status", [JobStatus.canceled, JobStatus.failed])
async def test_the_file_of_an_export_that_ended_early_is_not_shown_and_gets_no_link(
    services: Services, unit_for: UnitFor, account: Opened, status: JobStatus
) -> None:
    async with unit_for(account) as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
        job = await exports.begin(unit, Selection(filter=ContactFilter()), ExportFormat.csv)
    await advance(services)
    async with unit_for(account) as unit:
        ended = await jobs.get(unit, job.id)
        assert downloads.has_file(ended)
        ended.status = status
        assert not downloads.has_file(ended)

        with pytest.raises(Conflict, match=r"The export ended before all contacts were written\. Begin another one\."):
            await downloads.make_link(unit, services.exports, job.id)


@pytest.mark.parametrize("format", [ExportFormat.csv, ExportFormat.vcard])
async def test_an_exported_contact_without_a_name_has_none_in_the_account_that_imports_it(
    services: Services, unit_for: UnitFor, account: Opened, new_account: Callable[..., Any], format: ExportFormat
) -> None:
    async with unit_for(account) as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
        job = await exports.begin(unit, Selection(filter=ContactFilter()), format)
    await advance(services)
    other = await new_account()

    await import_file(services, unit_for, other, await read_file(services, job.id))

    imported = CONTACTS.where(account_id=other.account_id)
    assert await imported.only(services, "phone", "first_name", "last_name") == ("+12025550143", "", "")


async def test_a_file_keeps_its_columns_while_custom_fields_are_added_and_deleted(
    services: Services, unit_for: UnitFor, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGES", 1)
    monkeypatch.setattr(selection.find_next, "__defaults__", (1,))
    async with unit_for(account) as unit:
        await custom_fields.create(unit, NewField("size"))
        town = await custom_fields.create(unit, NewField("town"))
        for phone in ("+12025550143", "+12025550144"):
            await contacts.create(unit, {"phone": phone, "custom_fields": {"size": "XL", "town": "Bonn"}})
        job = await exports.begin(unit, Selection(filter=ContactFilter()), ExportFormat.csv)
    await advance(services, 1)

    async with unit_for(account) as unit:
        await custom_fields.create(unit, NewField("age"))
        await custom_fields.hide(unit, town.id)
    await advance(services)

    rows = [*csv.reader(io.StringIO((await read_file(services, job.id)).decode(), newline=""))]
    assert [row[13:] for row in rows] == [["custom.size", "custom.town"], ["XL", "Bonn"], ["XL", ""]]


async def test_an_exported_json_file_is_refused_with_the_formats_that_can_be_imported(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
        job = await exports.begin(unit, Selection(filter=ContactFilter()), ExportFormat.json)
    await advance(services)

    with pytest.raises(InvalidInput, match="This file is JSON"):
        await import_file(services, unit_for, account, await read_file(services, job.id))


async def test_persons_who_are_not_to_be_texted_are_not_texted_by_the_account_that_imports_them(
    services: Services, unit_for: UnitFor, account: Opened, new_account: Callable[..., Any]
) -> None:
    async with unit_for(account) as unit:
        await contacts.create(unit, {"phone": "+12025550143", "dnd_sms": True})
        await contacts.create(unit, {"phone": "+12025550144"})
        left = await contacts.create(unit, {"phone": "+12025550145"})
        await review.record_opt_out(unit, left.id, Evidence("test", "Asked by phone."))
        job = await exports.begin(unit, Selection(filter=ContactFilter()), ExportFormat.csv)
    await advance(services)
    other = await new_account()

    await import_file(services, unit_for, other, await read_file(services, job.id))

    imported = CONTACTS.where(account_id=other.account_id)
    assert sorted(map(tuple, await imported.read(services, "phone", "dnd_sms", "status"))) == [
        ("+12025550143", True, "active"),
        ("+12025550144", False, "active"),
        ("+12025550145", False, "opted_out"),
    ]


@pytest.mark.parametrize(
    ("existing", "cell", "before", "after"),
    [
        (Existing.update, "TRUE", False, True),
        (Existing.keep, "yes", False, True),
        (Existing.skip, "true", False, False),
        (Existing.update, "false", True, True),
        (Existing.update, "", True, True),
    ],
)
async def test_a_row_sets_do_not_disturb_and_never_lifts_it(
    services: Services,
    unit_for: UnitFor,
    account: Opened,
    recorded: Recorded,
    *,
    existing: Existing,
    cell: str,
    before: bool,
    after: bool,
) -> None:
    async with unit_for(account) as unit:
        await contacts.create(unit, {"phone": "+12025550143", "dnd_sms": before})

    report = await import_file(
        services, unit_for, account, f"phone,dnd\n+12025550143,{cell}\n".encode(), existing=existing
    )

    outcome = "unchanged" if before == after else "updated"
    assert report.splitlines()[1].split(",")[:2] == ["2", outcome]
    assert await CONTACTS.only(services, "dnd_sms") is after
    changes = [event["dnd_sms"] for name, event in await recorded() if name == "contact_dnd_changed"]
    assert changes == ([] if before == after else [True])


async def test_an_unclear_do_not_disturb_is_refused_with_its_row(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    report = await import_file(services, unit_for, account, b"phone,dnd_sms\n+12025550143,perhaps\n")

    assert report.splitlines()[1:] == ["2,invalid,\"dnd_sms must be true or false, not 'perhaps'.\","]
    assert await CONTACTS.count(services) == 0
