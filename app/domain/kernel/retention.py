"""Retention rules: statements that delete or empty rows after a time."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import Pool


class Rule(NamedTuple):
    """A statement that deletes or empties rows older than `$1`, and their retention time."""

    statement: str
    kept: timedelta


async def apply(rules: Iterable[Rule], pool: Pool, now: datetime) -> None:
    """Run the statements of rules, each in a transaction of its own."""
    for rule in rules:
        await pool.execute(rule.statement, now - rule.kept)
