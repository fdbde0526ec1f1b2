"""Redis clients that detect a vanished server."""

from typing import Any

import redis
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app import keepalive

AWAY = (RedisError, OSError, RuntimeError)
"""Errors of a command while Redis is unreachable; uvloop raises `RuntimeError` on a closed connection."""


def open_redis(url: str, seconds: float, **options: Any) -> Redis:
    """Return a client with a timeout in seconds for connections and replies."""
    options = {"socket_connect_timeout": seconds, "socket_timeout": seconds, **options}
    return Redis.from_url(url, **socket_options(url), **options)


def open_blocking_redis(url: str, seconds: float, **options: Any) -> redis.Redis:
    """Return a client for threads with a timeout of one second for connections and of `seconds` for replies."""
    waits = {"socket_connect_timeout": 1, "socket_timeout": seconds}
    return redis.Redis.from_url(url, **socket_options(url), **waits, **options)


def socket_options(url: str) -> dict[str, Any]:
    """Return the keep-alive options of a client; none for a Unix socket."""
    if url.startswith("unix:"):
        return {}
    return {"socket_keepalive": True, "socket_keepalive_options": keepalive.SERVERS}
