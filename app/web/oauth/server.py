# pyrefly: ignore-errors[bad-override]
"""Authlib's authorization server on the domain's clients, grants and tokens.

Authlib is synchronous. It runs in a greenlet (`sqlalchemy.util.greenlet_spawn`), and its callbacks run coroutines on
the event loop by `wait`: one engine, one transaction, no thread.
"""

import re
from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

import orjson
from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    OAuth2Error,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from sqlalchemy.util import await_only as wait
from starlette.responses import Response

from app.domain.accounts.scopes import Scope
from app.domain.grants.models import Client
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.oauth import access_tokens, clients, grants, queries
from app.domain.oauth.access_tokens import LIFETIME, AccessToken
from app.domain.oauth.authority import Authority
from app.domain.oauth.grants import Found
from app.domain.oauth.queries import LiveGrant
from app.domain.oauth.resources import join
from app.domain.oauth.signing import KnownKey
from app.urls import split
from app.web.oauth.authorization_request import Asked
from app.web.oauth.views import ClientView, FoundView, GrantView

AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
S256 = "S256"
SCOPE_LIKE = re.compile(r"[A-Za-z0-9_:,-]{1,50}")
NO_STORE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}

DESCRIPTIONS = {
    "invalid_grant": "The code or token is unknown, used, expired or revoked, or was given to another client.",
    "unauthorized_client": "The client may not ask for this.",
}
"""Descriptions of errors to which Authlib adds none."""


class UnsupportedResponseTypeError(OAuth2Error):
    """The response type is not supported. Authlib's own error repeats the sent value."""

    error = "unsupported_response_type"
    description = "The only response_type is code."


class UnsupportedGrantTypeError(OAuth2Error):
    """The grant type is not supported. Authlib's own error has no description."""

    error = "unsupported_grant_type"
    description = "The grant_type must be authorization_code or refresh_token."


class InvalidTargetError(OAuth2Error):
    """The resource is unknown, or not the one of the grant (RFC 8707, 2)."""

    error = "invalid_target"
    description = "The resource is unknown, or not the one of the grant."


class Policy(CodeChallenge):
    """Requirements of an authorization request beyond RFC 6749: PKCE with S256, a known resource, allowed scopes."""

    DEFAULT_CODE_CHALLENGE_METHOD = S256
    SUPPORTED_CODE_CHALLENGE_METHOD = [S256]  # noqa: RUF012 - Authlib's
    CODE_CHALLENGE_METHODS = {S256: CodeChallenge.CODE_CHALLENGE_METHODS[S256]}  # noqa: RUF012

    def validate_code_challenge(self, grant: "CodeGrant", redirect_uri: str) -> None:
        """Set resource and scopes; refuse a public client without PKCE before it gets a code."""
        asked = grant.request
        if (asked.payload.data.get("code_challenge_method") or S256) != S256:
            raise InvalidRequestError("The only code_challenge_method is S256.")
        super().validate_code_challenge(grant, redirect_uri)
        client, resources = asked.client.row, grant.server.authority.resources
        resource = resources.find(asked.resources)
        if resource is None:
            raise InvalidTargetError()
        if "code_challenge" not in asked.payload.data and (asked.resources or client.auth_method == "none"):
            raise InvalidRequestError("A code_challenge with the method S256 is needed.")
        wanted = frozenset((asked.payload.scope or "").split()) or resources.usual(resource)
        asked.scopes = wanted & frozenset(client.scopes) & resources.limit(resource)
        asked.resource = resource
        if not asked.scopes:
            raise InvalidScopeError("The application cannot have any of the requested scopes for this resource.")


class CodeGrant(AuthorizationCodeGrant):
    """Authorization codes: created at the consent of a user, exchanged once."""

    request: Any
    server: "Server"

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def generate_authorization_code(self) -> str:
        """Create the grant of the user's consent, which Authlib passes as `user`."""
        return wait(
            grants.allow(self.server.unit, self.server.authority.tokens, self.request.client.row, self.request.user)
        )

    def save_authorization_code(self, code: str, request: object) -> None:
        """Do nothing: the code was stored at its creation."""

    def query_authorization_code(self, code: str, client: ClientView) -> FoundView:
        """Return the code; raise `InvalidGrantError` if it was used, has expired or belongs to another client."""
        found = wait(grants.find_code(self.server.unit, self.server.authority.tokens, client.row, code))
        if found is None:
            raise InvalidGrantError()
        return FoundView(found)

    def validate_token_request(self) -> None:
        """Check the resource after everything else."""
        super().validate_token_request()
        self.server.check_resource(self.request, self.request.authorization_code.found)

    def authenticate_user(self, authorization_code: FoundView) -> Found:
        """Return the record that new tokens are made from."""
        return authorization_code.found

    def delete_authorization_code(self, authorization_code: object) -> None:
        """Do nothing: the code was marked as used with the creation of the tokens."""


class RefreshGrant(RefreshTokenGrant):
    """Refresh tokens, rotated at every use."""

    request: Any
    server: "Server"

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> FoundView | None:
        """Return the token, unless it has ended, belongs to another client, or was rotated too long ago."""
        tokens, client = self.server.authority.tokens, self.request.client.row
        found = wait(grants.find_refresh_token(self.server.unit, tokens, client, refresh_token))
        return FoundView(found) if found else None

    def validate_token_request(self) -> None:
        """Check the resource after everything else."""
        super().validate_token_request()
        self.server.check_resource(self.request, self.request.refresh_token.found)

    def authenticate_user(self, refresh_token: FoundView) -> Found:
        """Return the record that new tokens are made from."""
        return refresh_token.found

    def revoke_old_credential(self, refresh_token: object) -> None:
        """Do nothing: the token was rotated with the creation of the new ones."""


class Revocation(RevocationEndpoint):
    """Revocation of tokens. Any token revokes its grant: an access token cannot be revoked alone."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def check_params(self, request: Asked, client: ClientView) -> None:
        """Require a token; a wrong hint is no error (RFC 7009, 2.1)."""
        if "token" not in request.form:
            raise InvalidRequestError("Missing 'token' in request.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> GrantView | None:
        """Return the grant of a token; an access token was verified before."""
        server: Server = self.server
        if server.access_token:
            grant = wait(queries.find_live(server.unit, server.access_token.grant_id))
        else:
            grant = wait(grants.find_grant_of(server.unit, server.authority.tokens, token_string))
        return GrantView(grant) if grant else None

    def revoke_token(self, token: GrantView, request: Asked) -> None:
        """Revoke the grant."""
        server: Server = self.server
        wait(grants.revoke_by_client(server.unit, request.client.row, token.grant))


class Server(AuthorizationServer):
    """The authorization server for one request. `signer` is required to issue tokens, `access_token` to revoke one.

    `client` is a client found before, stored or not.
    """

    def __init__(
        self,
        unit: UnitOfWork,
        authority: Authority,
        signer: KnownKey | None = None,
        access_token: AccessToken | None = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(scopes_supported=sorted(Scope))
        self.unit = unit
        self.authority = authority
        self.signer = signer
        self.access_token = access_token
        self._clients: dict[str, ClientView | None] = {}
        if client:
            self._clients[client.client_id] = ClientView(client, authority.tokens)
        self._redirect_uri = ""
        self.register_grant(CodeGrant, [Policy(required=True)])
        self.register_grant(RefreshGrant)
        self.register_endpoint(Revocation)

    def validate_requested_scope(self, scope: str | None) -> None:
        """Raise `InvalidScopeError` for an unknown scope; the description names it if it looks like one."""
        unknown = sorted(frozenset((scope or "").split()) - frozenset(Scope))
        if unknown:
            named = next((f": {each}" for each in unknown if SCOPE_LIKE.fullmatch(each)), "")
            raise InvalidScopeError(f"scope has an unknown scope{named}. Separate known scopes by spaces.")

    def query_client(self, client_id: str) -> ClientView | None:
        """Return a client, unless it is revoked."""
        if client_id not in self._clients:
            row = wait(queries.find_client(self.unit, client_id))
            self._clients[client_id] = wait(self._view(row)) if row else None
        return self._clients[client_id]

    async def _view(self, row: Client) -> ClientView:
        return ClientView(row, self.authority.tokens, await queries.has_live_secret(self.unit, row))

    def authenticate_client(self, request: Asked, methods: list[str], endpoint: str = "token") -> ClientView:
        """Authenticate a client; every failure is a 401 (RFC 6749, 5.2)."""
        try:
            return cast(ClientView, super().authenticate_client(request, methods, endpoint))
        except (InvalidClientError, ValueError):  # Authlib raises ValueError for invalid Base64 or UTF-8
            raise InvalidClientError("Unknown client, or wrong credentials.", status_code=401) from None

    def validate_consent(self, asked: Asked) -> CodeGrant:
        """Return the grant of a request whose client and redirect URI are valid.

        Raises `OAuth2Error`, which is redirected to the redirect URI.
        """
        state, redirect_uri = asked.payload.state, asked.payload.redirect_uri
        self._redirect_uri = redirect_uri or ""
        if asked.find_repeated():
            raise InvalidRequestError("A parameter was sent more than once.", state=state, redirect_uri=redirect_uri)
        if not asked.payload.response_type:
            raise InvalidRequestError("Missing 'response_type' in request.", state=state, redirect_uri=redirect_uri)
        if asked.payload.response_type != "code":
            raise UnsupportedResponseTypeError(state=state, redirect_uri=redirect_uri)
        return self.get_consent_grant(asked)  # pyrefly: ignore[no-any-return-implicit]

    def check_resource(self, asked: Asked, found: Found) -> None:
        """Raise `InvalidTargetError` for a resource other than the grant's (RFC 8707, 2.2)."""
        if asked.resources and self.authority.resources.find(asked.resources) != found.grant.resource:
            raise InvalidTargetError()

    def create_token_response(self, request: Asked) -> Response:
        """Answer a token request; a missing grant type is `invalid_request`, not `unsupported_grant_type`."""
        given = request.payload.grant_type
        if given not in (CodeGrant.GRANT_TYPE, RefreshGrant.GRANT_TYPE):
            error = UnsupportedGrantTypeError() if given else InvalidRequestError("Missing 'grant_type'.")
            return cast(Response, self.handle_error_response(request, error))
        return cast(Response, super().create_token_response(request))

    def generate_token(
        self,
        grant_type: str,
        client: ClientView,
        user: Found,
        scope: str | None = None,
        expires_in: int | None = None,
        include_refresh_token: bool = True,
    ) -> dict[str, Any]:
        """Mark a code or refresh token as used, and return new tokens."""
        scopes = user.scopes & frozenset((scope or "").split())
        if not scopes:
            raise InvalidGrantError("The grant has no scopes left.")
        wait(clients.note_use(self.unit, user.client.id))  # locks the client before the grant, as its revocation does
        refresh_token = wait(grants.use(self.unit, self.authority.tokens, user))
        text, seconds = self._sign(user.grant, scopes)
        return {
            "access_token": text,
            "token_type": "Bearer",
            "expires_in": seconds,
            "refresh_token": refresh_token,
            "scope": join(scopes),
        }

    def save_token(self, token: object, request: object) -> None:
        """Do nothing: access tokens are not stored, and the refresh token was stored at its creation."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do nothing: there are no receivers."""

    def create_oauth2_request(self, request: Asked) -> Asked:
        """Return the request, which is Authlib's already."""
        return request

    def handle_response(self, status: int, body: object, headers: Iterable[tuple[str, str]]) -> Response:
        """Return a response; a redirect, errors included, has the issuer (RFC 9207)."""
        named = NO_STORE | dict(headers)
        if "Location" in named:
            named["Location"] = self._locate(named["Location"])
            return Response(status_code=status, headers=named)
        return Response(orjson.dumps(described(body)), status, named)

    def _locate(self, location: str) -> str:
        """Return the redirect target: the unchanged registered URI (RFC 6749, 3.1.2) with the added parameters.

        Authlib would encode the query of the URI again, differently.
        """
        own = _query(self._redirect_uri)
        added = urlencode([*_query(location)[len(own) :], ("iss", self.authority.issuer)])
        return f"{self._redirect_uri}{'&' if own else '' if self._redirect_uri.endswith('?') else '?'}{added}"

    def _sign(self, grant: LiveGrant, scopes: frozenset[str]) -> tuple[str, int]:
        assert self.signer
        now = self.unit.clock.now()
        until = min(now + LIFETIME, grant.expires_at)
        token = AccessToken(grant.id, grant.user_id, grant.client_id, grant.resource, scopes)
        text = access_tokens.sign(self.signer, self.authority.issuer, token, now, until)
        return text, int((until - now).total_seconds())


def _query(uri: str) -> list[tuple[str, str]]:
    return parse_qsl(split(uri).query, keep_blank_values=True)


def described(body: object) -> Any:
    """Return the body of a response; add a description to an error without one (RFC 6749, 5.2)."""
    if not isinstance(body, dict) or "error" not in body:
        return body
    error = cast("dict[str, Any]", body)
    return {"error_description": DESCRIPTIONS.get(error["error"], "The request was refused."), **error}
