# pyrefly: ignore-errors[bad-override]
"""Clients, codes and tokens in Authlib's interfaces."""

from dataclasses import dataclass

from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin

from app.domain.accounts.tokens import Tokens
from app.domain.grants.models import Client
from app.domain.oauth import clients, redirects
from app.domain.oauth.grants import Found
from app.domain.oauth.models import AuthorizationCode
from app.domain.oauth.queries import LiveGrant
from app.domain.oauth.resources import join


@dataclass(frozen=True, slots=True)
class ClientView(ClientMixin):
    """A client; `has_live_secret` is false when the creator of its secret has ended."""

    row: Client
    tokens: Tokens
    has_live_secret: bool = True

    def get_client_id(self) -> str:
        """Return its id."""
        return self.row.client_id

    def get_default_redirect_uri(self) -> None:
        """Return None, because the redirect URI is required."""

    def get_allowed_scope(self, scope: str | None) -> str:
        """Return the requested scope; `Policy` limits it later, by the resource."""
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Return whether a redirect URI is one of the client's."""
        return redirects.allows(self.row.redirect_uris, redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        """Return whether a secret is the client's."""
        return self.has_live_secret and clients.has_secret(self.row, self.tokens, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Return whether a client may use an authentication method: any with a secret, if it has one."""
        return (method == "none") == (self.row.secret_hash is None)

    def check_response_type(self, response_type: str) -> bool:
        """Return whether a client may use a response type."""
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        """Return whether a client may use a grant type."""
        return grant_type in clients.GRANT_TYPES


@dataclass(frozen=True, slots=True)
class FoundView(AuthorizationCodeMixin, TokenMixin):
    """A valid code or refresh token of the client."""

    found: Found

    @property
    def code_challenge(self) -> str | None:
        """Return the PKCE challenge of a code."""
        return self.found.row.code_challenge if isinstance(self.found.row, AuthorizationCode) else None

    @property
    def code_challenge_method(self) -> str:
        """Return the only supported method."""
        return "S256"

    def get_redirect_uri(self) -> str:
        """Return the redirect URI of a code."""
        return self.found.row.redirect_uri if isinstance(self.found.row, AuthorizationCode) else ""

    def get_scope(self) -> str:
        """Return the scopes of new access tokens."""
        return join(self.found.scopes)

    def check_client(self, client: ClientView) -> bool:
        """Return whether it was given to a client."""
        return self.found.client.id == client.row.id


@dataclass(frozen=True, slots=True)
class GrantView(TokenMixin):
    """The grant of a token to revoke."""

    grant: LiveGrant

    def check_client(self, client: ClientView) -> bool:
        """Return whether it was given to a client."""
        return self.grant.client_key == client.row.id
