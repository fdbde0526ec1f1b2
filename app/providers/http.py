"""The HTTP client of the providers."""

import ssl
from pathlib import Path

import httpx2

TIMEOUT = httpx2.Timeout(connect=2.0, read=5.0, write=5.0, pool=5.0)
LIMITS = httpx2.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=30.0)


def open_client(trusted: Path | None = None) -> httpx2.AsyncClient:
    """Open a pooled client, which also trusts the certificates in a file; the caller closes it.

    It follows no redirects and ignores proxy settings of the environment.
    """
    verify: bool | ssl.SSLContext = True
    if trusted:
        verify = ssl.create_default_context()
        verify.load_verify_locations(trusted)
    return httpx2.AsyncClient(timeout=TIMEOUT, limits=LIMITS, follow_redirects=False, trust_env=False, verify=verify)
