"""The HTTP client that providers share."""

import httpx2

TIMEOUT = httpx2.Timeout(connect=2.0, read=5.0, write=5.0, pool=5.0)
LIMITS = httpx2.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=30.0)


def open_client() -> httpx2.AsyncClient:
    """Open a pooled client; the caller closes it.

    It follows no redirects and reads no proxy settings from the environment.
    """
    return httpx2.AsyncClient(timeout=TIMEOUT, limits=LIMITS, follow_redirects=False, trust_env=False)
