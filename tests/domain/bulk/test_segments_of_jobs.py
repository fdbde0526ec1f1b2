"""Jobs on the contacts of a segment: its filter at the time of the request, every contact once."""

import csv
import io

import pytest

from app.domain.bulk import changes, deletions, exports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.selection import Selection, freeze
from app.domain.contacts import service
from app.domain.jobs import queries as jobs
from app.domain.jobs.models import AccountJob
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.segments import members
from app.domain.segments import service as segments
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS, add_contacts
from tests.factories.jobs import advance, read_file
from tests.factories.segments import SEGMENTS

EVEN = ["+1202555" + f"{number:04}" for number in range(0, 60, 2)]
ODD = ["+1202555" + f"{number:04}" for number in range(1, 60, 2)]
UNTAGGED = {"field": "tags", "op": "has_none", "value": ["vip"]}
OF_WEB = {"field": "first_name", "op": "eq", "value": ["web"]}


@pytest.fixture
async def people(services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add contacts of two kinds, and read few at a time."""
    monkeypatch.setattr(members, "READ", 7)
    await add_contacts(services, account.account_id, EVEN + ODD)
    for phone in EVEN:
        await CONTACTS.where(phone=phone).change(services, first_name="Web")


async def select(unit: UnitOfWork, *filters: dict[str, object]) -> Selection:
    segment = await segments.create(unit, "Some", {"all": list(filters)})
    return Selection(segment=await freeze(unit, segment.id))


async def tagged(services: Services) -> list[str]:
    return sorted(await CONTACTS.where(tags=["vip"]).read(services, "phone"))


async def job_of(unit_for: UnitFor, account: Opened, id: int) -> AccountJob:
    async with unit_for(account) as unit:
        return await jobs.get(unit, id)


@pytest.mark.usefixtures("people")
async def test_a_job_changes_every_contact_of_a_segment_even_those_that_leave_it_by_the_change(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    async with unit_for(account) as unit:
        job = await changes.tag(unit, await select(unit, UNTAGGED, OF_WEB), ["vip"], [])
    await advance(services)

    done = await job_of(unit_for, account, job.id)
    assert (done.status, done.total, done.done, done.changed, done.failed) == ("done", 30, 30, 30, 0)
    assert await tagged(services) == EVEN


@pytest.mark.usefixtures("people")
async def test_a_job_goes_on_after_a_segment_was_changed_and_deleted_and_skips_later_contacts(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    async with unit_for(account) as unit:
        job = await changes.tag(unit, await select(unit, OF_WEB), ["vip"], [])
    await advance(services, 1)
    await SEGMENTS.delete(services)
    async with unit_for(account) as unit:
        await service.create(unit, {"phone": "+12029999999", "first_name": "Web"})
    await advance(services)

    assert (await job_of(unit_for, account, job.id)).status == "done"
    assert await tagged(services) == EVEN


@pytest.mark.usefixtures("people")
async def test_a_job_deletes_the_contacts_of_a_segment_few_at_a_time(
    unit_for: UnitFor, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "CHUNK", 2)
    async with unit_for(account) as unit:
        job = await deletions.delete(unit, await select(unit, OF_WEB))
    await advance(services)

    assert (await job_of(unit_for, account, job.id)).changed == 30
    assert sorted(await CONTACTS.read(services, "phone")) == ODD


@pytest.mark.parametrize("name", ["web", "nowhere"])
@pytest.mark.usefixtures("people")
async def test_an_export_has_the_contacts_of_a_segment_under_one_header(
    unit_for: UnitFor, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(exports, "PAGES", 1)
    async with unit_for(account) as unit:
        which = await select(unit, {"field": "first_name", "op": "eq", "value": [name]})
        job = await exports.begin(unit, which, ExportFormat.csv)
    await advance(services)

    header, *rows = csv.reader(io.StringIO((await read_file(services, job.id)).decode()))
    assert header[1] == "phone"
    assert [row[1] for row in rows] == (EVEN if name == "web" else [])


@pytest.mark.usefixtures("people")
async def test_parts_of_an_export_before_the_first_contact_repeat_no_header(
    unit_for: UnitFor, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGES", 1)
    async with unit_for(account) as unit:
        which = await select(unit, {"field": "phone", "op": "starts_with", "value": ["+120255500"]}, OF_WEB)
        last = await select(unit, {"field": "phone", "op": "in", "value": [EVEN[-1], EVEN[-2]]})
        jobs_of_both = [await exports.begin(unit, each, ExportFormat.csv) for each in (which, last)]
    await advance(services)

    contents = [(await read_file(services, job.id)).decode().splitlines() for job in jobs_of_both]
    assert [len(lines) for lines in contents] == [31, 3]
    assert [lines[0][:8] for lines in contents] == ["id,phone", "id,phone"]


async def test_a_segment_that_is_not_there_selects_nothing(unit: UnitOfWork) -> None:
    with pytest.raises(NotFound, match="No segment with id 4"):
        await freeze(unit, 4)
