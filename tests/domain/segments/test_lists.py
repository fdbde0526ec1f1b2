"""Lists of contacts by filters of segments, and by their last message."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.domain.contacts import service as contacts
from app.domain.contacts.models import PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.segments import lists, service
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS

EVERYONE = ContactFilter()
VIP = {"field": "tags", "op": "has_any", "value": ["vip"]}
PEOPLE: dict[str, Any] = {
    "Ann": {"phone": "+12025550101", "tags": ["vip", "old"], "pipeline_stage": PipelineStage.won},
    "Bob": {"phone": "+12125550102", "tags": ["vip"], "email": "bob@example.com"},
    "Cid": {"phone": "+12025550103", "tags": ["new"], "email": "cid@example.com"},
}


@pytest.fixture
async def people(unit: UnitOfWork) -> dict[str, int]:
    """Add three contacts; return their ids."""
    added = {name: await contacts.create(unit, {"first_name": name, **fields}) for name, fields in PEOPLE.items()}
    return {name: contact.id for name, contact in added.items()}


async def found(
    unit: UnitOfWork,
    wanted: ContactFilter = EVERYONE,
    sort: ContactSort = ContactSort.name_asc,
    window: Window | None = None,
    **others: Any,
) -> list[str]:
    page = await lists.find_page(unit, wanted, sort, window or Window(), **others)
    return [contact.first_name for contact in page.nodes]


@pytest.mark.parametrize(
    ("filter", "names"),
    [
        (VIP, ["Ann", "Bob"]),
        ({"none": [VIP]}, ["Cid"]),
        ({"all": [VIP, {"field": "email", "op": "is_set"}]}, ["Bob"]),
        ({"field": "state", "op": "eq", "value": ["DC"]}, ["Ann", "Cid"]),
        ({"field": "created_at", "op": "within_last", "value": ["1 hour"]}, ["Ann", "Bob", "Cid"]),
        ({"field": "message_count", "op": "gt", "value": ["0"]}, []),
        ({"field": "score", "op": "between", "value": ["16", "20.5"]}, ["Bob", "Cid"]),
        ({"field": "opted_out_at", "op": "is_empty"}, ["Ann", "Bob", "Cid"]),
    ],
)
async def test_a_list_has_the_contacts_of_a_filter(
    unit: UnitOfWork, people: dict[str, int], filter: Any, names: list[str]
) -> None:
    node = await service.check(unit, filter)

    assert await found(unit, filter=node) == names
    page = await lists.find_page(unit, EVERYONE, ContactSort.date_added, Window(1), filter=node)
    assert await page.total() == Total(len(names))


async def test_a_list_has_the_contacts_that_satisfy_a_segment_a_filter_and_the_rest(
    unit: UnitOfWork, people: dict[str, int]
) -> None:
    segment = await service.create(unit, "VIP", VIP)
    by_email = await service.check(unit, {"field": "email", "op": "is_set"})

    assert await found(unit, segment_id=segment.id) == ["Ann", "Bob"]
    assert await found(unit, segment_id=segment.id, filter=by_email) == ["Bob"]
    assert await found(unit, ContactFilter(stage=PipelineStage.won), segment_id=segment.id) == ["Ann"]
    assert await found(unit, ContactFilter(tag="old", search="Ann"), segment_id=segment.id) == ["Ann"]


async def test_a_segment_of_another_account_finds_no_contact(
    unit: UnitOfWork, people: dict[str, int], new_account: Any, unit_for: UnitFor
) -> None:
    segment = await service.create(unit, "VIP", VIP)
    await unit.session.commit()

    async with unit_for(await new_account()) as other:
        await contacts.create(other, {"phone": "+12025550101", "tags": ["vip"]})
        with pytest.raises(NotFound, match=f"No segment with id {segment.id}"):
            await found(other, segment_id=segment.id)
        assert len(await found(other, filter=await service.check(other, VIP))) == 1


async def test_a_list_has_the_contacts_with_one_of_several_tags(unit: UnitOfWork, people: dict[str, int]) -> None:
    for sort in (ContactSort.name_asc, ContactSort.date_added):
        assert sorted(await found(unit, ContactFilter(tags=["old", "new"]), sort)) == ["Ann", "Cid"]
    assert await found(unit, ContactFilter(tags=["vip"])) == ["Ann", "Bob"]
    assert await found(unit, ContactFilter(tag="vip", tags=["old", "new"])) == ["Ann"]
    with pytest.raises(InvalidInput, match=r"^tags must be at most 100.$"):
        ContactFilter(tags=["x"] * 101)


async def test_a_list_has_the_contacts_that_changed_since_a_time_the_latest_first(
    unit: UnitOfWork, people: dict[str, int], services: Services
) -> None:
    await unit.session.commit()
    noon = datetime.fromisoformat("2026-11-21T12:00:00Z")
    for minutes, id in enumerate(people.values()):
        await CONTACTS.where(id=id).change(services, updated_at=noon + timedelta(minutes=minutes))

    since = ContactFilter(updated_since=noon + timedelta(minutes=1))
    assert await found(unit, since, ContactSort.date_updated) == ["Cid", "Bob"]


async def test_contacts_are_listed_by_their_last_message_in_pages(
    unit: UnitOfWork, account: Opened, people: dict[str, int], services: Services
) -> None:
    await unit.session.commit()
    noon = datetime.fromisoformat("2026-11-21T12:00:00Z")
    for minutes, name in enumerate(["Bob", "Ann"]):
        at = noon + timedelta(minutes=minutes)
        await CONVERSATIONS.insert(services, account_id=account.account_id, contact_id=people[name], last_message_at=at)

    by = ContactSort.last_message
    first = await lists.find_page(unit, EVERYONE, by, Window(1))
    second = await lists.find_page(unit, EVERYONE, by, Window(1, first.end_cursor))
    back = await lists.find_page(unit, EVERYONE, by, Window(last=1, before=second.end_cursor))

    assert [each.nodes[0].first_name for each in (first, second, back)] == ["Ann", "Bob", "Ann"]
    assert (await first.total(), await second.has_next_page()) == (Total(2), False)
    assert await found(unit, sort=by, filter=await service.check(unit, {"none": [VIP]})) == []
    assert await found(unit, ContactFilter(stage=PipelineStage.won), by) == ["Ann"]
