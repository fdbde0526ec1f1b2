"""SQL fragments on sending numbers for the statements of other areas."""

from app.domain.carriers import sql as carriers

REACHES_PHONES = carriers.reaches_phones("p.carrier")
"""The condition that a number `p` is at a carrier other than the sandbox."""

ACTIVE = (
    f"(SELECT p.*, {REACHES_PHONES} AS reaches_phones FROM phone_numbers p"
    " WHERE p.account_id = {account_id} AND p.status = 'active' AND NOT p.is_paused)"
)
"""The active numbers of an account that are not paused, with the column `reaches_phones`."""

FIND_OWNER = f"""
SELECT p.account_id, p.carrier FROM phone_numbers p
WHERE p.phone_number = $1 AND p.status = 'active' AND (p.carrier = $2 OR {carriers.serves("$2", "p.account_id")})
"""
"""Find the account that has the number `$1`, and its connection, for a text that the connection `$2` brought.

A text may come through the connection that a number had before it was moved, but not through one of another account.
"""


FIND_CONNECTION = "SELECT carrier FROM phone_numbers WHERE phone_number = $1 AND status = 'active'"
"""Find the key of the connection of the active number `$1`, of any account."""


def join_owner(number: str, carrier: str) -> str:
    """Return a left join with the active number `p` of a connection."""
    return f"LEFT JOIN phone_numbers p ON p.phone_number = {number} AND p.status = 'active' AND p.carrier = {carrier}"


def join_sender(account_id: str, number_id: str, usual_number: str) -> str:
    """Return a left join with the active number `n` that a text is sent from: that of an id, or the one to choose.

    With the limit, PostgreSQL chooses once for each text; in a hash join, it would twice.
    """
    return f"""LEFT JOIN LATERAL (SELECT n.* FROM phone_numbers n WHERE n.account_id = {account_id}
  AND n.status = 'active' AND NOT n.is_paused AND n.id = coalesce({number_id}, {choose(account_id, usual_number)})
  LIMIT 1) n ON true"""


def choose(account_id: str, usual_number: str) -> str:
    """Return the id of the active number for a text whose sender is not named, or null.

    It is the usual number, or the primary one where that is null, inactive or paused. Numbers of the sandbox count only
    where the account has no other, paused or not: they reach no phones. The first two queries read one row, also of an
    account with many numbers.
    """
    own = f"FROM phone_numbers p WHERE p.account_id = {account_id} AND p.status = 'active' AND NOT p.is_paused"
    return f"""coalesce(
    (SELECT p.id {own} AND p.phone_number = {usual_number} AND {REACHES_PHONES}),
    (SELECT p.id {own} AND p.is_primary AND {REACHES_PHONES}),
    (SELECT p.id {own} AND ({REACHES_PHONES} OR NOT {_has_real(account_id)})
      ORDER BY {REACHES_PHONES} DESC, p.phone_number IS NOT DISTINCT FROM {usual_number} DESC,
      p.is_primary DESC, p.id LIMIT 1))"""


def join_rate(number: str) -> str:
    """Return a left join with `n.parts_per_second` of an active number."""
    return f"LEFT JOIN phone_numbers n ON n.phone_number = {number} AND n.status = 'active'"


def is_active(number: str, account_id: str) -> str:
    """Return the condition that an account has an active number."""
    return f"{find_carrier(number, account_id)} IS NOT NULL"


MOST_REFUSALS = 3
"""The refusals in a row of an unregistered number after which it sends nothing more until it is resumed."""

COUNT_REFUSALS = f"""
WITH counted AS (
  SELECT p.id, p.refusals >= {MOST_REFUSALS} AS was_refused,
    CASE WHEN r.is_delivered THEN r.refusals ELSE p.refusals + r.refusals END AS refusals
  FROM phone_numbers p JOIN unnest($1::bigint[], $2::text[], $3::boolean[], $4::bigint[])
    AS r(account_id, number, is_delivered, refusals) ON p.account_id = r.account_id AND p.phone_number = r.number
  WHERE p.status = 'active' AND (p.refusals > 0 OR r.refusals > 0) ORDER BY p.id FOR NO KEY UPDATE OF p
)
UPDATE phone_numbers p SET refusals = c.refusals, is_paused = p.is_paused OR c.refusals >= {MOST_REFUSALS}
FROM counted c WHERE p.id = c.id
RETURNING p.id, p.account_id, p.phone_number, c.refusals >= {MOST_REFUSALS} AND NOT c.was_refused AS is_newly_refused
"""
"""Count the last refusals of numbers; those before a delivery count no more. Pause the numbers with too many."""


def is_refused(number: str, account_id: str) -> str:
    """Return the condition that the carrier of an active number of an account refuses it as not registered."""
    return (
        f"EXISTS (SELECT FROM phone_numbers p WHERE p.phone_number = {number} AND p.status = 'active'"
        f" AND p.account_id = {account_id} AND p.refusals >= {MOST_REFUSALS})"
    )


def find_carrier(number: str, account_id: str, lock: str = "") -> str:
    """Return the connection of an active number of an account, or null; `lock` is a clause such as FOR SHARE."""
    return (
        f"(SELECT p.carrier FROM phone_numbers p WHERE p.phone_number = {number} AND p.status = 'active'"
        f" AND p.account_id = {account_id} {lock})"
    )


def find_id(number: str, account_id: str) -> str:
    """Return the id of an active number of an account, or null."""
    own = f"p.phone_number = {number} AND p.status = 'active' AND p.account_id = {account_id}"
    return f"(SELECT p.id FROM phone_numbers p WHERE {own})"


def number_of(id: str) -> str:
    """Return the number with an id, or null."""
    return f"(SELECT p.phone_number FROM phone_numbers p WHERE p.id = {id})"


def _has_real(account_id: str) -> str:
    """Return the condition that an account has an active number at a carrier, which may be paused."""
    real = carriers.reaches_phones("r.carrier")
    return f"EXISTS (SELECT FROM phone_numbers r WHERE r.account_id = {account_id} AND r.status = 'active' AND {real})"
