"""Reads and adds accounts, users, keys and sessions."""

from datetime import datetime
from typing import Any

from tests.factories.tables import Rows, Source, open_pool

ACCOUNTS = Rows("accounts")
API_KEYS = Rows("api_keys")
AUDIT_ENTRIES = Rows("audit_entries")
INVITATIONS = Rows("invitations")
CREATORS = Rows("creators")
PASSWORD_LINKS = Rows("password_links")
SESSIONS = Rows("sessions")
USERS = Rows("users")
WAITING_MAILS = Rows("waiting_mails")


async def id_of_user(source: Source, **which: Any) -> int:
    """Return the id of the only user, or of the only one with the given values."""
    return await USERS.where(**which).only(source, "id")


async def add_user(source: Source, account_id: int, email: str, role: str = "member", **values: Any) -> int:
    """Add a user without a password, and return its id."""
    return await USERS.insert(source, account_id=account_id, email=email, role=role, **values)


async def multiply_users(source: Source, total: int) -> None:
    """Copy the only user until there are `count`."""
    copied = (
        "INSERT INTO users (account_id, email, role)"
        " SELECT account_id, n || email, 'member' FROM users, generate_series(2, $1::int) n"
    )
    await open_pool(source).execute(copied, total)


async def multiply_keys(source: Source, total: int) -> None:
    """Copy the oldest key until there are `count`."""
    copied = (
        "INSERT INTO api_keys (account_id, name, prefix, last_four, hash, scopes, created_by)"
        " SELECT account_id, name, prefix, last_four, hash || n::text::bytea, scopes, created_by"
        " FROM (SELECT * FROM api_keys ORDER BY id LIMIT 1) k,"
        " generate_series((SELECT count(*) + 1 FROM api_keys)::int, $1::int) n"
    )
    await open_pool(source).execute(copied, total)


async def add_session(source: Source, account_id: int, user_id: int, hash: bytes, until: datetime) -> int:
    """Open a session that ends at an instant; return its id."""
    return await SESSIONS.insert(
        source,
        account_id=account_id,
        user_id=user_id,
        hash=hash,
        address="",
        user_agent="",
        last_used_at=until,
        expires_at=until,
    )


async def add_sessions(source: Source, account_id: int, user_id: int, count: int, last_used_at: datetime) -> None:
    """Open sessions, each last used a second before the previous one and ending a day after `last_used_at`."""
    added = (
        "INSERT INTO sessions (account_id, user_id, hash, address, user_agent, last_used_at, expires_at)"
        " SELECT $1, $2, n::text::bytea, '', n::text, $4::timestamptz - n * interval '1 second', $4 + interval '1 day'"
        " FROM generate_series(1, $3::int) n"
    )
    await open_pool(source).execute(added, account_id, user_id, count, last_used_at)


async def add_link(source: Source, account_id: int, user_id: int, hash: bytes, until: datetime) -> int:
    """Add a link to set a new password that ends at an instant, and return its id."""
    return await PASSWORD_LINKS.insert(source, account_id=account_id, user_id=user_id, hash=hash, expires_at=until)
