"""SQL fragments on connections to carriers for the statements of other areas."""

from app.domain.carriers.models import SANDBOX, WORKER

HAS_ROLE = "SELECT EXISTS (SELECT FROM carrier_connections WHERE role = $1)"
"""Whether a connection is served by processes of a role."""

REACHES_PHONES = f"SELECT EXISTS (SELECT FROM carrier_connections WHERE kind <> '{SANDBOX}')"
"""Whether there is a connection to a carrier other than the sandbox."""


def is_sending(key: str, role: str, keys: str) -> str:
    """Return the condition that processes of a role hand off the texts of a connection now: it is not paused.

    `keys` are those of the connections that a process serves, null for all of its role. The texts of a key without a
    connection are the workers', which fail them.
    """
    return _is_served(key, role, keys, "k.status = 'active' AND ")


def is_served(key: str, role: str, keys: str) -> str:
    """Return the condition that processes of a role ask the carrier of a connection for its texts, also of a paused."""
    return _is_served(key, role, keys)


def reaches_phones(key: str) -> str:
    """Return the condition that a connection is to a carrier other than the sandbox; it looks up one row by index."""
    return f"coalesce((SELECT k.kind <> '{SANDBOX}' FROM carrier_connections k WHERE k.key = {key}), false)"


def serves(key: str, account_id: str) -> str:
    """Return the condition that a connection is an account's own, or the whole installation's."""
    return (
        f"EXISTS (SELECT FROM carrier_connections k WHERE k.key = {key}"
        f" AND (k.account_id IS NULL OR k.account_id = {account_id}))"
    )


def _is_served(key: str, role: str, keys: str, condition: str = "") -> str:
    served = f"{condition}k.role = {role}::text AND ({keys}::text[] IS NULL OR k.key = ANY({keys}::text[]))"
    return f"coalesce((SELECT {served} FROM carrier_connections k WHERE k.key = {key}), {role}::text = '{WORKER}')"
