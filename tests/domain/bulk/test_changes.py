"""Changes of many contacts: by ids at once, by a filter as a job."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.bulk import changes, deletions
from app.domain.bulk.selection import Selection, read
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import loading, queries, service
from app.domain.contacts.models import Contact, PipelineStage
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import queries as jobs
from app.domain.jobs import service as account_jobs
from app.domain.jobs.models import AccountJob, JobKind, JobStatus
from app.domain.jobs.service import Progress
from app.domain.jobs.worker import MAX_ATTEMPTS, JobWorker
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import erasure as messages
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONTACTS, add_contacts, audit_tags, suppress
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.factories.traps import until_blocked
from tests.waiting import within

EVERYONE = Selection(filter=ContactFilter())
MANY = [f"+1202555{number:04}" for number in range(450)]


def facts(job: AccountJob) -> tuple[object, ...]:
    return job.status, job.total, job.done, job.changed, job.failed


async def test_contacts_named_by_ids_are_tagged_at_once_and_each_change_is_an_event(
    unit_for: UnitFor, account: Opened, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        first = await service.create(unit, {"phone": "+12025550143", "tags": ["old", "vip"]})
        second = await service.create(unit, {"phone": "+12025550144"})

    async with unit_for(account) as unit:
        job = await changes.tag(unit, Selection([second.id, first.id, 10**9, first.id]), ["vip"], ["old"])

    assert facts(job) == (JobStatus.done, 3, 3, 2, 1)
    assert job.problems == ["No contact with id 1000000000."]
    async with unit_for(account) as unit:
        found = await queries.find_many(unit, [first.id, second.id])
    assert [contact.tags for contact in found.values()] == [["vip"], ["vip"]]
    told = [(name, payload["contact_id"], payload["tag"]) for name, payload in await recorded() if "tag" in payload]
    assert told == [("contact_tag_removed", first.id, "old"), ("contact_tag_added", second.id, "vip")]


def test_the_arguments_of_a_job_hold_new_fields_of_a_filter_only_where_they_are_given() -> None:
    known = {"search": None, "stage": None, "status": None, "tag": "vip", "assignee_id": None, "custom": {}}

    assert Selection(filter=ContactFilter(tag="vip")).as_arguments() == {"filter": known}
    narrow = Selection(filter=ContactFilter(tag="vip", tags=["new"]))
    assert narrow.as_arguments() == {"filter": {**known, "tags": ["new"]}}
    assert [read(each.as_arguments()) for each in (EVERYONE, narrow)] == [EVERYONE, narrow]


async def test_a_job_changes_each_contact_of_a_filter_once_and_counts_its_progress(
    unit_for: UnitFor, services: Services, account: Opened, recorded: Recorded
) -> None:
    await add_contacts(services, account.account_id, MANY)
    async with unit_for(account) as unit:
        job = await changes.tag(unit, EVERYONE, ["vip"], [])
        assert facts(job) == (JobStatus.waiting, None, 0, 0, 0)

    await advance(services, 1)
    async with unit_for(account) as unit:
        assert facts(await jobs.get(unit, job.id)) == (JobStatus.running, 450, 200, 200, 0)
    await advance(services)

    async with unit_for(account) as unit:
        assert facts(await jobs.get(unit, job.id)) == (JobStatus.done, 450, 450, 450, 0)
    assert set(map(tuple, await CONTACTS.read(services, "tags"))) == {("vip",)}
    names = [name for name, _ in await recorded()]
    assert names.count("contact_tag_added") == 450
    await audit_tags(services)


async def test_a_job_reaches_every_contact_of_a_filter_on_the_field_it_changes(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    await add_contacts(services, account.account_id, MANY)
    async with unit_for(account) as unit:
        await changes.move(unit, Selection(filter=ContactFilter(stage=PipelineStage.new_lead)), PipelineStage.won)

    await advance(services)

    assert set(await CONTACTS.read(services, "pipeline_stage")) == {"won"}


async def test_a_job_changes_contacts_of_its_own_account_only(
    unit_for: UnitFor, services: Services, new_account: Callable[..., Any]
) -> None:
    account, other = await new_account(), await new_account()
    await add_contacts(services, other.account_id, MANY[:3])
    strangers = await CONTACTS.read(services, "id")

    async with unit_for(account) as unit:
        await changes.tag(unit, EVERYONE, ["vip"], [])
        job = await changes.tag(unit, Selection(strangers), ["vip"], [])
        await deletions.delete(unit, Selection(strangers))
    await advance(services)

    assert facts(job)[2:] == (3, 0, 3)
    assert await CONTACTS.where(account_id=other.account_id).read(services, "tags") == [[], [], []]
    async with unit_for(other) as unit:
        with pytest.raises(NotFound):
            await jobs.get(unit, job.id)
        with pytest.raises(NotFound):
            await account_jobs.cancel(unit, job.id)


async def test_a_canceled_job_stops_and_keeps_the_changes_it_made(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    await add_contacts(services, account.account_id, MANY)
    async with unit_for(account) as unit:
        job = await changes.tag(unit, EVERYONE, ["vip"], [])
    await advance(services, 1)

    async with unit_for(account) as unit:
        await account_jobs.cancel(unit, job.id)
    await advance(services)

    async with unit_for(account) as unit:
        assert facts(await jobs.get(unit, job.id)) == (JobStatus.canceled, 450, 200, 200, 0)
    assert (await CONTACTS.read(services, "tags")).count(["vip"]) == 200


async def test_workers_that_die_at_any_point_repeat_and_lose_no_change(
    unit_for: UnitFor, services: Services, account: Opened, recorded: Recorded
) -> None:
    await add_contacts(services, account.account_id, MANY)
    async with unit_for(account) as unit:
        job = await changes.tag(unit, EVERYONE, ["vip"], [])

    for after in range(12):
        dying = asyncio.ensure_future(advance(services, 1))
        await asyncio.sleep(after * 0.01)
        dying.cancel()
        await asyncio.wait({dying}, timeout=10)
    await asyncio.gather(*(advance(services) for _ in range(3)))
    await advance(services)

    async with unit_for(account) as unit:
        assert facts(await jobs.get(unit, job.id)) == (JobStatus.done, 450, 450, 450, 0)
    assert [name for name, _ in await recorded()].count("contact_tag_added") == 450


async def test_accounts_take_turns_however_long_the_job_of_another_is(
    unit_for: UnitFor, services: Services, new_account: Callable[..., Any]
) -> None:
    busy, other = await new_account(), await new_account()
    await add_contacts(services, busy.account_id, MANY)
    await add_contacts(services, other.account_id, MANY[:1])
    async with unit_for(busy) as unit:
        for tag in ("a", "b", "c"):
            await changes.tag(unit, EVERYONE, [tag], [])
    async with unit_for(other) as unit:
        small = await changes.tag(unit, EVERYONE, ["vip"], [])

    await advance(services, 2)

    async with unit_for(other) as unit:
        assert (await jobs.get(unit, small.id)).status == JobStatus.done


async def test_contacts_are_deleted_with_a_suppression_that_stays(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    await add_contacts(services, account.account_id, MANY[:45])
    await suppress(services, account.account_id, MANY[0])
    async with unit_for(account) as unit:
        job = await deletions.delete(unit, EVERYONE)

    await advance(services)

    async with unit_for(account) as unit:
        assert facts(await jobs.get(unit, job.id)) == (JobStatus.done, 45, 45, 45, 0)
        again = await service.create(unit, {"phone": MANY[0]})
    assert (await CONTACTS.count(services), again.status) == (1, "opted_out")


async def test_a_step_with_a_defect_is_tried_again_later_and_then_ends_the_job(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    async def break_down(unit: UnitOfWork, job: AccountJob) -> Progress:
        raise ZeroDivisionError

    async with unit_for(account) as unit:
        job = await account_jobs.create(unit, JobKind.tag_contacts, {})
    worker = JobWorker(services.database, services.clock, services.notify, {JobKind.tag_contacts: break_down})

    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(ZeroDivisionError):
            await worker.run()
        assert not await worker.due()
        await ACCOUNT_JOBS.change(services, retry_at=None)

    async with unit_for(account) as unit:
        failed = await jobs.get(unit, job.id)
    assert (failed.status, failed.problems) == (JobStatus.failed, ["An unexpected error of the service. Try again."])


@pytest.mark.parametrize(
    "refused",
    [
        lambda unit: changes.tag(unit, EVERYONE, [], []),
        lambda unit: changes.tag(unit, EVERYONE, ["a"], ["a"]),
        lambda unit: changes.tag(unit, EVERYONE, ["x" * 65], []),
        lambda _: Selection(),
        lambda _: Selection([1], ContactFilter()),
        lambda _: Selection([]),
        lambda _: Selection([1] * 501),
    ],
)
async def test_contradictory_requests_are_refused(unit: UnitOfWork, refused: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInput):
        await refused(unit)


async def test_an_account_has_a_limited_number_of_jobs(unit: UnitOfWork, services: Services) -> None:
    for _ in range(account_jobs.MAX_UNFINISHED):
        await changes.tag(unit, EVERYONE, ["vip"], [])

    with pytest.raises(Conflict):
        await changes.tag(unit, EVERYONE, ["vip"], [])


async def test_contacts_are_assigned_to_no_user_of_another_account(
    unit_for: UnitFor, new_account: Callable[..., Any]
) -> None:
    account = await new_account()
    async with unit_for(account) as unit:
        contact = await service.create(unit, {"phone": MANY[0]})
        with pytest.raises(NotFound):
            await changes.assign(unit, Selection([contact.id]), 10**9)
        assert contact.assignee_id is None


async def test_a_deletion_by_a_filter_waits_for_a_change_of_the_same_contacts(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    """Changes lock contacts in the order of their ids, a filter finds the newest first."""
    async with unit_for(account) as unit:
        older, newer = [(await service.create(unit, {"phone": phone})).id for phone in MANY[:2]]
        job = await deletions.delete(unit, EVERYONE)

    async with unit_for(account) as unit:
        await loading.lock_many(unit, Contact.id == older)
        deleting = asyncio.create_task(advance(services))
        await until_blocked(services.database.pool)
        await loading.lock_many(unit, Contact.id == newer)
    await within("the deletion", deleting)

    async with unit_for(account) as unit:
        ended = await jobs.get(unit, job.id)
    assert (facts(ended), ended.attempts) == ((JobStatus.done, 2, 2, 2, 0), 0)
    assert await CONTACTS.count(services) == 0


async def test_a_deletion_waits_for_a_change_of_texts_of_the_same_contacts(
    unit_for: UnitFor, services: Services, account: Opened
) -> None:
    """A hand-off locks texts of several contacts in the order of their ids."""
    async with unit_for(account) as unit:
        older, newer = [(await service.create(unit, {"phone": phone})).id for phone in MANY[:2]]
        await deletions.delete(unit, Selection([older, newer]))
    for phone in (MANY[1], MANY[0]):
        text = InboundMessage(f"in-{phone}", phone, account.phone_number, "Hello")
        await services.inbox.receive("sandbox", text)

    async with unit_for(account) as unit:
        await messages.lock_all(unit, newer)
        deleting = asyncio.create_task(advance(services))
        await until_blocked(services.database.pool)
        await messages.lock_all(unit, older)
    await within("the deletion", deleting)

    assert await CONTACTS.count(services) == 0
