"""SQL on idempotency keys, from which the areas compose their statements."""

INSERT_ANSWERS = """
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::jsonb[]) ON CONFLICT DO NOTHING
"""


def join_answer(account_id: str, key: str) -> str:
    """Return a join with the answer `k` that was given to a key before; null if none was."""
    return f"LEFT JOIN idempotency_keys k ON k.account_id = {account_id} AND k.key = {key}"


def is_answered(account_id: str, key: str) -> str:
    """Return the condition that a key was answered."""
    return f"EXISTS (SELECT FROM idempotency_keys k WHERE k.account_id = {account_id} AND k.key = {key})"
