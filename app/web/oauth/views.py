# pyright: reportIncompatibleMethodOverride=false
"""Our clients, codes and tokens, as Authlib asks about them."""

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
    """A client; whether its secret is good, or has ended with what it was made with."""

    row: Client
    tokens: Tokens
    has_live_secret: bool = True

    def get_client_id(self) -> str:
        """Return its id."""
        return self.row.client_id

    def get_default_redirect_uri(self) -> None:
        """Return none: a redirect URI has to be named."""

    def get_allowed_scope(self, scope: str | None) -> str:
        """Return what is asked for; what of it the client may have depends on the resource, and is settled later."""
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Tell whether a redirect URI is one of the client's."""
        return redirects.allows(self.row.redirect_uris, redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        """Tell whether a secret is the client's."""
        return self.has_live_secret and clients.has_secret(self.row, self.tokens, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Tell whether a client may authenticate in a way: with a secret in either place, if it has one."""
        return (method == "none") == (self.row.secret_hash is None)

    def check_response_type(self, response_type: str) -> bool:
        """Tell whether a client may use a response type."""
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        """Tell whether a client may use a grant type."""
        return grant_type in clients.GRANT_TYPES


@dataclass(frozen=True, slots=True)
class FoundView(AuthorizationCodeMixin, TokenMixin):
    """A code or a refresh token that was found to be good, and to be the client's."""

    found: Found

    @property
    def code_challenge(self) -> str | None:
        """Return what the verifier of a code has to fit."""
        return self.found.row.code_challenge if isinstance(self.found.row, AuthorizationCode) else None

    @property
    def code_challenge_method(self) -> str:
        """Return the only method there is."""
        return "S256"

    def get_redirect_uri(self) -> str:
        """Return where a code was sent to."""
        return self.found.row.redirect_uri if isinstance(self.found.row, AuthorizationCode) else ""

    def get_scope(self) -> str:
        """Return what new access tokens may be for."""
        return join(self.found.scopes)

    def check_client(self, client: ClientView) -> bool:
        """Tell whether it was given to a client."""
        return self.found.client.id == client.row.id


@dataclass(frozen=True, slots=True)
class GrantView(TokenMixin):
    """The grant of a token that a client hands back."""

    grant: LiveGrant

    def check_client(self, client: ClientView) -> bool:
        """Tell whether it was given to a client."""
        return self.grant.client_key == client.row.id
