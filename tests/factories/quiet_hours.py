"""Reads and changes the quiet hours of accounts."""

from tests.factories.accounts import ACCOUNTS
from tests.factories.tables import Rows, Source

QUIET_HOURS_RULES = Rows("quiet_hours_rules")
CAPPED_TEXTS = Rows("capped_texts")


async def obey_the_law(source: Source) -> None:
    """Remove the rules that let promotional texts of tests leave at any hour, and set the usual weekly cap."""
    await QUIET_HOURS_RULES.delete(source)
    await ACCOUNTS.change(source, weekly_cap=6)
