"""SQL fragments on conversations for the statements of other areas."""

OPEN = """
INSERT INTO conversations (account_id, contact_id, sending_number, last_message_at, created_at)
SELECT DISTINCT ON (contact_id) account_id, contact_id, sending_number, $4::timestamptz, $4::timestamptz
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS r(account_id, contact_id, sending_number, place)
ORDER BY contact_id, place DESC
ON CONFLICT (contact_id) DO UPDATE SET contact_id = excluded.contact_id
RETURNING id, contact_id, xmax = 0 AS is_new
"""
"""Open the conversations of the accounts `$1` with the contacts `$2`, about the sending numbers `$3`, at `$4`.

Those that another transaction has opened meanwhile are returned too.
"""


def join(contact_id: str) -> str:
    """Return a left join with the conversation `v` of a contact."""
    return f"LEFT JOIN conversations v ON v.contact_id = {contact_id}"


def touch(rows: str, at: str) -> str:
    """Return the update of conversations from rows of `id, sending_number, place`: the latest row of each counts."""
    return f"""
  UPDATE conversations SET last_message_at = {at}, sending_number = latest.sending_number
  FROM (SELECT DISTINCT ON (id) id, sending_number FROM ({rows}) AS sent ORDER BY id, place DESC) AS latest
  WHERE conversations.id = latest.id"""
