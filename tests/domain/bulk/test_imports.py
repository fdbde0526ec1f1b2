"""Imports of contacts: formats, outcomes of rows, evidence, and crashes."""

import asyncio
import contextlib
import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from app.domain.bulk import exports, imports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.files import Wanted
from app.domain.bulk.import_rules import Existing, Import
from app.domain.bulk.selection import Selection
from app.domain.bulk.texts import UnreadableFile
from app.domain.contacts import custom_fields, service
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import queries as jobs
from app.domain.jobs import service as account_jobs
from app.domain.jobs import uploads
from app.domain.jobs.models import AccountJob, JobStatus
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONSENTS, CONTACTS, suppress
from tests.factories.jobs import JOB_KEYS, advance, read_file
from tests.factories.tables import Rows

UPLOADS = Rows("uploads")
EXCEL = "Vorname;Nachname;Telefon;E-Mail;Labels\r\nZoë;Müller;+44 7911 123456;zoe@example.com;vip, new\r\n"
DIFFICULT = 'first name,phone,note\n"Ann\nLee",+12025550143,"He said ""hi"", twice"\n'


@dataclass(frozen=True)
class Importing:
    """Imports files for an account, and advances the jobs."""

    services: Services
    unit_for: UnitFor
    account: Opened

    async def upload(self, content: bytes) -> int:
        async with self.unit_for(self.account) as unit:
            upload = await uploads.create(unit, "people.csv")
            for number in range(-(-len(content) // uploads.PART_BYTES)):
                part = content[number * uploads.PART_BYTES : (number + 1) * uploads.PART_BYTES]
                await uploads.add_part(unit, upload.id, number, part)
            return upload.id

    async def begin(self, content: bytes, **options: Any) -> int:
        wanted = Import(await self.upload(content), **options)
        async with self.unit_for(self.account) as unit:
            return (await imports.begin(unit, wanted)).id

    async def job(self, id: int) -> AccountJob:
        async with self.unit_for(self.account) as unit:
            return await jobs.get(unit, id)

    async def run(self, content: bytes, **options: Any) -> tuple[AccountJob, list[list[str]]]:
        """Import a file; return the job and the lines of its report without the ids."""
        id = await self.begin(content, **options)
        await advance(self.services)
        report = (await read_file(self.services, id)).decode()
        return await self.job(id), [line[:3] for line in csv.reader(io.StringIO(report))][1:]


@pytest.fixture
def importing(services: Services, unit_for: UnitFor, account: Opened) -> Importing:
    """Provide imports of the account."""
    return Importing(services, unit_for, account)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (EXCEL.encode("utf-8-sig"), "Read as CSV in UTF-8, separated by ';', with a header."),
        (EXCEL.encode(), "Read as CSV in UTF-8, separated by ';', with a header."),
        (EXCEL.encode("cp1252"), "Read as CSV in Windows-1252, separated by ';', with a header."),
        (EXCEL.encode("utf-16"), "Read as CSV in UTF-16, separated by ';', with a header."),
        (EXCEL.encode("utf-16-le"), "Read as CSV in UTF-16-LE, separated by ';', with a header."),
        (EXCEL.replace(";", "\t").encode(), "Read as CSV in UTF-8, separated by tabs, with a header."),
        (("sep=;\r\n" + EXCEL).encode(), "Read as CSV in UTF-8, separated by ';', with a header."),
        (("sep=\t\r\n" + EXCEL.replace(";", "\t")).encode(), "Read as CSV in UTF-8, separated by tabs, with a header."),
    ],
)
async def test_encodings_and_delimiters_are_detected_and_said(
    importing: Importing, services: Services, content: bytes, note: str
) -> None:
    job, report = await importing.run(content)

    assert (job.status, job.problems, [line[1] for line in report]) == (JobStatus.done, [note], ["created"])
    found = await CONTACTS.only(services, "phone", "first_name", "last_name", "email", "tags", "source")
    assert tuple(found) == ("+447911123456", "Zoë", "Müller", "zoe@example.com", ["vip", "new"], "import")


async def test_quotes_hold_newlines_and_quotes(importing: Importing, services: Services) -> None:
    await importing.run(DIFFICULT.encode())

    assert await CONTACTS.only(services, "first_name") == "Ann\nLee"


async def test_a_file_without_a_header_is_mapped_by_its_values_or_by_the_caller(
    importing: Importing, services: Services
) -> None:
    await importing.run(b"Ann,+12025550143,ann@example.com\nBob,+12025550144,bob@example.com\n")
    assert await CONTACTS.read(services, "email", "first_name") == [
        ("ann@example.com", ""),
        ("bob@example.com", ""),
    ]

    await importing.run(b"Eve,+12025550145\n", wanted=Wanted(columns={0: "first_name", 1: "phone"}, has_header=False))
    assert (await CONTACTS.read(services, "first_name"))[-1] == "Eve"


async def test_every_row_has_its_outcome_and_a_dry_run_reports_the_same(
    importing: Importing, services: Services, unit_for: UnitFor, account: Opened, recorded: Recorded
) -> None:
    await suppress(services, account.account_id, "+12025550146")
    async with unit_for(account) as unit:
        await custom_fields.create(unit, NewField("city"))
        await service.create(unit, {"phone": "+12025550143", "first_name": "Ann"})
        await service.create(unit, {"phone": "+12025550144", "first_name": "Bob"})
    content = (
        b"phone,first name,email,stage,city,status\n"
        b"+12025550143,Anna,,,Bonn,\n"
        b"(202) 555-0144,Bob,,,,active\n"
        b"+12025550145,Eve,eve@example.com,Qualified,Ulm,\n"
        b"+1 202 555 0145,Again,,,,\n"
        b"+12025550146,Stop,,,,\n"
        b"+12025550147,Left,,,,Unsubscribed\n"
        b"12,Short,,,,\n"
        b"1-800-FLOWERS,Vanity,,,,\n"
        b"4.47911E+11,Excel,,,,\n"
        b"+12025550148,Bad,nobody,,,\n"
        b"+12025550149,Stage,,gold,,\n"
        b",Nobody,,,,\n"
        b"+12025550150,Nul\0,,,,\n"
        b"+12025550151,Unclear,,,,perhaps\n"
        b"\n"
        b"+12025550152,a,b,c,d,e,f\n"
    )
    before = await CONTACTS.texts(services)

    dry, expected = await importing.run(content, dry_run=True)
    assert await CONTACTS.texts(services) == before
    events = len(await recorded())
    job, report = await importing.run(content)

    assert report == expected
    assert [line[:2] for line in report] == [
        [str(row), outcome]
        for row, outcome in zip(
            [*range(2, 16), 17],
            ["updated", "unchanged", "created", "duplicate_in_file", "suppressed", "suppressed", *["invalid"] * 9],
            strict=True,
        )
    ]
    assert report[3][2] == "The phone is that of row 4."
    assert job.counts == dry.counts == {
        "updated": 1, "unchanged": 1, "created": 1, "duplicate_in_file": 1, "suppressed": 2, "invalid": 9
    }  # fmt: skip
    assert (job.total, job.done, job.changed, job.failed) == (15, 15, 2, 9)
    assert len(await recorded()) > events
    states = {row["phone"]: (row["status"], row["first_name"]) for row in await CONTACTS.read(services)}
    assert states == {
        "+12025550143": ("active", "Anna"),
        "+12025550144": ("active", "Bob"),
        "+12025550145": ("active", "Eve"),
        "+12025550146": ("opted_out", "Stop"),
        "+12025550147": ("opted_out", "Left"),
    }
    eve = CONTACTS.where(phone="+12025550145")
    assert tuple(await eve.only(services, "pipeline_stage", "custom_fields")) == ("qualified", {"city": "Ulm"})
    names = [name for name, _ in await recorded()]
    assert (names.count("new_contact"), names.count("new_opt_out")) == (5, 1)


@pytest.mark.parametrize(
    ("existing", "outcome", "expected"),
    [
        (Existing.update, "updated", ("Anna", "new@example.com", ["old", "list"])),
        (Existing.keep, "updated", ("Ann", "new@example.com", ["old", "list"])),
        (Existing.skip, "unchanged", ("Ann", "", ["old"])),
    ],
)
async def test_existing_contacts_are_treated_as_asked(
    importing: Importing, services: Services, existing: Existing, outcome: str, expected: tuple[object, ...]
) -> None:
    async with importing.unit_for(importing.account) as unit:
        await service.create(unit, {"phone": "+12025550143", "first_name": "Ann", "tags": ["old"]})

    content = b"phone,first_name,email\n+12025550143,Anna,new@example.com\n"
    _, report = await importing.run(content, existing=existing, tags=["list"])

    assert report[0][1] == outcome
    assert tuple(await CONTACTS.only(services, "first_name", "email", "tags")) == expected


async def test_the_consent_of_a_list_is_recorded_for_each_phone_that_has_not_opted_out(
    importing: Importing, services: Services
) -> None:
    await suppress(services, importing.account.account_id, "+12025550144")

    await importing.run(b"phone\n+12025550143\n+12025550144\n", consent="I agree to texts.")

    found = await CONSENTS.read(services, "phone", "kind", "method", "text", "actor")
    assert list(map(tuple, found)) == [("+12025550143", "attested", "import", "I agree to texts.", "test")]


async def test_vcards_of_all_versions_are_read(importing: Importing, services: Services) -> None:
    content = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Zo=C3=AB\r\n"
        "TEL;HOME:+12025550100\r\nTEL;CELL:+12025550143\r\nEND:VCARD\r\n"
        "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ann Lee\r\nitem1.TEL;TYPE=cell:tel:+12025550144\r\n"
        "PHOTO;ENCODING=b:" + "A" * 5000 + "\r\n " + "B" * 5000 + "\r\nCATEGORIES:vip,new\r\nEND:VCARD\r\n"
        "BEGIN:VCARD\r\nFN:Nobody\r\nEND:VCARD\r\n"
    ).encode()

    _, report = await importing.run(content)

    assert [line[1] for line in report] == ["created", "created", "invalid"]
    assert list(map(tuple, await CONTACTS.read(services, "phone", "first_name", "last_name", "tags"))) == [
        ("+12025550143", "Zoë", "Müller", []),
        ("+12025550144", "Ann", "Lee", ["vip", "new"]),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"phone,name\n" + b"x" * 1_100_000,
        b"phone,name\n+12025550143," + b'"' + b"x\n" * 100_000,
        b'phone,name\n+12025550143,"never closed\n+12025550144,b\n',
        b"phone," + b"," * 1_000_000 + b"\n+12025550143",
        b"\n\n \n",
        b"name,email\nAnn,ann@example.com\n",
    ],
)
async def test_a_file_that_cannot_be_read_to_its_end_changes_nothing(
    importing: Importing, services: Services, content: bytes
) -> None:
    with contextlib.suppress(UnreadableFile, InvalidInput):
        job, _ = await importing.run(content)
        assert (job.status, job.failed) == (JobStatus.failed, 0)

    assert await CONTACTS.count(services) == 0


async def test_a_row_of_a_million_columns_is_one_invalid_row(importing: Importing, services: Services) -> None:
    content = b"phone,name\n+12025550143,Ann\n+12025550144" + b"," * 900_000 + b"\n+12025550145,Eve\n"

    _, report = await importing.run(content)

    assert [line[1] for line in report] == ["created", "invalid", "created"]


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0", b"%PDF"])
async def test_archives_and_workbooks_are_refused_at_once(importing: Importing, start: bytes) -> None:
    with pytest.raises(InvalidInput, match="Save it as CSV"):
        await importing.upload(start + b"rest")


async def test_an_upload_with_a_name_of_more_than_255_characters_is_refused(
    unit_for: UnitFor, account: Opened, services: Services
) -> None:
    async with unit_for(account) as unit:
        with pytest.raises(InvalidInput, match="at most 255 characters"):
            await uploads.create(unit, "x" * 256)

    assert await UPLOADS.count(services) == 0


async def test_parts_come_in_their_order_and_within_the_limits(unit_for: UnitFor, account: Opened) -> None:
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n")
        await uploads.add_part(unit, upload.id, 0, b"repeated")
        assert await uploads.read_head(unit, upload.id) == b"phone\n"
        for number, content in ((2, b"x"), (-1, b"x"), (1, b""), (1, b"x" * (uploads.PART_BYTES + 1))):
            with pytest.raises(InvalidInput):
                await uploads.add_part(unit, upload.id, number, content)


async def test_workers_that_die_at_any_point_import_each_row_once(
    importing: Importing, services: Services, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 50)
    phones = [f"+1202555{number:04}" for number in range(430)]
    id = await importing.begin("\n".join(["phone", *phones, *phones[:5]]).encode())

    for after in range(12):
        dying = asyncio.ensure_future(advance(services, 2))
        await asyncio.sleep(after * 0.02)
        dying.cancel()
        await asyncio.wait({dying}, timeout=10)
    await asyncio.gather(*(advance(services) for _ in range(2)))
    await advance(services)

    job = await importing.job(id)
    assert (job.status, job.counts) == (JobStatus.done, {"created": 430, "duplicate_in_file": 5})
    assert sorted(await CONTACTS.read(services, "phone")) == phones
    assert [name for name, _ in await recorded()].count("new_contact") == 430
    lines = (await read_file(services, id)).decode().splitlines()
    assert [line.split(",")[0] for line in lines] == ["row", *map(str, range(2, 437))]
    assert await UPLOADS.count(services) == 0


async def test_two_imports_of_the_same_phones_at_once_add_each_once(
    importing: Importing, services: Services, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 50)
    phones = [f"+1202555{number:04}" for number in range(200)]
    ids = [await importing.begin("\n".join(["phone", *each]).encode()) for each in (phones, phones[::-1])]

    await asyncio.gather(*(advance(services) for _ in range(2)))
    await advance(services)

    counts = [(await importing.job(id)).counts for id in ids]
    assert sum(each.get("created", 0) for each in counts) == 200
    assert sum(each.get("unchanged", 0) for each in counts) == 200
    assert [name for name, _ in await recorded()].count("new_contact") == 200


async def test_a_canceled_import_stops_between_chunks(
    importing: Importing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 10)
    phones = [f"+1202555{number:04}" for number in range(50)]
    id = await importing.begin("\n".join(["phone", *phones]).encode())
    await advance(services, 3)

    async with importing.unit_for(importing.account) as unit:
        await account_jobs.cancel(unit, id)
    await advance(services)

    job = await importing.job(id)
    assert (job.status, job.total, job.done, await CONTACTS.count(services)) == (JobStatus.canceled, 50, 20, 20)
    assert await JOB_KEYS.count(services) == 20


async def test_files_of_another_account_are_not_there(
    importing: Importing, unit_for: UnitFor, new_account: Callable[..., Any]
) -> None:
    upload_id = await importing.upload(b"phone\n+12025550143\n")
    other = await new_account()

    async with unit_for(other) as unit:
        for attempt in (
            lambda: imports.preview(unit, upload_id, Wanted()),
            lambda: imports.begin(unit, Import(upload_id)),
            lambda: uploads.add_part(unit, upload_id, 1, b"x"),
            lambda: uploads.delete(unit, upload_id),
        ):
            with pytest.raises(NotFound):
                await attempt()


async def test_an_exported_file_has_no_formulas_and_can_be_imported(
    importing: Importing, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        await custom_fields.create(unit, NewField("city"))
        fields: Any = {"first_name": '=cmd|" /C calc"!A0', "last_name": "@Müller", "tags": ["-1", "a"]}
        await service.create(unit, {"phone": "+12025550143", "custom_fields": {"city": "+Ulm"}, **fields})
        job = await exports.begin(unit, Selection(filter=ContactFilter()), ExportFormat.csv)
    await advance(services)

    content = await read_file(services, job.id)
    [header, cells] = csv.reader(io.StringIO(content.decode()))
    assert [cell for cell in cells if cell.startswith(("=", "@", "-"))] == []
    assert dict(zip(header, cells, strict=True))["phone"] == "+12025550143"
    before = await CONTACTS.only(services, "first_name", "last_name", "tags", "custom_fields")
    job, report = await importing.run(content)
    assert report[0][1] == "unchanged"
    assert await CONTACTS.only(services, "first_name", "last_name", "tags", "custom_fields") == before


@pytest.mark.parametrize(("format", "begins"), [("json", b'{"id":'), ("vcard", b"BEGIN:VCARD\r\nVERSION:4.0\r\n")])
async def test_contacts_are_exported_in_other_formats(
    importing: Importing, services: Services, unit_for: UnitFor, account: Opened, format: str, begins: bytes
) -> None:
    async with unit_for(account) as unit:
        await service.create(unit, {"phone": "+12025550143", "first_name": "A;nn", "tags": ["vip"]})
        await service.create(unit, {"phone": "+12025550144"})
        job = await exports.begin(unit, Selection(filter=ContactFilter(tag="vip")), ExportFormat(format))
    await advance(services)

    content = await read_file(services, job.id)
    assert content.startswith(begins)
    assert b"+12025550144" not in content
    assert (await importing.job(job.id)).done == 1
