"""The table of tags, which triggers keep equal to the tags of the contacts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.contacts import queries, service
from app.domain.contacts.models import PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.erasure import service as erasure
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACT_TAGS, CONTACTS, audit_tags

PHONES = ("+12025550101", "+12025550102", "+12025550103")
TAGS = ("vip", "new", "zoë")

tags = st.lists(st.sampled_from(TAGS), max_size=4)
changes = st.one_of(
    st.tuples(st.just("upsert"), st.sampled_from(PHONES), tags),
    st.tuples(st.just("add"), st.sampled_from(PHONES), st.sampled_from(TAGS)),
    st.tuples(st.just("remove"), st.sampled_from(PHONES), st.sampled_from(TAGS)),
    st.tuples(st.just("erase"), st.sampled_from(PHONES), st.none()),
)


async def change(unit: UnitOfWork, kind: str, phone: str, value: Any) -> None:
    contact = await service.find_or_create(unit, phone, "")
    match kind:
        case "upsert":
            await service.upsert(unit, {"phone": phone, "tags": value}, "")
        case "add":
            await service.add_tag(unit, contact.id, value)
        case "remove":
            await service.remove_tag(unit, contact.id, value)
        case _:
            await erasure.erase(unit, contact.id)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(changes, max_size=8))
async def test_after_any_changes_the_table_lists_the_tags_of_the_contacts(
    services: Services, account: Opened, unit_for: UnitFor, made: list[tuple[str, str, Any]]
) -> None:
    for each in made:
        async with unit_for(account) as unit:
            await change(unit, *each)

    await audit_tags(services)


async def test_many_contacts_are_changed_and_deleted_by_one_statement(services: Services, unit: UnitOfWork) -> None:
    for phone in PHONES:
        await service.create(unit, {"phone": phone, "tags": ["vip", phone]})
    await unit.close(commit=True)

    await CONTACTS.change(services, tags=["new", "vip"])
    await CONTACTS.change(services, created_at=services.clock.now() - timedelta(days=1))
    await audit_tags(services)
    assert await CONTACT_TAGS.where(tag="vip").count(services) == 3

    await CONTACTS.delete(services)
    assert await CONTACT_TAGS.count(services) == 0


async def test_contacts_with_a_tag_are_listed_in_every_order_and_counted(unit: UnitOfWork) -> None:
    names = dict(zip(PHONES, ("Bea", "Ann", "Cid"), strict=True))
    for phone, name in names.items():
        await service.create(unit, {"phone": phone, "first_name": name, "tags": ["vip"] if name != "Bea" else []})

    async def found(sort: ContactSort, window: Window, **others: Any) -> tuple[list[str], Total]:
        page = await queries.find_page(unit, ContactFilter(tag="vip", **others), sort, window)
        return [contact.first_name for contact in page.nodes], await page.total()

    assert await found(ContactSort.date_added, Window()) == (["Cid", "Ann"], Total(2))
    assert await found(ContactSort.name_asc, Window()) == (["Ann", "Cid"], Total(2))
    assert await found(ContactSort.date_added, Window(last=1)) == (["Ann"], Total(2))
    assert await found(ContactSort.name_asc, Window(), search="cid") == (["Cid"], Total(1))


async def test_tags_are_listed_once_in_their_order_up_to_a_limit(unit: UnitOfWork) -> None:
    for phone in PHONES:
        await service.create(unit, {"phone": phone, "tags": ["vip", "new", phone]})

    assert await queries.list_tags(unit, 10) == sorted(["vip", "new", *PHONES])
    assert await queries.list_tags(unit, 2) == sorted(PHONES)[:2]


async def test_the_contacts_of_several_tags_are_counted_up_to_a_limit(
    unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_TAGGED", 2)
    for number, phone in enumerate(PHONES):
        await service.create(unit, {"phone": phone, "tags": ["vip", "new"][: 1 + (number > 0)]})

    assert await queries.count_tags(unit, ["vip", "new"]) == {"vip": Total(2, is_exact=False), "new": Total(2)}


async def test_the_contacts_with_a_tag_are_counted_exactly(
    unit_for: UnitFor, account: Opened, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    for owner, phone, stage in ((account, 0, "won"), (account, 1, "lost"), (other, 0, "won")):
        async with unit_for(owner) as unit:
            await service.create(
                unit, {"phone": PHONES[phone], "tags": ["vip"], "pipeline_stage": PipelineStage(stage)}
            )

    async with unit_for(account) as unit:
        of_tag = await queries.count_all(unit, ContactFilter(tag=" vip "))
        of_stage = await queries.count_all(unit, ContactFilter(tag="vip", stage=PipelineStage.won))
        of_none = await queries.count_all(unit, ContactFilter(tag="new"))

    assert (of_tag, of_stage, of_none) == (2, 1, 0)
