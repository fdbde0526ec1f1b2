"""Reads and changes conversations."""

from app.db.engine import Connection
from tests.factories.tables import Rows

CONVERSATIONS = Rows("conversations")
CONVERSATION_ENTRIES = Rows("conversation_entries")

WRITES = """
SELECT n_tup_ins, n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'conversations'
"""


async def count_writes(connection: Connection) -> tuple[int, int, int]:
    """Return what a connection inserted, updated, and updated without changing an index in conversations, of late."""
    inserted, updated, unindexed = await connection.fetchrow(WRITES)
    return inserted, updated, unindexed
