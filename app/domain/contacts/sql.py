"""SQL fragments on contacts for the statements of other areas. A joined contact is `c`."""

from collections.abc import Container

from app.domain.consent import sql as consent

PERSON = "c.first_name, c.last_name, c.email"
"""The columns that identify a contact in events, besides its phone."""

PLACEHOLDERS = ("first_name", "last_name", "email", "phone", "created_at", "custom_fields")
"""The columns with the values of the placeholders that contacts supply, by their names."""

GATES = "c.status AS contact_status, c.dnd_sms, c.held_until, c.reach"
"""The columns that decide whether a contact may be sent a message."""

STAGE, TAGS = "c.pipeline_stage", "c.tags"
"""The columns of the stage of a contact, and of its tags."""

ZONE = "c.time_zone AS contact_zone"
"""The column of the time zone in which a contact is known to be."""


def placeholders(columns: Container[str]) -> str:
    """Return some columns of `PLACEHOLDERS`; the others are null, which costs no reader anything."""
    return ", ".join(f"c.{each}" if each in columns else f"NULL AS {each}" for each in PLACEHOLDERS)


ADD = """
INSERT INTO contacts (account_id, phone, source)
SELECT DISTINCT account_id, phone, 'api' FROM unnest($1::bigint[], $2::text[]) AS r(account_id, phone)
ORDER BY account_id, phone
ON CONFLICT (account_id, phone) DO UPDATE SET phone = excluded.phone
RETURNING id, account_id, phone, pipeline_stage, source, status, created_at, xmax = 0 AS is_new
"""
"""Add the contacts of the accounts `$1` with the phones `$2`; lock and return the existing ones too."""


def opt_out_suppressed(ids: str) -> str:
    """Return the statement that opts out the added contacts of some ids whose phones have opted out by now.

    Those that add contacts run it after the addition: a recorded opt-out waits for it, or is committed before.
    """
    return f"""
UPDATE contacts c SET status = 'opted_out'
WHERE c.id = ANY(CAST({ids} AS bigint[])) AND c.status = 'active' AND {consent.is_suppressed("c.account_id", "c.phone")}
RETURNING c.id
"""


def join(contact_id: str) -> str:
    """Return a join with the contact of an id."""
    return f"JOIN contacts c ON c.id = {contact_id}"


def has_new_phone(instant: str) -> str:
    """Return the condition that the contact `c` has got another phone since an instant."""
    return f"coalesce(c.phone_changed_at > {instant}, false)"


def join_by_phone(account_id: str, phone: str) -> str:
    """Return a left join with the contact that has a phone."""
    return f"LEFT JOIN contacts c ON c.account_id = {account_id} AND c.phone = {phone}"


def walk(account_id: str, after: str, until: str, limit: str, which: str = "true") -> str:
    """Return the next contacts `c` of an account after a phone, in the order of phones, with ids up to one."""
    return (
        f"(SELECT * FROM contacts WHERE account_id = {account_id} AND phone > {after} AND id <= {until} AND {which}"
        f" ORDER BY phone LIMIT {limit}) c"
    )


SOURCE = "contacts c"
"""The contacts `c` of all accounts."""

EXPLAIN = "SELECT {columns} FROM contacts c WHERE c.account_id = :account_id AND c.id = :contact_id"
"""Read `columns` of the contact `:contact_id` of `:account_id`."""

SENDABLE = "c.status = 'active' AND NOT c.dnd_sms AND c.held_until IS NULL"
"""The condition that no opt-out, do-not-disturb or hold keeps a contact from a text."""

IS_REACHED = "coalesce(c.reach = 'proven', true)"
"""The condition that no carrier has said that no text reaches the phone of a contact."""

KEEP_VERDICTS = """
WITH changed AS (
  SELECT c.id, r.verdict FROM contacts c JOIN ({results}) r ON r.contact_id = c.id AND r.phone = c.phone
  WHERE c.reach IS DISTINCT FROM r.verdict AND (r.verdict IS NOT NULL OR c.reach IN ({verdicts}))
  ORDER BY c.id FOR NO KEY UPDATE OF c
)
UPDATE contacts c SET reach = changed.verdict FROM changed WHERE c.id = changed.id
"""
"""Keep verdicts on phones, from `results`: rows of `contact_id, phone, verdict`; a text without one has arrived."""

COUNT = f"""
SELECT count(*), count(*) FILTER (WHERE {SENDABLE}) FROM {{source}} c WHERE c.account_id = :account_id AND ({{which}})
"""
"""Count the contacts of `:account_id` that satisfy `which`, and those of them that may be sent a text."""

NEWEST = """
SELECT f.id FROM (
  SELECT c.id, c.created_at FROM {source} c WHERE c.account_id = :account_id AND ({which}) {barrier}
) f ORDER BY f.created_at DESC, f.id DESC LIMIT {limit}
"""
"""Find the newest contacts of `:account_id` that satisfy `which`; with the barrier `OFFSET 0`, after all were found."""


ONLY = "(SELECT * FROM contacts WHERE id = :contact_id)"
"""A source of the contact `:contact_id` alone."""


def one_in(number: int) -> str:
    """Return a source of one in so many of the contacts of `:account_id`: nothing else is looked at of the others."""
    return f"(SELECT * FROM contacts WHERE account_id = :account_id AND id % {number} = 0 OFFSET 0)"


def newest(number: int) -> str:
    """Return a source of so many newest contacts of `:account_id`.

    The planner knows by it that few are looked at, and looks each one up in other tables.
    """
    return f"(SELECT * FROM contacts WHERE account_id = :account_id ORDER BY created_at DESC, id DESC LIMIT {number})"


MEMBERS = f"""
SELECT c.id, c.phone, ({{which}}) IS TRUE
FROM {walk("CAST(:account_id AS bigint)", "CAST(:after AS text)", "CAST(:until AS bigint)", "CAST(:limit AS bigint)")}
ORDER BY c.phone
"""
"""Tell of each of the next `:limit` contacts of `:account_id` whether it satisfies `which`."""

FIND_LAST = """
SELECT count(*), max(phone) FROM (
  SELECT phone FROM contacts WHERE account_id = :account_id AND phone > :after ORDER BY phone LIMIT :limit
) found
"""
"""Find the number of the next `:limit` contacts of `:account_id` after a phone, and the last phone of them."""

LAST_ID = "SELECT coalesce(max(id), 0) FROM contacts"
"""Find the id of the newest contact of all accounts."""

_IS_IN_AUDIENCE = """
(cardinality(CAST(:tags AS text[])) = 0 OR c.tags && CAST(:tags AS text[]))
  AND (CAST(:stage AS text) IS NULL OR c.pipeline_stage = CAST(:stage AS text))
  AND (cardinality(CAST(:ids AS bigint[])) = 0 OR c.id = ANY(CAST(:ids AS bigint[]))) AND ({which})
"""
COUNT_AUDIENCE = f"""
SELECT count(*) FILTER (WHERE {_IS_IN_AUDIENCE}), count(*), max(c.phone)
FROM {walk("CAST(:account_id AS bigint)", "CAST(:after AS text)", "CAST(:until AS bigint)", "CAST(:limit AS bigint)")}
"""
"""Count those of the next `:limit` contacts of `:account_id` with one of the tags, the stage and one of the ids, where
any are given, that satisfy `which`; return also the number and the last phone of all that were looked at.
"""

COUNT_NEW_AUDIENCE = f"""
SELECT count(*) FILTER (WHERE {_IS_IN_AUDIENCE}) FROM (SELECT * FROM contacts WHERE id > :until ORDER BY id OFFSET 0) c
WHERE c.account_id = :account_id
"""
"""Count those of the contacts of `:account_id` with ids after one, as `COUNT_AUDIENCE` does."""
