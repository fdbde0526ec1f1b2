"""Pages from the end of a list, what is before and behind a page, and totals that are counted so far only."""

from typing import Any

import pytest

from app.domain.contacts import queries, service
from app.domain.contacts.models import ContactStatus
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel.paging import Page, Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import add_contacts

EVERYONE = ContactFilter()
NAMES = ["Ann", "Bob", "Cid", "Dee", "Eve"]


@pytest.fixture
async def five(unit: UnitOfWork) -> UnitOfWork:
    for number, name in enumerate(NAMES):
        await service.create(unit, {"phone": f"+1202555010{number}", "first_name": name})
    return unit


async def find(unit: UnitOfWork, window: Window, sort: ContactSort = ContactSort.name_asc) -> Page[Any]:
    return await queries.find_page(unit, EVERYONE, sort, window)


def names(page: Page[Any]) -> str:
    return "".join(contact.first_name[0] for contact in page.nodes)


async def surroundings(page: Page[Any]) -> tuple[str, bool, bool]:
    return names(page), await page.has_previous_page(), await page.has_next_page()


@pytest.mark.parametrize("sort", queries.ORDERS)
async def test_a_list_read_from_its_end_shows_the_same_pages(five: UnitOfWork, sort: ContactSort) -> None:
    whole = await find(five, Window(), sort)

    pages, before = list[Page[Any]](), None
    while not pages or await pages[0].has_previous_page():
        pages.insert(0, await find(five, Window(last=2, before=before), sort))
        before = pages[0].start_cursor

    assert [len(page.nodes) for page in pages] == [1, 2, 2]
    assert [contact.id for page in pages for contact in page.nodes] == [contact.id for contact in whole.nodes]


async def test_a_page_says_whether_items_precede_and_follow_it(five: UnitOfWork) -> None:
    whole = await find(five, Window())
    places = [whole.place(index) for index in range(5)]
    windows = [
        Window(),
        Window(2),
        Window(2, places[1]),
        Window(2, places[2]),
        Window(2, offset=1),
        Window(2, offset=9),
        Window(2, places[4]),
        Window(last=2),
        Window(last=2, before=places[3]),
        Window(last=2, before=places[2]),
        Window(last=2, before=places[0]),
        Window(2, places[0], before=places[4]),
        Window(2, places[1], before=places[3]),
        Window(last=2, after=places[0], before=places[4]),
        Window(last=2, after=places[1], before=places[3]),
        Window(2, places[3], before=places[1]),
    ]

    found = [await surroundings(await find(five, window)) for window in windows]

    assert found == [
        ("ABCDE", False, False),
        ("AB", False, True),
        ("CD", True, True),
        ("DE", True, False),
        ("BC", True, True),
        ("", True, False),
        ("", True, False),
        ("DE", True, False),
        ("BC", True, True),
        ("AB", False, True),
        ("", False, True),
        ("BC", True, True),
        ("C", True, True),
        ("CD", True, True),
        ("C", True, True),
        ("", True, True),
    ]


async def test_a_page_reads_the_present_state_of_its_surroundings(five: UnitOfWork) -> None:
    first = await find(five, Window(1))
    second = await find(five, Window(1, first.end_cursor))

    await five.delete(await queries.get(five, first.nodes[0].id))

    assert not await second.has_previous_page()


async def test_an_empty_list_has_no_previous_or_next_page(unit: UnitOfWork) -> None:
    pages = [await find(unit, window) for window in (Window(), Window(last=1), Window(offset=1))]

    assert [await surroundings(page) for page in pages] == [("", False, False)] * 3
    assert [(page.start_cursor, page.end_cursor) for page in pages] == [(None, None)] * 3


@pytest.mark.parametrize(("count", "total"), [(10_000, Total(10_000)), (10_001, Total(10_000, is_exact=False))])
async def test_a_filtered_list_is_counted_up_to_ten_thousand(
    services: Services, account: Opened, unit_for: UnitFor, count: int, total: Total
) -> None:
    await add_contacts(services, account.account_id, [f"+1{number}" for number in range(count)])

    async with unit_for(account) as unit:
        active = ContactFilter(status=ContactStatus.active)
        filtered = await queries.find_page(unit, active, ContactSort.date_added, Window(1))
        everyone = await find(unit, Window(1))

        assert await filtered.total() == total
        assert await everyone.total() == Total(count)


async def test_cursors_reach_further_than_offsets(services: Services, account: Opened, unit_for: UnitFor) -> None:
    await add_contacts(services, account.account_id, [f"+1{number}" for number in range(10_202)])

    async with unit_for(account) as unit:
        furthest = await find(unit, Window(200, offset=10_000), ContactSort.date_added)
        beyond = await find(unit, Window(200, furthest.end_cursor), ContactSort.date_added)

    assert (len(furthest.nodes), len(beyond.nodes)) == (200, 2)
