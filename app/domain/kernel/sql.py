"""SQL fragments for the statements of the areas: on idempotency keys, and on the values of a column."""

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


def _answer(account_id: str, key: str) -> str:
    return f"FROM idempotency_keys k WHERE k.account_id = {account_id} AND k.key = {key}"
