"""The dependencies of the authorization server: addresses, secrets and keys."""

from dataclasses import dataclass

from app.domain.accounts.tokens import Tokens
from app.domain.kernel.sealing import Seal
from app.domain.oauth.documents import Fetch
from app.domain.oauth.resources import Resources
from app.domain.oauth.signing import KeyRing


@dataclass(frozen=True, slots=True)
class Authority:
    """The authorization server's means.

    `tokens` makes codes, refresh tokens and client secrets, `seal` the handles of requests; `fetch` reads the documents
    that clients describe themselves with, and `allow_http` says that one may stand at an address of this machine.
    """

    resources: Resources
    tokens: Tokens
    seal: Seal
    key_ring: KeyRing
    fetch: Fetch
    allow_http: bool

    @property
    def issuer(self) -> str:
        """Return the name under which tokens are issued (RFC 8414)."""
        return self.resources.api
