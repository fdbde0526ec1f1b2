"""Reads and changes conversations."""

from app.db.engine import Connection
from tests.factories.tables import Rows, Source, open_pool

CONVERSATIONS = Rows("conversations")
CONVERSATION_ENTRIES = Rows("conversation_entries")

WRITES = """
SELECT n_tup_ins, n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'conversations'
"""


async def count_writes(connection: Connection) -> tuple[int, int, int]:
    """Return what a connection inserted, updated, and updated without changing an index in conversations, of late."""
    inserted, updated, unindexed = await connection.fetchrow(WRITES)
    return inserted, updated, unindexed


async def open_conversations(source: Source) -> None:
    """Open a conversation with each contact that has none, from the primary number of its account."""
    opened = (
        "INSERT INTO conversations (account_id, contact_id, sending_number, last_message_at)"
        " SELECT c.account_id, c.id, n.phone_number, c.created_at FROM contacts c"
        " JOIN phone_numbers n ON n.account_id = c.account_id AND n.is_primary ON CONFLICT DO NOTHING"
    )
    await open_pool(source).execute(opened)
