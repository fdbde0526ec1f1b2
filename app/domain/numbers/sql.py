"""SQL fragments on sending numbers for the statements of other areas."""

FIND_OWNER = "SELECT account_id FROM phone_numbers WHERE phone_number = $1 AND carrier = $2 AND status = 'active'"
"""Find the account that has the number `$1` at the carrier `$2`."""


def join_sender(account_id: str, number_id: str) -> str:
    """Return a left join with the active number `n` of an id, or with the primary one for a null id."""
    return f"""LEFT JOIN LATERAL (SELECT phone_number, carrier FROM phone_numbers p
  WHERE p.account_id = {account_id} AND p.status = 'active' AND p.id = coalesce({number_id}, p.id)
  ORDER BY p.is_primary DESC, p.id LIMIT 1) n ON true"""


def join_rate(number: str) -> str:
    """Return a left join with `n.parts_per_second` of an active number."""
    return f"LEFT JOIN phone_numbers n ON n.phone_number = {number} AND n.status = 'active'"
