"""A tag is renamed, and merged into another one, for all its contacts."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.bulk import tag_renames
from app.domain.contacts import queries, service
from app.domain.jobs import queries as jobs
from app.domain.jobs.models import JobStatus
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import Total
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONTACTS, add_contacts, audit_tags
from tests.factories.jobs import advance

MANY = [f"+1202555{number:04}" for number in range(250)]


async def test_a_tag_is_renamed_in_its_place_and_merged_into_one_that_exists(
    unit_for: UnitFor, services: Services, account: Opened, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        for number, tags in enumerate([["a", "old", "z"], ["old", "new"], ["new", "old"], ["z"]]):
            await service.create(unit, {"phone": MANY[number], "tags": tags})
        job = await tag_renames.rename(unit, " old ", " new ")

    await advance(services)

    assert await CONTACTS.read(services, "tags") == [["a", "new", "z"], ["new"], ["new"], ["z"]]
    await audit_tags(services)
    told = [(name, payload["tag"]) for name, payload in await recorded() if "tag" in payload]
    assert (told.count(("contact_tag_removed", "old")), told.count(("contact_tag_added", "new"))) == (3, 1)
    async with unit_for(account) as unit:
        ended = await jobs.get(unit, job.id)
        assert (ended.status, ended.total, ended.done, ended.changed) == (JobStatus.done, 3, 3, 3)
        assert await queries.list_tags(unit, 10) == ["a", "new", "z"]
        assert await queries.count_tags(unit, ["new", "z", "old"]) == {"new": Total(3), "z": Total(2), "old": Total(0)}


async def test_a_tag_of_many_contacts_is_renamed_in_pages_of_the_own_account(
    unit_for: UnitFor, services: Services, new_account: Callable[..., Any]
) -> None:
    account, other = await new_account(), await new_account()
    for each in (account, other):
        await add_contacts(services, each.account_id, MANY)
        await CONTACTS.where(account_id=each.account_id).change(services, tags=["old"])

    async with unit_for(account) as unit:
        job = await tag_renames.rename(unit, "old", "new")
    await advance(services)

    assert await CONTACTS.where(account_id=account.account_id).read(services, "tags") == [["new"]] * 250
    assert await CONTACTS.where(account_id=other.account_id).read(services, "tags") == [["old"]] * 250
    async with unit_for(account) as unit:
        ended = await jobs.get(unit, job.id)
    assert (ended.status, ended.done, ended.changed) == (JobStatus.done, 250, 250)


async def test_a_tag_without_contacts_and_the_same_name_are_refused(unit: UnitOfWork) -> None:
    await service.create(unit, {"phone": MANY[0], "tags": ["old"]})

    with pytest.raises(NotFound, match=r"^No tag with name older.$"):
        await tag_renames.rename(unit, "older", "new")
    with pytest.raises(NotFound, match=r"^No tag with name  .$"):
        await tag_renames.rename(unit, " ", "new")
    for name in (" ", "old", " old "):
        with pytest.raises(InvalidInput, match=r"^name must be another tag.$"):
            await tag_renames.rename(unit, "old", name)
