"""Checks that keep user-supplied URLs away from internal networks."""

from collections.abc import Sequence
from functools import lru_cache

from app.domain.webhooks.errors import InvalidUrl
from app.providers.outbound.addresses import Network, is_public, is_within
from app.providers.outbound.target import Target, read_url


class Guard:
    """Allows URLs and addresses that are public or in `allow_networks`."""

    def __init__(self, allow_http: bool, allow_networks: Sequence[Network]) -> None:
        self._allow_http = allow_http
        self._allow_networks = tuple(allow_networks)
        self.allows = lru_cache(maxsize=4096)(self._allows)

    def read(self, url: str) -> Target:
        """Return the target of a URL; raise `InvalidUrl` with the reason."""
        return read_url(url, self._allow_http)

    def check(self, url: str) -> str:
        """Return the normalized URL; raise `InvalidUrl` when it can never be posted to.

        Names are not looked up here: their addresses are checked at every post.
        """
        target = self.read(url)
        if not self._may_be_allowed(target):
            raise InvalidUrl(
                reason=f"The URL points to {target.host}, which is not on the public internet. Use a public host."
            )
        return target.url

    def _may_be_allowed(self, target: Target) -> bool:
        if target.is_address:
            return self.allows(target.host)
        if target.host == "localhost" or target.host.endswith(".localhost"):  # RFC 6761: always loopback
            return self.allows("127.0.0.1") or self.allows("::1")
        return True

    def _allows(self, address: str) -> bool:
        """Return whether a connection to an address is allowed."""
        return is_within(address, self._allow_networks) or is_public(address)
