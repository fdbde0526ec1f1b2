"""Fetches the metadata documents of OAuth clients."""

import re

from app.domain.oauth.documents import MAX_BYTES, Fetched, Unfetched
from app.providers.outbound.client import HttpClient

TIMEOUT = 5.0
HEADERS = {"accept": "application/json", "connection": "close"}
MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?([0-9]{1,9})", re.IGNORECASE)
NO_STORE = re.compile(r"(?:^|[\s,])no-(?:store|cache)\b", re.IGNORECASE)


class DocumentReader:
    """Fetches documents from URLs that may be posted to; other addresses are refused."""

    def __init__(self, poster: HttpClient, user_agent: str) -> None:
        self._poster = poster
        self._headers = {**HEADERS, "user-agent": user_agent}

    async def fetch(self, url: str) -> Fetched:
        """Fetch the document of a URL; raise `Unfetched`."""
        reply = await self._poster.get(url, self._headers, TIMEOUT, MAX_BYTES + 1)
        if reply.status is None:
            raise Unfetched(f"its address could not be read ({reply.error}).")
        if reply.status != 200:
            raise Unfetched(f"its address answered with the status {reply.status}.")
        return Fetched(reply.body, _max_age(reply.headers.get("cache-control", "")))


def _max_age(cache_control: str) -> float | None:
    """Return the seconds that a response is fresh (RFC 9111, 5.2.2)."""
    if NO_STORE.search(cache_control):
        return 0.0
    found = MAX_AGE.search(cache_control)
    return float(found[1]) if found else None
