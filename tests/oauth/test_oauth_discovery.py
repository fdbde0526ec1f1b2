"""Discovery and registration of clients."""

from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.requests import Request

from app.domain.accounts.scopes import AUTOMATION_LIMIT, GENERAL
from app.domain.grants.retention import make_rules
from app.domain.kernel.errors import RateLimited
from app.domain.oauth.retention import RULES
from app.jobs.sweeps import purge
from app.services import Services
from app.web.oauth.registration_limit import REGISTRATIONS, check_rate
from tests.factories.oauth import (
    OAUTH_CLIENTS,
    OAUTH_CODES,
    OAUTH_GRANTS,
    OAUTH_REFRESH_TOKENS,
    OAUTH_REQUESTS,
    OAUTH_SIGNING_KEYS,
)
from tests.factories.tables import ago
from tests.oauth.applications import AUTHORIZE, BASE, REGISTER, REVOKE, TOKEN, Application, Pkce

pytestmark = pytest.mark.anyio

SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"
URIS = ["https://app.example.com/callback"]


async def register(http: httpx2.AsyncClient, **metadata: Any) -> httpx2.Response:
    return await http.post(REGISTER, json={"redirect_uris": URIS} | metadata)


async def test_the_server_describes_itself(http: httpx2.AsyncClient):
    answer = await http.get(SERVER)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    described = answer.json()
    assert described["issuer"] == BASE
    assert described["authorization_endpoint"] == f"{BASE}/automation/oauth/authorize"
    assert described["token_endpoint"] == f"{BASE}/automation/oauth/token"
    assert described["registration_endpoint"] == f"{BASE}/oauth/register"
    assert described["revocation_endpoint"] == f"{BASE}/oauth/revoke"
    assert described["jwks_uri"] == f"{BASE}/oauth/keys"
    assert described["response_types_supported"] == ["code"]
    assert described["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert described["code_challenge_methods_supported"] == ["S256"]
    methods = ["client_secret_post", "client_secret_basic", "none"]
    assert described["token_endpoint_auth_methods_supported"] == methods
    assert described["authorization_response_iss_parameter_supported"] is True
    assert described["client_id_metadata_document_supported"] is True
    assert described["scopes_supported"] == sorted(GENERAL)


@pytest.mark.parametrize(
    "path",
    [
        f"{SERVER}/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
    ],
)
async def test_the_server_is_found_where_clients_guess(http: httpx2.AsyncClient, path: str):
    assert (await http.get(path)).json() == (await http.get(SERVER)).json()


@pytest.mark.parametrize(("suffix", "scopes"), [("", AUTOMATION_LIMIT), ("/mcp", GENERAL)])
async def test_each_resource_describes_itself(http: httpx2.AsyncClient, suffix: str, scopes: frozenset[str]):
    described = (await http.get(f"{RESOURCE}{suffix}")).json()

    assert described["resource"] == f"{BASE}{suffix}"
    assert described["authorization_servers"] == [BASE]
    assert described["scopes_supported"] == sorted(scopes)
    assert described["bearer_methods_supported"] == ["header"]


async def test_the_keys_are_public_and_nothing_more(http: httpx2.AsyncClient):
    [key] = (await http.get("/oauth/keys")).json()["keys"]

    assert sorted(key) == ["alg", "e", "kid", "kty", "n", "use"]
    assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_pages_of_every_site_may_ask_the_tool_server_and_read_where_to_sign_in(
    http: httpx2.AsyncClient, path: str
):
    asking = {"Origin": "https://inspector.example.com", "Access-Control-Request-Method": "POST"}

    preflight = await http.options(path, headers=asking)
    answer = await http.post(path, headers={"Origin": "https://inspector.example.com"})

    assert (preflight.status_code, answer.status_code) == (204, 401)
    assert preflight.headers["access-control-allow-methods"] == "GET, POST, DELETE"
    assert preflight.headers["access-control-allow-headers"] == "*, Authorization"
    for each in (preflight, answer):
        assert each.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in each.headers
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("path", "method"),
    [(SERVER, "GET"), (RESOURCE, "GET"), ("/oauth/keys", "GET"), (TOKEN, "POST"), (REGISTER, "POST"), (REVOKE, "POST")],
)
async def test_pages_of_every_site_may_ask_without_credentials(http: httpx2.AsyncClient, path: str, method: str):
    asking = {
        "Origin": "https://inspector.example.com",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, mcp-protocol-version",
    }

    preflight = await http.options(path, headers=asking)
    answer = await http.request(method, path, headers={"Origin": "https://inspector.example.com"})

    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-methods"] == method
    assert preflight.headers["access-control-allow-headers"] == "*, Authorization"
    for each in (preflight, answer):
        assert each.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in each.headers


async def test_the_page_of_consent_is_not_for_other_sites(application: Application):
    answer = await application.ask()

    assert "access-control-allow-origin" not in answer.headers


async def test_a_client_registers_itself_and_connects(http: httpx2.AsyncClient, application: Application):
    answer = await register(http, client_name="Assistant", token_endpoint_auth_method="none", logo_uri="x")

    told = answer.json()
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert sorted(told) == [
        "client_id",
        "client_id_issued_at",
        "client_name",
        "grant_types",
        "redirect_uris",
        "response_types",
        "scope",
        "token_endpoint_auth_method",
    ]
    assert (told["client_name"], told["token_endpoint_auth_method"]) == ("Assistant", "none")
    application.client_id, application.secret, pkce = told["client_id"], None, Pkce()
    code = await application.code(**pkce.asked)
    assert (await application.exchange(code, code_verifier=pkce.verifier)).status_code == 200


async def test_a_client_that_names_no_method_is_given_a_secret(http: httpx2.AsyncClient, application: Application):
    told = (await register(http)).json()

    assert (told["token_endpoint_auth_method"], told["client_secret_expires_at"]) == ("client_secret_basic", 0)
    application.client_id, application.secret = told["client_id"], told["client_secret"]
    assert (await application.exchange(await application.code())).status_code == 200


async def test_a_client_may_ask_for_scopes_that_it_did_not_register(http: httpx2.AsyncClient, application: Application):
    told = (await register(http, scope="contacts:read account:write")).json()

    assert set(told["scope"].split()) == GENERAL
    application.client_id, application.secret = told["client_id"], told["client_secret"]
    granted = (await application.connect_tools("account:read campaigns:send contacts:delete"))["scope"]
    assert {"campaigns:send", "contacts:delete"} < set(granted.split())


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://app.example.com/callback"}, "invalid_redirect_uri"),
        ({"redirect_uris": [1]}, "invalid_redirect_uri"),
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example.com/callback"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://app.example.com/#x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": ["none"]}, "invalid_client_metadata"),
        ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({"grant_types": [["x"]]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"redirect_uris": ["intent:evil"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["evil://com.example.app/callback"]}, "invalid_redirect_uri"),
        ({"scope": "everything"}, "invalid_client_metadata"),
        ({"scope": "account:write"}, "invalid_client_metadata"),
        ({"scope": " "}, "invalid_client_metadata"),
        ({"scope": ["contacts:read"]}, "invalid_client_metadata"),
    ],
)
async def test_invalid_client_metadata_is_refused_with_its_error_code(
    http: httpx2.AsyncClient, services: Services, metadata: dict[str, Any], error: str
):
    answer = await register(http, **metadata)

    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert await OAUTH_CLIENTS.count(services) == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"null", b"\xff", b"[" * 5000])
async def test_a_registration_that_is_not_a_json_object_is_refused(http: httpx2.AsyncClient, body: bytes):
    answer = await http.post(REGISTER, content=body)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_a_name_is_cut_to_one_line_of_text(http: httpx2.AsyncClient):
    told = (await register(http, client_name="A\n\u202eB" + "x" * 500)).json()

    assert told["client_name"] == "A B" + "x" * 97


@pytest.mark.parametrize("name", ["", "\u3164", "\u200b \ufe0f", "\u0301", "\u3164" * 100 + "x"])
async def test_an_application_whose_name_would_not_be_seen_has_none(http: httpx2.AsyncClient, name: str):
    told = (await register(http, client_name=name)).json()

    assert told["client_name"] == "An application without a name"


@pytest.mark.parametrize("uri", ["com.example.app:/callback", "cursor://anysphere.cursor-mcp/oauth/callback"])
async def test_an_application_on_a_device_registers_its_scheme(http: httpx2.AsyncClient, uri: str):
    answer = await register(http, redirect_uris=[uri], token_endpoint_auth_method="none")

    assert (answer.status_code, answer.json()["redirect_uris"]) == (201, [uri])


@pytest.mark.parametrize("uri", ["https://a.example/\x00", "https://a.example/\u202e", "http://a.example", 7])
async def test_a_page_about_a_client_that_cannot_be_shown_is_left_out(http: httpx2.AsyncClient, uri: Any):
    answer = await register(http, client_uri=uri)

    assert answer.status_code == 201
    assert "client_uri" not in answer.json()


@pytest.mark.usefixtures("no_refill")
async def test_the_addresses_of_one_network_register_as_one(services: Services):
    async def register_from(address: str) -> bool:
        request = Request({"type": "http", "client": (address, 1)})
        try:
            await check_rate(services, request)
        except RateLimited:
            return False
        return True

    taken = [await register_from(f"2001:db8:5:6::{n:x}") for n in range(REGISTRATIONS.quota + 5)]

    assert taken[0]
    assert not taken[-1]
    assert await register_from("2001:db8:5:7::1")


@pytest.mark.usefixtures("no_refill")
async def test_registrations_beyond_the_quota_are_refused(http: httpx2.AsyncClient, services: Services):
    answers = [await register(http) for _ in range(REGISTRATIONS.quota + 2)]

    assert answers[0].status_code == 201
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["error"] == "temporarily_unavailable"
    assert int(refused[0].headers["retry-after"]) >= 1
    assert await OAUTH_CLIENTS.count(services) == len(answers) - len(refused)


async def test_unused_clients_are_deleted_after_thirty_days(
    http: httpx2.AsyncClient, services: Services, application: Application
):
    pool = services.database.pool
    job = purge("oauth", make_rules(), services.database, services.clock)
    unused, used = (await register(http)).json(), (await register(http)).json()
    for each in (unused, used):
        await http.get(f"{AUTHORIZE}?{urlencode(application.parameters(client_id=each['client_id']))}")
    await OAUTH_CLIENTS.change(pool, created_at=ago(days=29))
    await OAUTH_CLIENTS.where(client_id=used["client_id"]).change(pool, last_used_at=ago())

    await job.run()
    assert await OAUTH_CLIENTS.count(pool) == 3

    await OAUTH_CLIENTS.change(pool, created_at=ago(days=31))
    await job.run()
    assert {*await OAUTH_CLIENTS.read(pool, "client_id")} == {used["client_id"], application.client_id}


async def test_expired_and_revoked_rows_are_deleted_and_valid_rows_are_kept(
    application: Application, services: Services
):
    pool = services.database.pool
    job = purge("oauth", (*RULES, *make_rules()), services.database, services.clock)
    tables = (OAUTH_REQUESTS, OAUTH_CODES, OAUTH_REFRESH_TOKENS, OAUTH_GRANTS, OAUTH_SIGNING_KEYS)

    async def counts() -> list[int]:
        return [await rows.count(pool) for rows in tables]

    await application.connect()
    await application.form()
    await application.code()
    before = await counts()
    await job.run()
    assert before == await counts() == [2, 2, 1, 2, 1]

    await OAUTH_REQUESTS.change(pool, expires_at=ago(seconds=1))
    await OAUTH_CODES.change(pool, expires_at=ago(hours=25))
    await OAUTH_GRANTS.where(last_used_at=None).change(pool, created_at=ago(hours=25))
    await job.run()
    assert await counts() == [0, 0, 1, 1, 1]

    await OAUTH_GRANTS.change(pool, revoked_at=ago(days=91))
    await job.run()
    assert await counts() == [0, 0, 0, 0, 1]
