"""SQL fragments on suppressions and consent records for the statements of other areas.

Arguments are SQL expressions of the enclosing statement.
"""


def is_suppressed(account_id: str, phone: str) -> str:
    """Return the condition that a phone is suppressed for the whole account."""
    return (
        f"EXISTS (SELECT FROM suppressions s WHERE s.account_id = {account_id} AND s.phone = {phone}"
        " AND s.scope_type = 'account')"
    )


def has_opted_out_since(account_id: str, phone: str, instant: str) -> str:
    """Return the condition that an opt-out of a phone was recorded at an instant or later."""
    return (
        f"EXISTS (SELECT FROM consents k WHERE k.account_id = {account_id} AND k.phone = {phone}"
        f" AND k.kind IN ('opt_out', 'revoked_other') AND k.recorded_at >= {instant})"
    )


def has_agreed(account_id: str, phone: str) -> str:
    """Return the condition that a consent of the owner of a phone is recorded: an opt-in, or one that was imported.

    What the sender of a text attests is none.
    """
    return (
        f"EXISTS (SELECT FROM consents k WHERE k.account_id = {account_id} AND k.phone = {phone}"
        " AND (k.kind IN ('opt_in', 're_opt_in') OR k.kind = 'attested' AND k.method = 'import'))"
    )


RECORD_OPT_IN = """
INSERT INTO consents (account_id, phone, kind, method, text, message_id, actor)
VALUES ($1, $2, 'opt_in', 'keyword', $3, $4, $5)
"""
"""Record that the phone `$2` of the account `$1` opted in by the text `$3`, the message `$4`."""


def record_attestations(rows: str) -> str:
    """Return the insert of consent records from rows of `account_id, phone, method, message_id, actor, at`."""
    return f"""
  INSERT INTO consents (account_id, phone, kind, method, message_id, actor, recorded_at)
  SELECT account_id, phone, 'attested', method, message_id, actor, at FROM ({rows}) AS attested"""
