"""SQL on grants and clients for the statements of other areas.

`includes(wide, narrow)` is the condition that the scopes of one column include those of another.
"""

from collections.abc import Callable

Includes = Callable[[str, str], str]

FIND_OWN = """
SELECT id FROM oauth_grants WHERE user_id = CAST(:user_id AS bigint)
UNION
SELECT g.id FROM oauth_grants g JOIN oauth_grants mine ON mine.id = CAST(:grant_id AS bigint)
WHERE g.client_id = mine.client_id AND g.user_id = mine.user_id
"""
"""Find the grants of the user `:user_id`, or those of the user and the client of the grant `:grant_id`."""

_VALID_OF_SAME = """
SELECT g.id FROM oauth_grants g JOIN oauth_grants mine ON mine.id = CAST(:grant_id AS bigint)
WHERE g.client_id = mine.client_id AND g.user_id = mine.user_id AND g.account_id = mine.account_id
  AND g.resource = mine.resource AND g.revoked_at IS NULL AND g.expires_at > :now
"""


def find_earlier(includes: Includes) -> str:
    """Return the statement that finds the valid earlier grants of the user and the client of the grant `:grant_id`.

    Those with a scope that it lacks are left out.
    """
    return f"{_VALID_OF_SAME} AND g.id < mine.id AND {includes('mine.scopes', 'g.scopes')}"


def find_other(includes: Includes) -> str:
    """Return the statement that finds another valid grant of the user and the client of the grant `:grant_id`.

    It has all scopes of the grant. One whose code was not exchanged yet is no connection: the user does not see it, and
    cannot end it.
    """
    return f"""{_VALID_OF_SAME} AND g.id <> mine.id AND {includes("g.scopes", "mine.scopes")}
  AND g.last_used_at IS NOT NULL ORDER BY g.id DESC LIMIT 1
"""


def find_later(grant_id: str, used_at: str, includes: Includes) -> str:
    """Return the statement that finds the later grants of a grant's user and client with its scopes.

    They were made while the grant was valid and after `used_at`: jobs and campaigns that it began then are handed on to
    them.
    """
    return f"""
SELECT later.id FROM oauth_grants g JOIN oauth_grants later
  ON later.client_id = g.client_id AND later.user_id = g.user_id AND later.account_id = g.account_id
  AND later.resource = g.resource
WHERE g.id = {grant_id} AND later.id > g.id AND {includes("later.scopes", "g.scopes")}
  AND later.last_used_at IS NOT NULL AND later.created_at > {used_at}
  AND later.created_at < least(g.expires_at, g.revoked_at)
"""


def find_user(grant_id: str) -> str:
    """Return the statement that finds the `user_id` of a grant."""
    return f"SELECT user_id FROM oauth_grants WHERE id = {grant_id}"


def find_creator(grant_id: str) -> str:
    """Return the statement that finds the `creator_id` of the client of a grant."""
    return f"SELECT c.creator_id FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id WHERE g.id = {grant_id}"


def join(grant_id: str) -> str:
    """Return joins with the grant `g` of an id and with its client `c`, by look-ups of primary keys."""
    return f"""LEFT JOIN LATERAL (SELECT * FROM oauth_grants WHERE id = {grant_id} OFFSET 0) AS g ON true
  LEFT JOIN LATERAL (SELECT * FROM oauth_clients WHERE id = g.client_id OFFSET 0) AS c ON true"""
