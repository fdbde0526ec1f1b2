"""Ids that carriers assign to messages, and receipts that arrive before an id is recorded.

A transaction that records the id of a message first inserts it, then matches unmatched receipts in a later statement. A
transaction that stores an unmatched receipt inserts the id without a message, and deletes it again before its commit.
The unique index makes each of them wait for the other, so that one finds the other's row. Both lock messages first, and
insert ids in order.

A message whose parts have ids of their own has a row for each of them.

The counters of some carriers begin again. An id of such a carrier is taken from an older message whose state is final,
or which no report is expected on any more, before it is inserted for a later one.
"""

from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Connection, Pool
from app.db.rows import integers, texts

RESERVE = """
INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id)
SELECT DISTINCT carrier, id, 'outbound', 0 FROM unnest($1::text[], $2::text[]) AS r(carrier, id) ORDER BY carrier, id
ON CONFLICT DO NOTHING RETURNING carrier, provider_message_id
"""
"""Inserts the ids `$2` of the carriers `$1` without a message, except those that messages have."""

RELEASE = """
DELETE FROM carrier_ids n USING unnest($1::text[], $2::text[]) AS r(carrier, id)
WHERE n.carrier = r.carrier AND n.provider_message_id = r.id AND n.direction = 'outbound' AND n.message_id = 0
"""

MATCH = """
UPDATE unmatched_receipts u SET message_id = a.message_id
FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[]) AS a(carrier, id, message_id)
WHERE u.carrier = a.carrier AND u.provider_message_id = a.id AND u.message_id IS NULL
"""

TAKE = """
WITH taken AS (
  INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id) VALUES ($1, $2, 'outbound', $3)
  ON CONFLICT DO NOTHING RETURNING message_id
)
SELECT EXISTS (SELECT FROM taken) OR EXISTS (
  SELECT FROM carrier_ids WHERE carrier = $1 AND provider_message_id = $2 AND direction = 'outbound' AND message_id = $3
)
"""

NAME_PARTS = """
INSERT INTO carrier_ids AS known (carrier, provider_message_id, direction, message_id, part, parts)
SELECT carrier, id, 'outbound', message_id, part, parts
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
  AS p(carrier, id, message_id, part, parts)
ORDER BY carrier, id
ON CONFLICT (carrier, provider_message_id, direction) DO UPDATE SET part = excluded.part, parts = excluded.parts
WHERE known.message_id = excluded.message_id
"""

FIND_RECURRING = """
SELECT a.carrier, a.id, a.message_id FROM unnest($1::text[], $2::text[], $3::bigint[]) AS a(carrier, id, message_id)
CROSS JOIN LATERAL (
  SELECT message_id FROM carrier_ids
  WHERE carrier = a.carrier AND provider_message_id = a.id AND direction = 'outbound' LIMIT 1
) n
WHERE n.message_id <> a.message_id AND NOT EXISTS (
  SELECT FROM messages m WHERE m.id = n.message_id AND m.status NOT IN ('delivered', 'failed')
    AND coalesce(m.sent_at, m.created_at) > $4
)
"""
"""Finds the ids that other messages have, unless these are not final and were sent after `$4`."""

LOCK = "SELECT FROM messages WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE"

FREE = """
DELETE FROM carrier_ids n USING unnest($1::text[], $2::text[], $3::bigint[]) AS a(carrier, id, message_id)
WHERE n.carrier = a.carrier AND n.provider_message_id = a.id AND n.direction = 'outbound'
  AND n.message_id NOT IN (a.message_id, 0)
"""

FIND_RECIPIENTS = """
SELECT n.provider_message_id, m.to_number FROM carrier_ids n JOIN messages m ON m.id = n.message_id
WHERE n.carrier = $1 AND n.provider_message_id = ANY($2::text[]) AND n.direction = 'outbound'
"""


def insert(rows: str) -> str:
    """Return an INSERT of ids of outbound messages, from rows of `carrier, provider_message_id, message_id`.

    The statement returns the inserted rows; an id of another message is not inserted.
    """
    return f"""
  INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id)
  SELECT carrier, provider_message_id, 'outbound', message_id FROM ({rows}) AS answered
  ORDER BY carrier, provider_message_id
  ON CONFLICT DO NOTHING RETURNING carrier, provider_message_id, message_id"""


async def take(pool: Pool, carrier: str, id: str, message_id: int) -> bool:
    """Take an id for a message before anything is concluded from it; return False where another message has it."""
    return await pool.fetchval(TAKE, carrier, id, message_id)


async def free(connection: Connection, given: Sequence[tuple[str, str, int]], since: datetime) -> None:
    """Take ids from older messages, by carrier, carrier's id and id of the message that has it now.

    A message without a final state keeps its id if it was sent after `since`.
    """
    if not given:
        return
    if recurring := await connection.fetch(FIND_RECURRING, *zip(*given, strict=True), since):
        carriers, ids, message_ids = zip(*recurring, strict=True)
        await connection.execute(LOCK, [message_id for _, _, message_id in given])  # all, in the order of others
        await connection.execute(FREE, carriers, ids, message_ids)


async def name_parts(connection: Connection, named: Sequence[tuple[str, int, Sequence[str]]]) -> None:
    """Insert the ids of parts, by carrier and message id; the first of them may be inserted already."""
    rows = [
        (carrier, id, message_id, part, len(ids))
        for carrier, message_id, ids in named
        for part, id in enumerate(ids, 1)
    ]
    await connection.execute(NAME_PARTS, *zip(*rows, strict=True))


async def find_recipients(pool: Pool, carrier: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the recipients of the messages that have some ids of a carrier, by these ids."""
    return {row["provider_message_id"]: row["to_number"] for row in await pool.fetch(FIND_RECIPIENTS, carrier, ids)}


async def match(connection: Connection, answered: Sequence[tuple[str, str, int]]) -> bool:
    """Match unmatched receipts with messages, by carrier, carrier's id and message id; return True if any matches.

    The ids must have been inserted by an earlier statement of the same transaction.
    """
    if not answered:
        return False
    carriers, ids, message_ids = zip(*answered, strict=True)
    columns = texts(carriers), texts(ids), integers(message_ids)
    return await connection.execute(MATCH, *columns) != "UPDATE 0"
