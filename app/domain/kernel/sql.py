"""SQL fragments for the statements of the areas: on idempotency keys, the values of a column, and fair claims."""

MOST_TURNS = 64
"""The values that one claim by turns looks for, beside those of the oldest due rows."""

SPARE = 4
"""The number of rows that a claim by turns looks at for each that it locks: other workers have locked some of them."""

INSERT_ANSWERS = """
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::jsonb[]) ON CONFLICT DO NOTHING
"""


def join_answer(account_id: str, key: str) -> str:
    """Return a left join with the stored answer `k` to a key."""
    return f"LEFT JOIN idempotency_keys k ON k.account_id = {account_id} AND k.key = {key}"


def is_answered(account_id: str, key: str) -> str:
    """Return the condition that a key has a stored answer."""
    return f"EXISTS (SELECT {_answer(account_id, key)})"


def answered(account_id: str, key: str, name: str) -> str:
    """Return a value of the stored answer to a key, as a text; null without an answer."""
    return f"(SELECT k.answer ->> '{name}' {_answer(account_id, key)})"


def remove_answers(rows: str) -> str:
    """Return the deletion of the stored answers to the keys of rows of `account_id, key`."""
    return f"""
  DELETE FROM idempotency_keys k USING {rows} r WHERE k.account_id = r.account_id AND k.key = r.key"""


def find_values(table: str, column: str, condition: str, name: str = "waiting") -> str:
    """Return a table for `WITH RECURSIVE`: the values of a column in the rows that satisfy a condition, then a null.

    A loose index scan finds them: one step for each value, however many rows have it. It needs an index that begins
    with the column, and has the rows of the condition.
    """
    return f"""{name} AS (
  (SELECT {column} FROM {table} WHERE {condition} ORDER BY {column} LIMIT 1)
  UNION ALL
  SELECT (
    SELECT o.{column} FROM {table} o WHERE {condition} AND o.{column} > {name}.{column} ORDER BY {column} LIMIT 1
  ) FROM {name} WHERE {name}.{column} IS NOT NULL
)"""


def find_turns(table: str, column: str, waiting: str) -> str:
    """Return the query of at most `MOST_TURNS` values of a column, in order, after `$1`, in rows of a condition.

    It needs the index of `find_values`.
    """
    return f"""
WITH RECURSIVE {find_values(table, column, f"{waiting} AND {column} > $1")}
SELECT {column} FROM waiting WHERE {column} IS NOT NULL LIMIT {MOST_TURNS}
"""


def take_turns(column: str, due: str, at: str = "due_at") -> str:
    """Return tables for `WITH`, the last of which, `locked`, has the ids of at most `$3` due rows to claim.

    The values `$4` of a column, such as accounts, and those of the oldest due rows, each have their turn, however many
    rows another one has. `due` are the FROM and WHERE of the due rows `t`, which are taken in the order of `at`. It
    needs an index of them by the column and `at`, and one by `at`. Several workers claim other rows at the same time.
    """
    oldest = f"ORDER BY t.{at}, t.id LIMIT {SPARE} * $3"
    return f"""found AS (
  (SELECT t.id, t.{column} AS value, t.{at} AS at {due} {oldest})
  UNION
  SELECT next.* FROM unnest($4::bigint[]) AS w(value)
  CROSS JOIN LATERAL (SELECT t.id, t.{column}, t.{at} {due} AND t.{column} = w.value {oldest}) next
), due AS (
  SELECT id, at, row_number() OVER (PARTITION BY value ORDER BY at, id) AS turn FROM found
  ORDER BY turn, at, id LIMIT {SPARE} * $3
), locked AS (
  SELECT t.id {due} AND t.id = ANY(ARRAY(SELECT id FROM due))
  ORDER BY array_position(ARRAY(SELECT id FROM due ORDER BY turn, at, id), t.id)
  LIMIT $3 FOR UPDATE OF t SKIP LOCKED
)"""


def _answer(account_id: str, key: str) -> str:
    return f"FROM idempotency_keys k WHERE k.account_id = {account_id} AND k.key = {key}"
