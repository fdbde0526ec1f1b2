"""The dependencies of the authorization server: addresses, secrets and keys."""

from dataclasses import dataclass

from app.domain.accounts.tokens import Tokens
from app.domain.kernel.sealing import Seal
from app.domain.oauth.documents import Fetch
from app.domain.oauth.resources import Resources
from app.domain.oauth.signing import KeyRing


@dataclass(frozen=True, slots=True)
class Authority:
    """The authorization server's dependencies.

    `tokens` makes codes, refresh tokens and client secrets; `seal` encrypts the handles of requests; `fetch` reads
    client metadata documents; `allow_http` allows documents on this machine over http, for development.
    """

    resources: Resources
    tokens: Tokens
    seal: Seal
    key_ring: KeyRing
    fetch: Fetch
    allow_http: bool

    @property
    def issuer(self) -> str:
        """Return the issuer identifier (RFC 8414)."""
        return self.resources.api
