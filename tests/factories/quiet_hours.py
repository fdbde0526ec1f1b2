"""Reads and changes the quiet hours of accounts."""

from datetime import datetime
from zoneinfo import ZoneInfo

from tests.factories.accounts import ACCOUNTS
from tests.factories.tables import Rows, Source

QUIET_HOURS_RULES = Rows("quiet_hours_rules")
CAPPED_TEXTS = Rows("capped_texts")


async def obey_the_law(source: Source) -> None:
    """Remove the rules that let promotional texts of tests leave at any hour, and set the usual weekly cap."""
    await QUIET_HOURS_RULES.delete(source)
    await ACCOUNTS.change(source, weekly_cap=6)


async def close_for_hours(source: Source) -> None:
    """Let the texts of tests leave within one minute of a day only, at least eight hours from now in New York."""
    now = datetime.now(ZoneInfo("America/New_York"))
    start = (60 * now.hour + now.minute + 600) % 1_439
    await QUIET_HOURS_RULES.change(source, start_minute=start, end_minute=start + 1)
