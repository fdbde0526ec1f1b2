"""Columns that statements take as the text of an array."""

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from app.db import rows
from app.db.engine import UNSTORABLE
from app.services import Services

pytestmark = pytest.mark.anyio

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
TEXTS = "SELECT $1::text::text[]"
INTEGERS = "SELECT $1::text::bigint[]"


@given(values=st.lists(st.none() | TEXT | st.text('{}",\\ NUL\n', max_size=8), max_size=6))
@example(values=["NULL", "", "{}", '","', "\\", '\\"', " a ", None])
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
async def test_a_column_of_texts_comes_to_a_statement_as_it_is(services: Services, values: list[str | None]) -> None:
    assert await services.database.pool.fetchval(TEXTS, rows.texts(values)) == values


@given(values=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=6))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
async def test_a_column_of_integers_comes_to_a_statement_as_it_is(services: Services, values: list[int | None]) -> None:
    assert await services.database.pool.fetchval(INTEGERS, rows.integers(values)) == values


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
async def test_a_column_with_a_text_that_cannot_be_stored_is_refused_as_a_list_with_it_is(
    services: Services, text: str
) -> None:
    with pytest.raises(UNSTORABLE):
        await services.database.pool.fetchval(TEXTS, rows.texts([text]))
    with pytest.raises(UNSTORABLE):
        await services.database.pool.fetchval("SELECT $1::text[]", [text])
