"""Access tokens at the doors: which are let in where, and what the others are told."""

import base64
import hmac
from collections.abc import Callable
from typing import Any

import httpx2
import jwt
import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.tables import ago
from tests.mcp.assistants import Assistant
from tests.oauth.applications import BASE, TOOLS, Application, bearer

pytestmark = pytest.mark.anyio

METADATA = f"{BASE}/.well-known/oauth-protected-resource"
WORKING_SET = (
    "account:read agents:read ai:use billing:read campaigns:read campaigns:write contacts:read contacts:write "
    "conversations:read messages:read messages:send numbers:read"
)
Change = Callable[[dict[str, Any], dict[str, Any]], None]


def b64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


async def resign(services: Services, token: str, change: Change) -> str:
    """Return a token with another header or other claims, signed with the service's own key."""
    header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    change(header, claims)
    key = (await services.oauth.key_ring.current()).private
    assert key
    return jwt.encode(claims, key, "RS256", header)


async def status_and_challenge(http: httpx2.AsyncClient, token: str) -> tuple[int, str]:
    """Return the answer's status, and the challenge of a refusal."""
    answer = await http.get("/contacts", headers=bearer(token))
    if answer.status_code == 401:
        assert answer.json()["error_code"] == "unauthenticated"
    return answer.status_code, answer.headers.get("www-authenticate", "")


def refused(reason: str, resource: str = "") -> tuple[int, str]:
    said = f'error_description="This access token is not good here. {reason}"'
    return 401, f'Bearer error="invalid_token", {said}, resource_metadata="{METADATA}{resource}"'


@pytest.fixture
async def token(application: Application) -> str:
    return (await application.connect())["access_token"]


async def test_the_token_itself_is_good(http: httpx2.AsyncClient, services: Services, token: str):
    assert (await status_and_challenge(http, token))[0] == 200
    assert (await status_and_challenge(http, await resign(services, token, lambda header, claims: None)))[0] == 200


NOT_OURS = "It was not signed by this service."


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda header, claims: claims.update(exp=claims["iat"]), "It has expired."),
        (lambda header, claims: claims.update(aud="https://elsewhere.example.com"), "It is for another address."),
        (lambda header, claims: claims.update(aud=TOOLS), "It is for another address."),
        (lambda header, claims: claims.pop("aud"), NOT_OURS),
        (lambda header, claims: claims.update(iss="https://elsewhere.example.com"), NOT_OURS),
        (lambda header, claims: claims.pop("exp"), NOT_OURS),
        (lambda header, claims: claims.update(exp="tomorrow"), NOT_OURS),
        (lambda header, claims: claims.pop("grant_id"), NOT_OURS),
        (lambda header, claims: claims.update(grant_id="x"), NOT_OURS),
        (lambda header, claims: claims.update(aud=[BASE, TOOLS]), NOT_OURS),
        (lambda header, claims: header.update(typ="JWT"), NOT_OURS),
        (lambda header, claims: header.update(kid="unknown"), NOT_OURS),
        (lambda header, claims: header.pop("kid"), NOT_OURS),
    ],
)
async def test_a_token_that_says_something_else_is_refused(
    http: httpx2.AsyncClient, services: Services, token: str, change: Change, reason: str
):
    assert await status_and_challenge(http, await resign(services, token, change)) == refused(reason)


async def test_a_token_without_a_signature_is_refused(http: httpx2.AsyncClient, token: str):
    header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})

    for algorithm in ("none", "None", "NONE"):
        forged = f"{b64(orjson.dumps(header | {'alg': algorithm}))}.{b64(orjson.dumps(claims))}."
        assert await status_and_challenge(http, forged) == refused(NOT_OURS)


async def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(
    http: httpx2.AsyncClient, services: Services, token: str
):
    header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    public = (await services.oauth.key_ring.current()).public
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    body = f"{b64(orjson.dumps(header | {'alg': 'HS256'}))}.{b64(orjson.dumps(claims))}"

    forged = f"{body}.{b64(hmac.digest(pem, body.encode(), 'sha256'))}"

    assert await status_and_challenge(http, forged) == refused(NOT_OURS)


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256"])
async def test_a_token_of_another_key_or_algorithm_is_refused(
    http: httpx2.AsyncClient, services: Services, token: str, algorithm: str
):
    header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    own = (await services.oauth.key_ring.current()).private
    key = generate_private_key(65537, 2048) if algorithm == "RS256" else own
    assert key

    assert await status_and_challenge(http, jwt.encode(claims, key, algorithm, header | {"alg": algorithm})) == refused(
        NOT_OURS
    )


async def test_a_token_that_was_changed_is_refused(http: httpx2.AsyncClient, token: str):
    head, body, signature = token.split(".")
    claims = orjson.loads(base64.urlsafe_b64decode(body + "=="))
    richer = b64(orjson.dumps(claims | {"scope": claims["scope"] + " account:write"}))

    assert await status_and_challenge(http, f"{head}.{richer}.{signature}") == refused(NOT_OURS)
    assert await status_and_challenge(http, f"{head}.{body}.{signature[:-4]}AAAA") == refused(NOT_OURS)


@pytest.mark.parametrize("text", ["a.b.c", "..", "e30.e30.e30", "é.é.é", "a.b." + "c" * 9000])
async def test_a_malformed_token_is_refused(http: httpx2.AsyncClient, text: str):
    answer = await http.get("/contacts", headers={"Authorization": f"Bearer {text}".encode()})

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_token_after_its_hour_is_refused(http: httpx2.AsyncClient, services: Services, token: str):
    def age(header: dict[str, Any], claims: dict[str, Any]) -> None:
        claims.update(iat=claims["iat"] - 3600, exp=claims["exp"] - 3600)

    assert await status_and_challenge(http, await resign(services, token, age)) == refused("It has expired.")


async def test_a_revoked_grant_is_noticed(http: httpx2.AsyncClient, services: Services, token: str):
    await OAUTH_GRANTS.change(services, revoked_at=ago())

    status, challenge = await status_and_challenge(http, token)

    assert (status, 'error="invalid_token"' in challenge) == (401, True)


async def test_a_token_for_the_tool_server_does_not_open_the_api(application: Application, http: httpx2.AsyncClient):
    token = (await application.connect_tools())["access_token"]

    assert await status_and_challenge(http, token) == refused("It is for another address.")
    graphql = await http.post("/graphql", json={"query": "{ balance { rate } }"}, headers=bearer(token))
    assert graphql.status_code == 401


async def test_a_token_opens_the_contract_too(http: httpx2.AsyncClient, token: str, account: Opened):
    answer = await http.post("/graphql", json={"query": "{ account { company_name } }"}, headers=bearer(token))

    assert answer.json()["data"]["account"]["company_name"] == account.company_name


async def test_a_request_records_the_last_use_of_its_grant(http: httpx2.AsyncClient, services: Services, token: str):
    await http.post("/contacts", json={"phone": "+12025550143"}, headers=bearer(token))

    used = await OAUTH_GRANTS.only(services, "last_used_at")
    assert used is not None


async def test_a_refusal_of_the_tool_server_names_its_metadata_and_scopes(http: httpx2.AsyncClient):
    for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/mcp/")):
        answer = await http.request(method, path)

        assert (answer.status_code, answer.json()["error_code"]) == (401, "unauthenticated")
        expected = f'Bearer scope="{WORKING_SET}", resource_metadata="{METADATA}/mcp"'
        assert answer.headers["www-authenticate"] == expected


async def test_the_tool_server_lets_its_own_tokens_and_general_keys_in(
    application: Application, http: httpx2.AsyncClient, account: Opened
):
    token = (await application.connect_tools())["access_token"]

    for credentials in (token, account.svc_key):
        assert "get_balance" in await Assistant(http, credentials).list()


async def test_the_tool_server_refuses_automation_tokens(http: httpx2.AsyncClient, token: str):
    answer = await http.post("/mcp", headers=bearer(token))

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert f'resource_metadata="{METADATA}/mcp"' in answer.headers["www-authenticate"]


async def test_the_tool_server_refuses_automation_keys(http: httpx2.AsyncClient, account: Opened):
    answer = await http.post("/mcp", headers=bearer(account.auto_key))

    assert (answer.status_code, answer.json()["error_code"]) == (403, "key_not_for_tools")


async def test_a_key_that_is_no_key_is_told_so_at_the_tool_server(http: httpx2.AsyncClient):
    answer = await http.post("/mcp", headers=bearer("auto_" + "0" * 38))

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
