"""SQL fragments on sending numbers for the statements of other areas."""

from app.domain.carriers import sql as carriers

ACTIVE = "(SELECT * FROM phone_numbers WHERE account_id = {account_id} AND status = 'active')"
"""The active numbers of an account."""

FIND_OWNER = f"""
SELECT p.account_id, p.carrier FROM phone_numbers p
WHERE p.phone_number = $1 AND p.status = 'active' AND (p.carrier = $2 OR {carriers.serves("$2", "p.account_id")})
"""
"""Find the account that has the number `$1`, and its connection, for a text that the connection `$2` brought.

A text may come through the connection that a number had before it was moved, but not through one of another account.
"""


def join_sender(account_id: str, number_id: str, usual_number: str) -> str:
    """Return a left join with the active number `n` that a text is sent from.

    It is the number of an id; for a null id the usual number; for a null or inactive one the primary number.
    """
    active = f"p.account_id = {account_id} AND p.status = 'active'"
    return f"""LEFT JOIN phone_numbers n ON n.account_id = {account_id} AND n.status = 'active' AND n.id = coalesce(
  {number_id},
  (SELECT id FROM phone_numbers p WHERE {active} AND p.phone_number = {usual_number}),
  (SELECT id FROM phone_numbers p WHERE {active} ORDER BY is_primary DESC, id LIMIT 1))"""


def join_rate(number: str) -> str:
    """Return a left join with `n.parts_per_second` of an active number."""
    return f"LEFT JOIN phone_numbers n ON n.phone_number = {number} AND n.status = 'active'"


def is_active(number: str, account_id: str) -> str:
    """Return the condition that an account has an active number."""
    return f"{find_carrier(number, account_id)} IS NOT NULL"


def find_carrier(number: str, account_id: str) -> str:
    """Return the connection of an active number of an account, or null."""
    return (
        f"(SELECT p.carrier FROM phone_numbers p WHERE p.phone_number = {number} AND p.status = 'active'"
        f" AND p.account_id = {account_id})"
    )
