"""Downloads of the files of jobs that are broken off: the link has ended, or the download takes too long."""

import os
from base64 import b64encode
from collections.abc import AsyncGenerator

import pytest

from app.domain.accounts import file_links
from app.domain.accounts.scopes import ALL
from app.domain.jobs import downloads, parts
from app.domain.jobs import service as jobs
from app.domain.jobs.models import JobKind, JobStatus
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.graphql.live import Served, serving
from tests.rest.broken_off import END_OF_ANSWER, ENDINGS, add_creator, begin, end_creator, rest

pytestmark = pytest.mark.anyio

PARTS, PART_BYTES = 40, 400_000


@pytest.fixture
async def served(services: Services) -> AsyncGenerator[Served]:
    async with serving(services.settings) as served:
        yield served


@pytest.fixture
async def job_id(services: Services, account: Opened) -> int:
    """Give a job whose file does not fit into the buffers of a connection."""
    async with unit_of(services, Actor(account.account_id, ALL, "test")) as unit:
        job = await jobs.create(unit, JobKind.import_contacts, {})
        for number in range(PARTS):
            await parts.add(unit, job, number, b64encode(os.urandom(PART_BYTES * 3 // 4)))
        await jobs.finish(unit, job, JobStatus.done)
        return job.id


async def make_link(services: Services, account: Opened, job_id: int, **who: int) -> str:
    async with unit_of(services, Actor(account.account_id, ALL, "test", **who)) as unit:
        return f"/jobs/{(await downloads.make_link(unit, services.exports, job_id)).token}"


async def test_a_file_that_is_read_to_the_end_ends_as_an_answer_does(
    services: Services, account: Opened, job_id: int, served: Served
):
    whole = await rest(*await begin(served, await make_link(services, account, job_id)))

    assert whole.endswith(END_OF_ANSWER)
    assert len(whole) > PARTS * PART_BYTES


@pytest.mark.parametrize("ending", ENDINGS)
async def test_a_file_is_broken_off_when_its_link_ends(
    services: Services, account: Opened, job_id: int, served: Served, monkeypatch: pytest.MonkeyPatch, ending: str
):
    monkeypatch.setattr(file_links, "CHECK_SECONDS", 0)
    creator = await add_creator(services, account.account_id, ending, ["contacts:read"], "member")
    download = await begin(served, await make_link(services, account, job_id, **creator))

    await end_creator(services, account.account_id, ending, creator)

    sent = await rest(*download)
    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < PARTS * PART_BYTES


async def test_a_file_that_takes_too_long_is_broken_off(
    services: Services, account: Opened, job_id: int, served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file_links, "MAX_SECONDS", 0)

    sent = await rest(*await begin(served, await make_link(services, account, job_id)))

    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < PARTS * PART_BYTES
