"""The token, revocation and registration endpoints."""

from collections.abc import Collection
from contextlib import suppress
from typing import Any, cast

import orjson
from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from sqlalchemy.util import greenlet_spawn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.errors import AccountSuspended
from app.domain.grants.models import Client
from app.domain.kernel.errors import DomainError, InvalidInput, InvalidJson, QueryTimeout, RateLimited, Unavailable
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import access_tokens, clients
from app.domain.oauth.access_tokens import AccessToken, BadToken
from app.domain.oauth.redirects import InvalidRedirectUri
from app.domain.oauth.resources import join
from app.http.anonymous import count_anonymous
from app.http.body import JSON, parse_object
from app.http.client_address import address_of
from app.http.cors import Endpoint, shared
from app.http.errors import retry_headers, translate
from app.http.identity import request_id
from app.http.pace import mark_authenticated
from app.services import Services
from app.web.oauth.authorization_request import read_form, read_limited
from app.web.oauth.metadata import REGISTER_PATH, REVOKE_PATH, TOKEN_PATH
from app.web.oauth.registration_limit import check_rate
from app.web.oauth.server import NO_STORE, Server, described
from app.web.oauth.units import open_unit_of

FALLBACK_PATH = "/token"
"""The path where the Python SDK of the tool protocol (2.3) refreshes after a restart without discovery."""

REFUSED = (400, 401)


def routes(services: Services) -> list[Route]:
    """Return the routes of the endpoints."""
    endpoints = Endpoints(services)
    return [
        *(shared(path, ["POST"], endpoints.plain(endpoints.give_tokens)) for path in (TOKEN_PATH, FALLBACK_PATH)),
        shared(REVOKE_PATH, ["POST"], endpoints.plain(endpoints.revoke, counted=(200, *REFUSED))),
        shared(REGISTER_PATH, ["POST"], endpoints.plain(endpoints.register)),
    ]


class Endpoints:
    """The endpoints. A transaction is committed before its response is sent."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._authority = services.oauth

    async def give_tokens(self, request: Request) -> Response:
        """Exchange a code or a refresh token."""
        asked = await read_form(request, f"{self._authority.issuer}{TOKEN_PATH}")
        # Before the transaction, because the key look-up uses its own connection.
        signer = await self._authority.key_ring.current()
        async with open_unit_of(self._services, _anonymous()) as unit:
            server = Server(unit, self._authority, signer)
            answer = await greenlet_spawn(server.create_token_response, asked)
        if answer.status_code == 200:
            mark_authenticated()
            await self._services.limits.shares.note_known(address_of(request))
        return answer

    async def revoke(self, request: Request) -> Response:
        """Revoke a token with its grant (RFC 7009). An unknown token succeeds."""
        asked = await read_form(request, f"{self._authority.issuer}{REVOKE_PATH}")
        access_token = await self._read(asked.form.get("token", ""))
        async with open_unit_of(self._services, _anonymous()) as unit:
            server = Server(unit, self._authority, access_token=access_token)
            answer = await greenlet_spawn(server.create_endpoint_response, "revocation", asked)
        return cast(Response, answer)

    async def register(self, request: Request) -> Response:
        """Register a client (RFC 7591)."""
        metadata = await _read_json(request)
        await check_rate(self._services, request)
        async with open_unit_of(self._services, _anonymous()) as unit:
            client, secret = await clients.register(unit, self._authority.tokens, metadata)
        return Response(orjson.dumps(_registered(client, secret)), 201, NO_STORE, JSON)

    def plain(self, endpoint: Endpoint, counted: Collection[int] = REFUSED) -> Endpoint:
        """Return an endpoint with error responses according to RFC 6749, 5.2.

        Responses with a status in `counted` count for the network. Above its limit they are delayed but not replaced:
        a client with an ended token must get that error, however many requests others in its network send.
        """

        async def answer(request: Request) -> Response:
            response = await _answer(endpoint, request)
            if response.status_code in counted:
                with suppress(RateLimited):
                    await count_anonymous(self._services.limits, address_of(request))
            return response

        return answer

    async def _read(self, text: str) -> AccessToken | None:
        if not access_tokens.has_form(text):
            return None
        authority, resources = self._authority, self._authority.resources
        now = self._services.clock.now()
        try:
            return await access_tokens.verify(
                authority.key_ring, authority.issuer, text, now, [resources.api, resources.tools]
            )
        except BadToken:
            return None


def _registered(client: Client, secret: str | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": client.auth_method,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": join(client.scopes),
    }
    if client.client_uri:
        metadata["client_uri"] = client.client_uri
    return metadata | ({"client_secret": secret, "client_secret_expires_at": 0} if secret else {})


async def _read_json(request: Request) -> dict[str, Any]:
    try:
        return parse_object(await read_limited(request))
    except InvalidJson:
        raise InvalidRequestError("The body must be a JSON object.") from None


async def _answer(endpoint: Endpoint, request: Request) -> Response:
    try:
        return await endpoint(request)
    except ClientDisconnect:
        raise
    except OAuth2Error as error:
        status, body, headers = error()
        return Response(orjson.dumps(described(body)), status, NO_STORE | dict(headers))
    except Exception as cause:
        return _refuse(translate(cause))


def _refuse(error: DomainError) -> Response:
    """Return the response to an error. Clients retry after 503, but may drop the connection after 400."""
    code, status = _NAMES.get(type(error), ("server_error", 500))
    if isinstance(error, InvalidInput) and code == "server_error":
        code, status = "invalid_request", 400
    headers = NO_STORE | retry_headers(error, status)
    return Response(orjson.dumps({"error": code, "error_description": str(error)}), status, headers, JSON)


_NAMES: dict[type[DomainError], tuple[str, int]] = {
    InvalidRedirectUri: ("invalid_redirect_uri", 400),
    clients.InvalidClientMetadata: ("invalid_client_metadata", 400),
    RateLimited: ("temporarily_unavailable", 429),
    Unavailable: ("temporarily_unavailable", 503),
    QueryTimeout: ("temporarily_unavailable", 503),
    AccountSuspended: ("temporarily_unavailable", 503),
}


def _anonymous() -> Actor:
    return Actor(0, frozenset(), "nobody", request_id())
