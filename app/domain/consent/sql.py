"""SQL fragments on suppressions and consent records for the statements of other areas.

Arguments are SQL expressions of the enclosing statement.
"""


def is_suppressed(account_id: str, phone: str) -> str:
    """Return the condition that a phone is suppressed for the whole account."""
    return f"EXISTS ({_find_suppression(account_id, phone)})"


OPTED_OUT_AT = "s.created_at"
"""The time of the opt-out, in the suppression `s`."""


def is_suppressed_with(account_id: str, phone: str, condition: str) -> str:
    """Return the condition that a phone has an account-wide suppression `s` that satisfies a condition."""
    return f"EXISTS ({_find_suppression(account_id, phone)} AND {condition})"


def _find_suppression(account_id: str, phone: str) -> str:
    return (
        f"SELECT FROM suppressions s WHERE s.account_id = {account_id} AND s.phone = {phone}"
        " AND s.scope_type = 'account'"
    )


def has_opted_out_since(account_id: str, phone: str, instant: str) -> str:
    """Return the condition that an opt-out of a phone was recorded at an instant or later."""
    return (
        f"EXISTS (SELECT FROM consents k WHERE k.account_id = {account_id} AND k.phone = {phone}"
        f" AND k.kind IN ('opt_out', 'revoked_other') AND k.recorded_at >= {instant})"
    )


def has_agreed(account_id: str, phone: str) -> str:
    """Return the condition that a consent of the owner of a phone is recorded: an opt-in, or one that was imported.

    An attestation by the sender of a text is none.
    """
    return (
        f"EXISTS (SELECT FROM consents k WHERE k.account_id = {account_id} AND k.phone = {phone}"
        " AND (k.kind IN ('opt_in', 're_opt_in') OR k.kind = 'attested' AND k.method = 'import'))"
    )


HOLDS = 7_236_456
"""Seed of the keys of this area's advisory locks, one for each phone of an account."""


def _key(account_id: str, phone: str) -> str:
    return f"hashtextextended(CAST({account_id} AS bigint) || ' ' || CAST({phone} AS text), {HOLDS})"


STOP_CALLS = f"SELECT pg_advisory_xact_lock({_key(':account_id', ':phone')})"
"""Let no call with a text to the phone `:phone` begin until the transaction ends, and wait for those that begin now."""

STOP_MANY_CALLS = f"""
SELECT pg_advisory_xact_lock({_key(":account_id", "phone")}) FROM unnest(CAST(:phones AS text[])) AS phone
"""
"""Do the same for the phones `:phones`, in their order."""


def may_call(account_id: str, phone: str) -> str:
    """Return an expression that keeps a phone from opting out until the transaction ends; false if it does so now.

    Facts about the phone that a later statement of the transaction reads hold until the transaction ends.
    """
    return f"pg_try_advisory_xact_lock_shared({_key(account_id, phone)})"


RECORD_OPT_IN = """
INSERT INTO consents (account_id, phone, kind, method, text, message_id, actor, occurred_at)
VALUES ($1, $2, 'opt_in', 'keyword', $3, $4, $5,
  CASE WHEN $6::text::timestamptz < now() - interval '10 minutes' THEN $6::text::timestamptz END)
"""
"""Record that the phone `$2` of the account `$1` opted in by the text `$3`, the message `$4`, that was sent at `$6`.

That of a text that has arrived late has the time at which it was sent.
"""


def record_attestations(rows: str) -> str:
    """Return the insert of consent records from rows of `account_id, phone, method, message_id, actor, at`."""
    return f"""
  INSERT INTO consents (account_id, phone, kind, method, message_id, actor, recorded_at)
  SELECT account_id, phone, 'attested', method, message_id, actor, at FROM ({rows}) AS attested"""
