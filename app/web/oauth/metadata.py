"""Metadata of the authorization server (RFC 8414), its keys (RFC 7517) and its resources (RFC 9728)."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.scopes import GENERAL
from app.domain.oauth.authority import Authority
from app.domain.oauth.clients import AUTH_METHODS
from app.domain.oauth.resources import Resources
from app.http.challenges import metadata_url
from app.http.cors import shared
from app.urls import split

AUTHORIZE_PATH = "/automation/oauth/authorize"
TOKEN_PATH = "/automation/oauth/token"
REGISTER_PATH = "/oauth/register"
REVOKE_PATH = "/oauth/revoke"
KEYS_PATH = "/oauth/keys"
SERVER_PATHS = (
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/mcp/.well-known/openid-configuration",
)
"""Paths of the server metadata: the standard one first, then those that clients try."""

FRESH = {"Cache-Control": "public, max-age=300"}


def routes(authority: Authority) -> list[Route]:
    """Return the routes of the metadata."""
    resources = authority.resources
    described = [(path, describe_server(resources.api)) for path in SERVER_PATHS]
    for each in (resources.api, resources.tools):
        described.append((split(metadata_url(resources, each)).path, _describe_resource(each, resources)))

    async def keys(_: Request) -> Response:
        return _json(await authority.key_ring.published())

    return [*(_page(path, document) for path, document in described), shared(KEYS_PATH, ["GET"], keys)]


def describe_server(issuer: str) -> dict[str, Any]:
    """Return the metadata of the authorization server.

    The last two members are of OpenID Connect, which is not supported: some clients require them.
    """
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}{AUTHORIZE_PATH}",
        "token_endpoint": f"{issuer}{TOKEN_PATH}",
        "registration_endpoint": f"{issuer}{REGISTER_PATH}",
        "revocation_endpoint": f"{issuer}{REVOKE_PATH}",
        "jwks_uri": f"{issuer}{KEYS_PATH}",
        "scopes_supported": sorted(GENERAL),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "revocation_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def _describe_resource(resource: str, resources: Resources) -> dict[str, Any]:
    return {
        "resource": resource,
        "authorization_servers": [resources.api],
        "scopes_supported": sorted(resources.limit(resource)),
        "bearer_methods_supported": ["header"],
        "resource_name": "Messaging tools" if resource == resources.tools else "Messaging API",
    }


def _page(path: str, document: dict[str, Any]) -> Route:
    async def show(_: Request) -> Response:
        return _json(document)

    return shared(path, ["GET"], show)


def _json(document: dict[str, Any]) -> Response:
    return Response(orjson.dumps(document), headers=FRESH, media_type="application/json")
