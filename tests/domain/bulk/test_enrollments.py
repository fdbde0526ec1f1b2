"""Enrollment of many contacts in a drip sequence, as a job."""

from typing import Any

import pytest

from app.domain.bulk import enrollments
from app.domain.bulk.selection import Selection
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import queries as jobs
from app.domain.jobs.models import JobStatus
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments as drips
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import SequenceStatus
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONSENTS, CONTACTS, add_contacts
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.factories.sequences import SEQUENCE_ENROLLMENTS

PHONES = [f"+1202555{number:04}" for number in range(45)]


@pytest.fixture
async def sequence_id(unit_for: UnitFor, services: Services, account: Opened) -> int:
    """Add 45 contacts and a sequence; return its id."""
    await add_contacts(services, account.account_id, PHONES)
    async with unit_for(account) as unit:
        return (await sequences.create(unit, "Welcome", [NewStep(delay_minutes=60, body="Hi")])).id


async def begin(unit_for: UnitFor, account: Opened, which: Selection, sequence_id: int) -> int:
    """Begin a job, and return its id."""
    async with unit_for(account) as unit:
        return (await enrollments.enroll(unit, which, sequence_id)).id


async def facts(unit_for: UnitFor, account: Opened, id: int) -> tuple[Any, ...]:
    """Return the state and the counts of a job."""
    async with unit_for(account) as unit:
        job = await jobs.get(unit, id)
        return job.status, job.total, job.done, job.changed, job.failed


async def test_all_contacts_of_a_filter_are_enrolled_once_with_evidence_and_refusals_are_problems(
    unit_for: UnitFor, services: Services, account: Opened, sequence_id: int
):
    await CONTACTS.where(phone=PHONES[7]).change(services, status="opted_out")
    known = await CONTACTS.where(phone=PHONES[9]).only(services, "id")
    async with unit_for(account) as unit:
        await drips.enroll(unit, sequence_id, known)

    id = await begin(unit_for, account, Selection(filter=ContactFilter()), sequence_id)
    await advance(services)

    assert await facts(unit_for, account, id) == (JobStatus.done, 45, 45, 43, 1)
    assert await SEQUENCE_ENROLLMENTS.where(status="active").count(services) == 44
    assert await CONSENTS.where(kind="attested").count(services) == 44
    assert "opted out" in (await ACCOUNT_JOBS.only(services, "problems"))[0]


async def test_contacts_named_by_their_ids_are_enrolled_in_the_background(
    unit_for: UnitFor, services: Services, account: Opened, sequence_id: int
):
    ids = await CONTACTS.read(services, "id")
    id = await begin(unit_for, account, Selection([*ids, 10**9]), sequence_id)
    assert await SEQUENCE_ENROLLMENTS.count(services) == 0
    await advance(services)

    assert await facts(unit_for, account, id) == (JobStatus.done, 46, 46, 45, 1)
    assert await SEQUENCE_ENROLLMENTS.count(services) == 45


async def test_an_archived_or_unknown_sequence_is_refused_at_once(
    unit_for: UnitFor, services: Services, account: Opened, sequence_id: int
):
    with pytest.raises(NotFound):
        await begin(unit_for, account, Selection(filter=ContactFilter()), sequence_id + 1)
    async with unit_for(account) as unit:
        await sequences.update_status(unit, sequence_id, SequenceStatus.archived)
    with pytest.raises(Conflict, match="archived"):
        await begin(unit_for, account, Selection(filter=ContactFilter()), sequence_id)
    assert await ACCOUNT_JOBS.count(services) == 0
