"""Redis clients that detect a vanished server."""

from typing import Any

import redis
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app import keepalive

AWAY = (RedisError, OSError, RuntimeError)
"""What a command raises while Redis is away; uvloop raises `RuntimeError` on a connection that the system closed."""


def open_redis(url: str, seconds: float, **options: Any) -> Redis:
    """Return a client that waits for a connection, and for each answer, at most so many seconds."""
    waits = {"socket_connect_timeout": seconds, "socket_timeout": seconds}
    return Redis.from_url(url, **socket_options(url), **{**waits, **options})  # pyright: ignore[reportArgumentType]


def open_blocking_redis(url: str, seconds: float, **options: Any) -> redis.Redis:
    """Return a client for threads that waits a second for a connection, and at most so many for each answer."""
    waits = {"socket_connect_timeout": 1, "socket_timeout": seconds}
    return redis.Redis.from_url(url, **socket_options(url), **waits, **options)


def socket_options(url: str) -> dict[str, Any]:
    """Return the options of a client whose sockets are watched; a Unix socket takes none."""
    if url.startswith("unix:"):
        return {}
    return {"socket_keepalive": True, "socket_keepalive_options": keepalive.SERVERS}
