"""SQL fragments on conversations for the statements of other areas."""

OPEN = """
INSERT INTO conversations (account_id, contact_id, sending_number, last_message_at, last_outbound_at, version,
  created_at)
SELECT DISTINCT ON (contact_id) account_id, contact_id, sending_number,
  CASE WHEN bool_or(is_answer) OVER texts THEN $4::timestamptz ELSE 'epoch' END, $4, count(*) OVER texts, $4
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $5::bool[]) WITH ORDINALITY
  AS r(account_id, contact_id, sending_number, is_answer, place)
WINDOW texts AS (PARTITION BY contact_id)
ORDER BY contact_id, place DESC
ON CONFLICT (contact_id) DO UPDATE SET contact_id = excluded.contact_id
RETURNING id, contact_id, xmax = 0 AS is_new
"""
"""Open the conversations of the accounts `$1` by texts to the contacts `$2` from the sending numbers `$3`, at `$4`.

One that has promotional texts only, by `$5`, is in no list. Those that another transaction has opened meanwhile are
returned too; the texts have yet to `touch` them.
"""


NEW_ID = "nextval('conversations_id_seq')"
"""The id of a conversation that is to be opened."""


def open_promoted(rows: str, at: str) -> str:
    """Return the insert of conversations for promotional texts, rows of `id, account_id, contact_id, sending_number`.

    It is a violation of `ONE_TO_A_CONTACT` if another transaction opens one of them meanwhile.
    """
    return f"""
  INSERT INTO conversations (id, account_id, contact_id, sending_number, last_message_at, last_outbound_at, version,
    created_at)
  SELECT id, account_id, contact_id, sending_number, 'epoch', {at}, 1, {at} FROM ({rows}) AS opened"""


ONE_TO_A_CONTACT = "uq_conversations_contact_id"
"""The constraint that a contact has one conversation."""


def join(contact_id: str) -> str:
    """Return a left join with the conversation `v` of a contact."""
    return f"LEFT JOIN conversations v ON v.contact_id = {contact_id}"


LAST_INBOUND, LAST_OUTBOUND = "v.last_inbound_at", "v.last_outbound_at"
"""The times of the last messages from and to the contact, in the conversation `v`."""


ID, ASSIGNEE, SENDING_NUMBER = "v.id", "v.assignee_id", "v.sending_number"
"""The id of the conversation `v`, the user to whom it is assigned, and the number of its latest text."""

AI_STATE = "v.ai_state"
"""State of AI agents in the conversation `v`."""


def has(condition: str) -> str:
    """Return the condition that the contact `c` has a conversation `v` that satisfies a condition."""
    return f"EXISTS (SELECT FROM conversations v WHERE v.contact_id = c.id AND {condition})"


WAITING = "conversations v"
"""The conversations `v` of all accounts."""

WAITING_KEY = "'waiting/' || extract(epoch FROM v.waiting_since)::bigint"
"""A text that names the moment since which the contact of the conversation `v` waits for an answer."""


def waits_since(latest: str, span: str) -> str:
    """Return the condition that the contact of `v` has waited since an instant within a span that ends at the latest.

    `c` is that contact.
    """
    return f"v.account_id = c.account_id AND v.waiting_since <= {latest} AND v.waiting_since > {latest} - {span}"


def touch(rows: str, at: str) -> str:
    """Return the update of conversations for texts, rows of `id, sending_number, is_answer, is_person, place`.

    The number of the latest text of each counts. A contact that any text answers waits no longer; other texts, which
    are promotional, leave the conversation at its place in lists, and so change no index. AI agents pause where a
    person answers.
    """
    return f"""
  UPDATE conversations SET last_outbound_at = {at}, sending_number = latest.sending_number, version = version + 1,
    last_message_at = CASE WHEN latest.is_answered THEN {at} ELSE last_message_at END,
    waiting_since = CASE WHEN latest.is_answered THEN NULL ELSE waiting_since END,
    ai_state = CASE WHEN latest.by_person AND ai_state = 'active' THEN 'paused' ELSE ai_state END
  FROM (
    SELECT DISTINCT ON (id) id, sending_number, bool_or(is_answer) OVER (PARTITION BY id) AS is_answered,
      bool_or(is_person) OVER (PARTITION BY id) AS by_person
    FROM ({rows}) AS sent ORDER BY id, place DESC
  ) AS latest
  WHERE conversations.id = latest.id"""


def promote(rows: str, at: str) -> str:
    """Return the update of conversations for promotional texts, rows of `id, sending_number`: one text to each."""
    return f"""
  UPDATE conversations SET last_outbound_at = {at}, sending_number = sent.sending_number, version = version + 1
  FROM ({rows}) AS sent WHERE conversations.id = sent.id"""


LOCK_AT_VERSION = """
SELECT id FROM conversations WHERE id = ANY($1::bigint[]) AND version = $2 ORDER BY id FOR NO KEY UPDATE
"""
"""Lock the conversations `$1` that have the version `$2`."""
