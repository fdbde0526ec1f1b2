"""SQL fragments on quiet hours and frequency caps for the statements of other areas.

Arguments are SQL expressions of the enclosing statement.
"""

COUNT = """
INSERT INTO capped_texts (message_id, account_id, phone, at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[])
"""
"""Let the texts `$1`, of accounts `$2` to phones `$3`, count at the times `$4`."""


def count(rows: str) -> str:
    """Return the insert of texts that count, from rows of `message_id, account_id, phone, at`."""
    return f"""
  INSERT INTO capped_texts (message_id, account_id, phone, at)
  SELECT message_id, account_id, phone, at FROM ({rows}) AS taken"""


COUNT_NO_MORE = "DELETE FROM capped_texts WHERE message_id = ANY($1::bigint[])"
"""Let the texts `$1`, which never left, count toward no cap."""

COUNT_AT = "UPDATE capped_texts SET at = $2, has_left = $3 WHERE message_id = ANY($1::bigint[])"
"""Let the texts `$1` count at the time `$2`, at which they have left if `$3`."""


def count_later(rows: str) -> str:
    """Return the update of texts that count and leave again later, from rows of `id, until`; it returns their ids."""
    return f"""
  UPDATE capped_texts t SET at = later.until, has_left = false FROM {rows} later WHERE t.message_id = later.id
  RETURNING t.message_id"""


def rules(account_id: str) -> str:
    """Return the own rules of an account in JSON; null where it has none."""
    return f"""(
    SELECT jsonb_agg(jsonb_build_array(id, jurisdiction, weekdays, start_minute, end_minute, cap, overrides_law,
      reason, (created_at AT TIME ZONE 'UTC')::date) ORDER BY id)
    FROM quiet_hours_rules WHERE account_id = {account_id})"""


def attempts(account_id: str, phone: str, message_id: str) -> str:
    """Return the texts to a phone that count, in JSON: the time of each, and whether it has left; null without any.

    They are those that leave before the text of an id; all of them where no text has that id yet.
    """
    return f"""(
    SELECT jsonb_agg(jsonb_build_array(t.at, t.has_left)) FROM capped_texts t
    WHERE t.account_id = {account_id} AND t.phone = {phone} AND t.at > now() - interval '7 days'
      AND (t.at, t.message_id) < (coalesce(
        (SELECT own.at FROM capped_texts own WHERE own.message_id = {message_id}), 'infinity'), {message_id}))"""
