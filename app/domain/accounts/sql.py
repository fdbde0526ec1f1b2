"""SQL fragments on accounts for the statements of other areas."""

HAS_ACCOUNTS = "SELECT EXISTS (SELECT FROM accounts)"

_SENDER = (
    "SELECT id, balance, rate, region, status, deletion_at, limits_transactional, smart_encoding, fold_accents"
    " FROM accounts"
)

FIND_SENDER = f"{_SENDER} WHERE id = $1"
"""Find the facts of the account `$1` that decide about its sends."""

LOCK = f"""
{_SENDER}, set_config('lock_timeout', $2, true)
WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE OF accounts
"""
"""Lock the accounts `$1` for a change of their balance, and wait at most `$2` for any lock of the transaction."""

OWN_VERSION = "pg_current_xact_id()::xid::text"
"""The version of the accounts that this transaction changes."""

LOCK_FREE = f"{LOCK} SKIP LOCKED"
"""Lock those of the accounts that no other transaction has locked."""

SET_BALANCES = "UPDATE accounts SET balance = b.balance FROM {rows} AS b(id, balance) WHERE accounts.id = b.id"
"""Set balances from `rows` of account id and balance."""

FIND_DELETION = """
SELECT id, status FROM accounts a WHERE deletion_at <= $1 AND id <> ALL($2::bigint[])
  AND (status = 'deleted' OR deletion_notice_at IS NULL AND NOT EXISTS (
  SELECT FROM waiting_mails w JOIN users u ON u.id = w.user_id
  WHERE w.account_id = a.id AND w.kind = 'notice' AND w.attempts = 0 AND w.due_at <= $1 AND w.expires_at > $1
    AND u.removed_at IS NULL))
ORDER BY deletion_at LIMIT 1 FOR NO KEY UPDATE OF a SKIP LOCKED
"""
"""Find the account whose deletion has been due longest at `$1`, except those of `$2`.

Its owners were reminded, and every notice to them was attempted at least once.
"""

HOLD_DELETION = """
SELECT deletion_at FROM accounts, set_config('lock_timeout', $3, true) AS patience,
  set_config('enable_seqscan', 'off', true) AS plan
WHERE id = $1 AND status = 'deleted' AND deletion_at <= $2 FOR NO KEY UPDATE OF accounts SKIP LOCKED
"""
"""Lock the deleted account `$1`, and wait at most `$3` for any other lock of the transaction.

Sequential scans are off: PostgreSQL would otherwise read a whole table to find that none of its rows remain, if its
statistics say that most rows are of this account.
"""

POSTPONE_DELETION = "UPDATE accounts SET deletion_at = $3 WHERE id = $1 AND deletion_at <= $2"
IS_DELETION_DUE = "SELECT EXISTS (SELECT FROM accounts WHERE deletion_at <= $1 AND deletion_notice_at IS NULL)"


LIMITS = "a.time_zone AS account_zone, a.weekly_cap"
"""The columns of the account `a` that decide when a limited text may leave."""


def join(account_id: str) -> str:
    """Return a join with the account `a` of an id."""
    return f"JOIN accounts a ON a.id = {account_id}"


WEIGHT = "a.weight"
"""The column of the weight of the account `a`."""


def join_people(account_id: str) -> str:
    """Return a join with the people `u` of an account: its users, except service accounts."""
    return f"JOIN users u ON u.account_id = {account_id} AND u.removed_at IS NULL AND u.role <> 'service'"


IS_OWNER = "u.role = 'owner'"
"""The condition that the user `u` is an owner."""


def is_deleted_again(account_id: str) -> str:
    """Return the condition that the second pass of the deletion of an account is planned or runs."""
    return f"(SELECT a.deletion_at > a.deleted_at FROM accounts a WHERE a.id = {account_id})"


def status_of(account_id: str) -> str:
    """Return the status of an account."""
    return f"(SELECT status FROM accounts a WHERE a.id = {account_id})"


def version_of(account_id: str) -> str:
    """Return the version of an account: that of the transaction which changed its row last."""
    return f"(SELECT xmin::text FROM accounts a WHERE a.id = {account_id})"
