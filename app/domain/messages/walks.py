"""Walks through the messages, in the order of their ids, that note some of them for later work.

A walk reads each message once, when it is `AGE` old, and its mark is the last message that it has read: sends and
callbacks write nothing for it. It ends before the first message that is too young, because ids and times may be in
different orders.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from app.db.engine import Pool, transaction

AGE = timedelta(hours=1)
"""The age at which a message is read."""

WALKED = 5000
"""The number of messages that a walk reads at once."""

BEGIN = "INSERT INTO message_marks (name, last_id) VALUES ($1, 0) ON CONFLICT DO NOTHING"
LOCK = "SELECT last_id FROM message_marks WHERE name = $1 FOR UPDATE SKIP LOCKED"
ADVANCE = "UPDATE message_marks SET last_id = $2 WHERE name = $1"

IS_BEHIND = """
EXISTS (
  SELECT FROM (
    SELECT created_at FROM messages
    WHERE id > coalesce((SELECT last_id FROM message_marks WHERE name = $1), 0) ORDER BY id LIMIT 1
  ) next WHERE created_at <= $2
)
"""
"""The condition that the walk `$1` can read a message that was created by `$2`."""


def noting(insert: str, columns: str) -> str:
    """Return the statement of a walk, whose `insert` reads the messages `old` with these columns.

    `$1` is the mark, `$2` the time by which messages are old, `$3` the present, `$4` the keys of connections.
    """
    return f"""
WITH next AS (
  SELECT id, created_at, {columns} FROM messages WHERE id > $1 ORDER BY id LIMIT {WALKED}
), old AS (
  SELECT * FROM next WHERE id < coalesce((SELECT min(id) FROM next WHERE created_at > $2), 9223372036854775807)
), noted AS ({insert})
SELECT max(id) AS last_id, count(*) AS count FROM old
"""


async def walk(pool: Pool, name: str, statement: str, now: datetime, keys: Sequence[str]) -> bool:
    """Note some of the next messages, and advance the mark, in one transaction; return True if more may follow.

    The messages of connections other than those of `keys` are passed over.
    """
    async with transaction(pool) as connection:
        await connection.execute(BEGIN, name)
        last_id = await connection.fetchval(LOCK, name)
        if last_id is None:  # another process walks
            return False
        walked = await connection.fetchrow(statement, last_id, now - AGE, now, keys)
        if walked["count"]:
            await connection.execute(ADVANCE, name, walked["last_id"])
    return walked["count"] == WALKED
