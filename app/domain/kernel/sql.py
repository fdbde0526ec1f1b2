"""SQL fragments on idempotency keys for the statements of the areas."""

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


def _answer(account_id: str, key: str) -> str:
    return f"FROM idempotency_keys k WHERE k.account_id = {account_id} AND k.key = {key}"
