"""Reads segments; a slow condition, and a limit for the statements that wait for it."""

from app.domain.kernel.unit_of_work import SET_TIMEOUT, UnitOfWork
from tests.factories.tables import Rows

SEGMENTS = Rows("segments")

SLOW = "pg_sleep(0.02) IS NOT NULL"
"""A condition that takes 20 milliseconds for each contact."""


async def limit_statements(unit: UnitOfWork, milliseconds: int) -> None:
    """End each later statement of a unit of work that takes longer."""
    await unit.execute(SET_TIMEOUT, {"milliseconds": str(milliseconds)})
