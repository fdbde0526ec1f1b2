"""The ids that carriers give messages, and the reports that come before an id is known.

Who learns the id of a message inserts it, then looks for unmatched reports in a later statement. Who keeps an unmatched
report holds the id, which nobody has yet, until the report is committed. The unique index lets neither pass the other:
the report is found by the one, or the message by the other. Both lock messages first, and insert ids in their order.
"""

from collections.abc import Sequence

from app.db.engine import Connection

HOLD = """
INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id)
SELECT DISTINCT carrier, id, 'outbound', 0 FROM unnest($1::text[], $2::text[]) AS r(carrier, id) ORDER BY carrier, id
ON CONFLICT DO NOTHING RETURNING carrier, provider_message_id
"""
"""Hold the ids `$2` of the carriers `$1`, except those that messages have."""

RELEASE = """
DELETE FROM carrier_ids n USING unnest($1::text[], $2::text[]) AS r(carrier, id)
WHERE n.carrier = r.carrier AND n.provider_message_id = r.id AND n.direction = 'outbound' AND n.message_id = 0
"""

MATCH = """
UPDATE unmatched_receipts u SET message_id = a.message_id
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS a(carrier, id, message_id)
WHERE u.carrier = a.carrier AND u.provider_message_id = a.id AND u.message_id IS NULL
"""


def give(rows: str) -> str:
    """Return what keeps ids of outbound messages, from rows of `carrier, provider_message_id, message_id`.

    It returns the rows that were kept; an id that another message has is not.
    """
    return f"""
  INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id)
  SELECT carrier, provider_message_id, 'outbound', message_id FROM ({rows}) AS given
  ORDER BY carrier, provider_message_id
  ON CONFLICT DO NOTHING RETURNING carrier, provider_message_id, message_id"""


async def match(connection: Connection, given: Sequence[tuple[str, str, int]]) -> bool:
    """Match unmatched reports with messages whose carrier, id and message id are given; return True where any is.

    The ids must have been inserted by an earlier statement of the same transaction.
    """
    if not given:
        return False
    carriers, ids, message_ids = zip(*given, strict=True)
    return await connection.execute(MATCH, carriers, ids, message_ids) != "UPDATE 0"
