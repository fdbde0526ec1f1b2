"""SQL fragments on the deliverability of numbers for the statements of other areas."""

POOR_RATE, FEWEST = 0.8, 30
"""The delivery rate below which a number is poor, and the number of results that it needs for a judgement."""


def is_poor(account_id: str, number: str) -> str:
    """Return the condition that fewer than four of five texts of a number were delivered in the last seven days."""
    return (
        f"(SELECT coalesce(sum(delivered) < {POOR_RATE} * sum(delivered + failed)"
        f" AND sum(delivered + failed) >= {FEWEST}, false) FROM number_hours h WHERE h.account_id = {account_id}"
        f" AND h.number = {number} AND h.hour >= now() - interval '7 days')"
    )
