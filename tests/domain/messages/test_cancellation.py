"""Texts are held and released however many there are."""

import pytest
from sqlalchemy import func, select

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.sending import cancellation

pytestmark = pytest.mark.anyio

MANY = select(func.generate_series(1, 40_000).column_valued("id"))
"""More ids than the 32,767 parameters that asyncpg sends with a statement."""


async def test_more_texts_are_held_and_released_than_a_statement_takes_parameters(unit: UnitOfWork) -> None:
    held = await cancellation.hold(unit, MANY)

    await cancellation.release(unit, MANY)

    assert held == 0
