"""Reads and changes OAuth clients, grants and tokens."""

from datetime import timedelta

from tests.factories.tables import Rows, Source, open_pool

OAUTH_CLIENTS = Rows("oauth_clients")
OAUTH_CODES = Rows("oauth_codes")
OAUTH_GRANTS = Rows("oauth_grants")
OAUTH_REFRESH_TOKENS = Rows("oauth_refresh_tokens")
OAUTH_REQUESTS = Rows("oauth_requests")
OAUTH_SIGNING_KEYS = Rows("oauth_signing_keys")


async def lifetime(source: Source, rows: Rows) -> timedelta:
    """Return the lifetime of the newest row, from its creation."""
    begins, ends = max(await rows.read(source, "created_at", "expires_at"))
    return ends - begins


async def add_clients(source: Source, account_id: int | None, count: int, kind: str = "managed") -> None:
    """Add clients with the names 1, 2, 3 and so on."""
    added = (
        "INSERT INTO oauth_clients (account_id, client_id, kind, name, redirect_uris, scopes, auth_method, created_by)"
        " SELECT $1, n::text, $3, 'x', '{}', '{}', 'none', 'test' FROM generate_series(1, $2::int) n"
    )
    await open_pool(source).execute(added, account_id, count, kind)
