"""Windows and cursors of long lists."""

from datetime import datetime
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.contacts import queries, service
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
INTEGERS = st.integers(-(2**63), 2**64 - 1)
INSTANTS = st.datetimes().map(datetime.isoformat)
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False) | TEXTS | INSTANTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
CURSORS = JSON | st.tuples(JSON, INTEGERS) | st.tuples(TEXTS, TEXTS, INTEGERS) | st.tuples(INSTANTS, INTEGERS)


@pytest.mark.parametrize("first", [0, -1, 201])
def test_a_page_has_1_to_200_rows(first: int) -> None:
    with pytest.raises(InvalidInput, match=r"^first must be from 1 to 200.$"):
        Window(first)


@pytest.mark.parametrize("last", [0, -1, 201])
def test_a_page_from_the_end_has_1_to_200_rows(last: int) -> None:
    with pytest.raises(InvalidInput, match=r"^last must be from 1 to 200.$"):
        Window(last=last)


def test_first_and_last_are_not_given_together() -> None:
    with pytest.raises(InvalidInput, match=r"^first and last must not be given together. Give one of the two.$"):
        Window(1, last=1)


@pytest.mark.parametrize("offset", [-1, 10_001, 2**31])
def test_an_offset_ends_at_10000_and_cursors_reach_on(offset: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        Window(offset=offset)

    assert str(refused.value) == (
        "offset must be from 0 to 10000. To read on from there, give the cursor of an item as after."
    )


@pytest.mark.parametrize("backward", [{"last": 1}, {"before": "[1]"}])
def test_an_offset_is_counted_from_the_start_only(backward: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^offset must not be given with last or before.$"):
        Window(offset=1, **backward)


def test_a_window_is_50_rows_from_the_beginning_unless_said_otherwise() -> None:
    assert (Window().size, Window().is_backward, Window().offset) == (50, False, 0)
    assert (Window(1).size, Window(200).size, Window(last=3).size, Window(offset=10_000).offset) == (1, 200, 3, 10_000)


@pytest.mark.parametrize(
    "after",
    [
        "",
        "nonsense!",
        "é",
        "not json",
        *(
            orjson.dumps(value).decode()
            for value in (
                7,
                "2026-11-21T09:30:00+00:00",
                {},
                [],
                [7],
                ["2026-11-21T09:30:00+00:00"],
                ["2026-11-21T09:30:00+00:00", "7"],
                ["2026-11-21T09:30:00+00:00", None],
                ["2026-11-21T09:30:00+00:00", True],
                ["2026-11-21T09:30:00+00:00", 7.0],
                ["2026-11-21T09:30:00+00:00", 2**63],
                ["2026-11-21T09:30:00+00:00", 7, 7],
                [None, 7],
                ["today", 7],
                ["0001-01-01T00:00:00+14:00", 7],
                [60, 7],
                ["ann", "lee", 7],
            )
        ),
    ],
)
async def test_an_invalid_cursor_is_refused(unit: UnitOfWork, after: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^after is not a cursor of this list. Leave it out to begin at the start.$"
    ):
        await queries.find_page(unit, ContactFilter(), ContactSort.date_added, Window(after=after))


async def test_a_cursor_of_another_order_is_refused(unit: UnitOfWork) -> None:
    await service.create(unit, {"phone": "+12025550143"})
    by_score = await queries.find_page(unit, ContactFilter(), ContactSort.score_high, Window(1))

    with pytest.raises(
        InvalidInput, match=r"^after is not a cursor of this list. Leave it out to begin at the start.$"
    ):
        await queries.find_page(unit, ContactFilter(), ContactSort.date_added, Window(1, by_score.end_cursor))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sort=st.sampled_from([*queries.ORDERS]), values=CURSORS)
async def test_a_cursor_of_any_values_gives_a_page_or_a_refusal(
    account: Opened, unit_for: UnitFor, sort: ContactSort, values: Any
) -> None:
    after = orjson.dumps(values).decode()
    async with unit_for(account) as unit:
        try:
            page = await queries.find_page(unit, ContactFilter(), sort, Window(after=after))
        except InvalidInput:
            return

        assert page.nodes == []


@pytest.mark.parametrize("name", ["2026-11-21", "20261121", "2026-11-21T09:30:00Z", "7", "null", '"', "\\", "é"])
async def test_a_name_that_looks_like_something_else_is_a_name_in_a_cursor(unit: UnitOfWork, name: str) -> None:
    for number in range(2):
        await service.create(unit, {"phone": f"+1202555010{number}", "first_name": name})
    first = await queries.find_page(unit, ContactFilter(), ContactSort.name_asc, Window(1))

    second = await queries.find_page(unit, ContactFilter(), ContactSort.name_asc, Window(1, first.end_cursor))

    assert [contact.phone for contact in [*first.nodes, *second.nodes]] == ["+12025550100", "+12025550101"]


async def test_a_list_is_counted_once(unit: UnitOfWork) -> None:
    page = await queries.find_page(unit, ContactFilter(), ContactSort.date_added, Window(1))
    before = await page.total()

    await service.create(unit, {"phone": "+12025550143"})

    assert await page.total() is before
