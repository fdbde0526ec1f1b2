"""SQL fragments for the statements of the areas: on idempotency keys, the values of a column, and fair claims."""

MOST_TURNS = 64
"""The most values that one claim by turns looks for, beside those of the oldest due rows."""

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


def take_turns(table: str, column: str, waiting: str, due: str, at: str = "due_at") -> str:
    """Return tables for `WITH RECURSIVE`, the last of which, `locked`, has the ids of at most `$3` due rows to claim.

    The values of a column, such as the accounts, have turns: those of the oldest due rows, and `MOST_TURNS` others from
    a random one on, so that none waits for all rows of another. `due` are the FROM and WHERE of the due rows `t`, which
    are taken in the order of `at`; `waiting` is a condition that these and few other rows satisfy. It needs an index
    of the rows of the condition by the column and `at`, and one by `at`.
    """
    found = f"SELECT {column} FROM {table} WHERE {waiting}"
    first, last = f"({found} ORDER BY {column} LIMIT 1)", f"({found} ORDER BY {column} DESC LIMIT 1)"
    oldest = f"ORDER BY t.{at}, t.id LIMIT $3"
    return f"""walk AS (
  SELECT coalesce(({found} AND {column} >= begin.value ORDER BY {column} LIMIT 1), {first}) AS value
  FROM (SELECT {first} + (random() * ({last} - {first}))::bigint AS value) begin
  UNION
  SELECT coalesce(({found} AND {column} > walk.value ORDER BY {column} LIMIT 1), {first}) FROM walk
), found AS (
  (SELECT t.id, t.{column} AS value, t.{at} AS at {due} {oldest})
  UNION
  SELECT next.* FROM (SELECT value FROM walk LIMIT {MOST_TURNS}) w
  CROSS JOIN LATERAL (SELECT t.id, t.{column}, t.{at} {due} AND t.{column} = w.value {oldest}) next
), due AS (
  SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY value ORDER BY at, id) AS turn FROM found) numbered
  ORDER BY turn, at, id LIMIT $3
), locked AS (
  SELECT t.id {due} AND t.id = ANY(ARRAY(SELECT id FROM due)) FOR UPDATE OF t SKIP LOCKED
)"""


def _answer(account_id: str, key: str) -> str:
    return f"FROM idempotency_keys k WHERE k.account_id = {account_id} AND k.key = {key}"
