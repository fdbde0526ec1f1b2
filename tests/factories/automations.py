"""Adds watched keywords, and reads runs of automations."""

from tests.factories.tables import Rows, Source

AUTOMATIONS = Rows("automations")
AUTOMATION_RUNS = Rows("automation_runs")
WATCHED_KEYWORDS = Rows("watched_keywords")


async def watch(source: Source, account_id: int, keyword: str) -> int:
    """Watch a keyword."""
    return await WATCHED_KEYWORDS.insert(source, account_id=account_id, keyword=keyword, created_by="test")
