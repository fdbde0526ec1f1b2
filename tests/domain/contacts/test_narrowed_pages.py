"""Pages of narrowed lists that are not found in time in the order of the list."""

import pytest
from sqlalchemy import Text, cast, func

from app.domain.contacts import queries, service
from app.domain.contacts.models import ContactFields
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel import paging
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor

pytestmark = pytest.mark.anyio

SLOW = cast(func.pg_sleep(0.01), Text) == ""
"""A condition that each contact satisfies; it takes longer than the quick search of these tests may."""

SORTS = [
    ContactSort.name_asc,
    ContactSort.name_desc,
    ContactSort.score_high,
    ContactSort.date_added,
    ContactSort.date_updated,
]


@pytest.fixture
async def people(account: Opened, unit_for: UnitFor) -> None:
    """Add contacts, some of which have the same name."""
    async with unit_for(account) as unit:
        for number in range(7):
            name = ContactFields(first_name="Ann", last_name=f"Lee {number % 3}") if number % 2 else ContactFields()
            await service.create(unit, {"phone": f"+1202555010{number}", **name})


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("sort", SORTS)
async def test_a_list_that_takes_long_is_searched_in_another_way_for_the_same_pages(
    unit: UnitOfWork, sort: ContactSort, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = await queries.find_page(unit, ContactFilter(), sort, Window())
    ids = [each.id for each in everyone.nodes]
    monkeypatch.setattr(paging, "QUICK_SECONDS", 0.001)
    after, before = everyone.place(1), everyone.place(5)
    windows = [Window(), Window(first=2, after=after), Window(last=3, before=before), Window(first=2, offset=4)]

    pages = [await queries.find_page(unit, ContactFilter(), sort, window, condition=SLOW) for window in windows]

    assert [[each.id for each in page.nodes] for page in pages] == [ids, ids[2:4], ids[2:5], ids[4:6]]
    assert pages[0].place(1) == after


@pytest.mark.parametrize("sort", SORTS)
def test_no_index_has_the_order_of_the_other_way(sort: ContactSort) -> None:
    order = queries.ORDERS[sort].unindexed

    assert str(order.columns[0]) not in {str(each) for each in queries.ORDERS[sort].columns}
    assert order.columns[1:] == queries.ORDERS[sort].columns[1:]
