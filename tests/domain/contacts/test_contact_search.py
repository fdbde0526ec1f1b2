"""Finding contacts by what is known of them."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs, queries, service
from app.domain.contacts.models import ContactFields, ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel import paging
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor

PEOPLE = {
    "ann": ContactFields(phone="+12025550101", first_name="Ann", last_name="Lee", email="ann.lee@example.com"),
    "bob": ContactFields(phone="+12025550102", first_name="Bob", last_name="O'Hara_x", email="100%bob@example.com"),
    "zoe": ContactFields(phone="+447911123456", first_name="Zoë", last_name="ΟΔΟΣ", email="zoe@münchen.example"),
    "sly": ContactFields(phone="+12025550104", first_name="Sly\\Stone", last_name="İpek"),
    "nil": ContactFields(phone="+12025550105"),
}


@pytest.fixture
async def people(account: Opened, unit_for: UnitFor) -> dict[int, str]:
    """Add five people; give their short names by id."""
    async with unit_for(account) as unit:
        return {(await service.create(unit, fields)).id: name for name, fields in PEOPLE.items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann", "ann"),
        ("nn", "ann"),
        ("aNN lEE", "ann"),
        ("lee +1202", "ann"),
        ("0101", "ann"),
        (" lee ", "ann"),
        ("202-555-0101", "ann"),
        ("(202) 555-0101", "ann"),
        ("+1 202.555.0101", "ann"),
        (" 12025550101", "ann"),
        ("1 202 555 010", "ann bob nil sly"),
        ("202-555-0199", ""),
        ("+1202555010", "ann bob nil sly"),
        ("ANN.LEE@EXAMPLE.COM", "ann"),
        ("@example.com", "ann bob"),
        ("o'hara", "bob"),
        ("zoë", "zoe"),
        ("ZOË", "zoe"),
        ("zoe", "zoe"),
        ("ΟΔΟΣ", "zoe"),
        ("οδοσ", "zoe"),
        ("MÜNCHEN", "zoe"),
        ("İpek", "sly"),
        ("%", "bob"),
        ("100%", "bob"),
        ("_", "bob"),
        ("a_x", "bob"),
        ("\\", "sly"),
        ("y\\s", "sly"),
        ("/", ""),
        ("annlee", ""),
        ("' OR 1=1 --", ""),
        ("+44 7911 123456", "zoe"),
        ("+4479", "zoe"),
        ("+7911123456", ""),
        ("", "ann bob nil sly zoe"),
    ],
)
async def test_a_search_finds_a_part_of_a_name_phone_or_email(
    unit: UnitOfWork, people: dict[int, str], text: str, found: str
) -> None:
    page = await queries.find_page(unit, ContactFilter(search=text), ContactSort.name_asc, Window())

    assert sorted(people[contact.id] for contact in page.nodes) == found.split()
    assert await page.total() == Total(len(found.split()))


async def test_a_search_is_counted_up_to_a_limit(
    unit: UnitOfWork, people: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_COUNTED", 2)

    found = [
        await (await queries.find_page(unit, ContactFilter(search=text), ContactSort.name_asc, Window())).total()
        for text in ("@example.com", "+1202555")
    ]

    assert found == [Total(2), Total(2, is_exact=False)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30), data=st.data())
async def test_every_part_of_any_name_finds_the_contact(
    account: Opened, unit_for: UnitFor, name: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(name) - 1))
    part = name[start : data.draw(st.integers(start + 1, len(name)))]
    async with unit_for(account) as unit:
        contact = await service.find_or_create(unit, "+12025550143", "")
        contact.last_name = name
        await unit.save(contact)

        page = await queries.find_page(unit, ContactFilter(search=part), ContactSort.date_added, Window())

        assert [found.id for found in page.nodes] == [contact.id]


@pytest.mark.parametrize("stage", PipelineStage)
async def test_a_stage_finds_only_contacts_of_that_stage(unit: UnitOfWork, stage: PipelineStage) -> None:
    made = {
        each: (await service.create(unit, {"phone": f"+1202555010{number}", "pipeline_stage": each})).id
        for number, each in enumerate(PipelineStage)
    }

    assert await _ids(unit, ContactFilter(stage=stage)) == [made[stage]]


async def test_a_status_finds_only_contacts_of_that_status(unit: UnitOfWork, people: dict[int, str]) -> None:
    ann, *others = people
    await opt_outs.record_opt_out(unit, ann, Evidence("verbal", ""))

    assert await _ids(unit, ContactFilter(status=ContactStatus.opted_out)) == [ann]
    assert await _ids(unit, ContactFilter(status=ContactStatus.active)) == sorted(others, reverse=True)


async def test_a_tag_finds_only_contacts_with_exactly_that_tag(unit: UnitOfWork) -> None:
    tagged = [["vip"], ["vip", "new"], ["Vip"], ["vip 2"], []]
    ids = [
        (await service.create(unit, {"phone": f"+1202555010{number}", "tags": tags})).id
        for number, tags in enumerate(tagged)
    ]

    assert await _ids(unit, ContactFilter(tag="vip")) == [ids[1], ids[0]]
    assert await _ids(unit, ContactFilter(tag="none")) == []


@pytest.mark.parametrize("empty", ["", "  "], ids=["empty", "spaces"])
async def test_an_empty_search_or_tag_filters_nothing(unit: UnitOfWork, people: dict[int, str], empty: str) -> None:
    wanted = ContactFilter(search=empty, tag=empty)

    page = await queries.find_page(unit, wanted, ContactSort.date_added, Window())

    assert (len(page.nodes), await page.total()) == (len(people), Total(len(people)))


async def test_filters_narrow_one_another(unit: UnitOfWork, people: dict[int, str]) -> None:
    ann, bob, *_ = people
    for id in (ann, bob):
        await service.update(unit, id, {"tags": ["vip"], "pipeline_stage": PipelineStage.won})
    await opt_outs.record_opt_out(unit, bob, Evidence("verbal", ""))

    wanted = ContactFilter(search="@example.com", stage=PipelineStage.won, status=ContactStatus.opted_out, tag="vip")

    assert await _ids(unit, wanted) == [bob]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (ContactSort.name_asc, [3, 1, 2, 0, 4]),
        (ContactSort.name_desc, [4, 0, 2, 1, 3]),
        (ContactSort.score_high, [1, 2, 4, 0, 3]),
        (ContactSort.date_added, [4, 3, 2, 1, 0]),
    ],
)
async def test_contacts_are_sorted_and_ties_fall_by_id(unit: UnitOfWork, sort: ContactSort, order: list[int]) -> None:
    made: list[Any] = [
        {"first_name": "bea", "last_name": "b"},
        {"first_name": "Bea", "last_name": "A", "pipeline_stage": PipelineStage.won},
        {"first_name": "BEA", "last_name": "a", "pipeline_stage": PipelineStage.qualified},
        {},
        {"first_name": "Zoe", "pipeline_stage": PipelineStage.contacted},
    ]
    ids = [
        (await service.create(unit, {"phone": f"+1202555010{number}", **fields})).id
        for number, fields in enumerate(made)
    ]

    assert await _ids(unit, ContactFilter(), sort) == [ids[number] for number in order]


@pytest.mark.parametrize(
    ("sort", "ascending"),
    [
        (ContactSort.name_asc, True),
        (ContactSort.name_desc, False),
        (ContactSort.score_high, False),
        (ContactSort.date_added, False),
    ],
)
async def test_contacts_that_are_alike_are_sorted_by_id(unit: UnitOfWork, sort: ContactSort, ascending: bool) -> None:
    ids = [
        (await service.create(unit, {"phone": f"+1202555010{number}", "first_name": name})).id
        for number, name in enumerate(["Ann", "ann", "ANN"])
    ]

    assert await _ids(unit, ContactFilter(), sort) == sorted(ids, reverse=not ascending)


async def test_a_contact_that_is_found_by_its_phone_is_the_one(unit: UnitOfWork, people: dict[int, str]) -> None:
    contact = await service.get_by_phone(unit, "202-555-0101")

    assert people[contact.id] == "ann"


async def test_contacts_are_found_by_ids_and_unknown_ids_are_left_out(unit: UnitOfWork, people: dict[int, str]) -> None:
    ann, bob, *_ = people

    found = await queries.find_many(unit, [ann, bob, ann, 2**62])

    assert {id: contact.first_name for id, contact in found.items()} == {ann: "Ann", bob: "Bob"}


async def test_sibling_reads_of_one_unit_take_turns(unit: UnitOfWork, people: dict[int, str]) -> None:
    pages = await asyncio.gather(
        *(queries.find_page(unit, ContactFilter(search=name), ContactSort.name_asc, Window()) for name in PEOPLE)
    )

    assert [len(page.nodes) for page in pages] == [1, 1, 1, 1, 0]


async def _ids(unit: UnitOfWork, wanted: ContactFilter, sort: ContactSort = ContactSort.date_added) -> list[int]:
    page = await queries.find_page(unit, wanted, sort, Window())
    assert await page.total() == Total(len(page.nodes))
    return [contact.id for contact in page.nodes]
