"""Connecting an application: authorize, consent, tokens, calls, refresh, as the specification has it."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx2
import jwt
import pytest

from app.domain.accounts.scopes import AUTOMATION, GENERAL
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import id_of_user
from tests.factories.oauth import OAUTH_GRANTS
from tests.oauth.applications import BASE, REDIRECT, STATE, TOOLS, Application, Pkce, bearer, query_of

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "oauth.md").read_text()


async def test_the_address_on_the_page_leads_to_the_consent_page(application: Application, http: httpx2.AsyncClient):
    [shown] = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    address = urlsplit(re.sub(r"\s+", "", shown))
    given = {**dict(parse_qsl(address.query)), "client_id": application.client_id}

    page = await http.get(address.path, params=given)

    assert given["redirect_uri"] == REDIRECT
    assert (page.status_code, "wants to use your account" in page.text) == (200, True)


async def test_the_tokens_on_the_page_have_the_members_of_tokens(application: Application):
    [shown] = re.findall(r"```json\n(.*?)```", PAGE, re.S)

    tokens = (await application.exchange(await application.code())).json()

    assert list(json.loads(shown)) == list(tokens)
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", json.loads(shown)["expires_in"])


async def test_after_login_the_user_agent_is_redirected_with_code_and_state(application: Application):
    answer = await application.consent()

    assert answer.status_code == 302
    assert answer.headers["location"].startswith(f"{REDIRECT}?code=")
    told = query_of(answer)
    assert sorted(told) == ["code", "iss", "state"]
    assert (told["state"], told["iss"], len(told["code"])) == (STATE, BASE, 43)


async def test_a_code_is_exchanged_for_tokens(application: Application):
    answer = await application.exchange(await application.code())

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    assert sorted(tokens) == ["access_token", "expires_in", "refresh_token", "scope", "token_type"]
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert tokens["scope"].split() == sorted(AUTOMATION)
    assert len(tokens["refresh_token"]) == 43


async def test_the_access_token_is_a_jwt_after_rfc_9068(
    application: Application, services: Services, account: Opened, http: httpx2.AsyncClient
):
    token = (await application.connect())["access_token"]

    published = (await http.get("/oauth/keys")).json()["keys"]
    header = jwt.get_unverified_header(token)
    [key] = [jwt.PyJWK(each) for each in published if each["kid"] == header["kid"]]
    claims = jwt.decode(token, key.key, ["RS256"], audience=BASE, issuer=BASE)
    user, grant = await id_of_user(services), await OAUTH_GRANTS.only(services, "id")
    assert (header["alg"], header["typ"]) == ("RS256", "at+jwt")
    assert sorted(claims) == ["aud", "client_id", "exp", "grant_id", "iat", "iss", "jti", "scope", "sub"]
    assert (claims["sub"], claims["client_id"], claims["grant_id"]) == (str(user), application.client_id, grant)
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["scope"].split() == sorted(AUTOMATION)


async def test_an_access_token_opens_the_api(application: Application, http: httpx2.AsyncClient, account: Opened):
    token = (await application.connect())["access_token"]

    made = await http.post("/contacts", json={"phone": "+12025550143"}, headers=bearer(token))
    seen = await http.get("/contacts", headers={"Authorization": f"Bearer {account.svc_key}"})

    assert made.status_code == 200, made.text
    assert [each["phone"] for each in seen.json()["data"]] == ["+12025550143"]


async def test_a_refresh_token_gives_new_tokens(application: Application, http: httpx2.AsyncClient):
    first = await application.connect()

    answer = await application.refresh(first["refresh_token"])

    second = answer.json()
    assert answer.status_code == 200
    assert second["scope"] == first["scope"]
    assert second["refresh_token"] != first["refresh_token"]
    assert (await http.get("/contacts", headers=bearer(second["access_token"]))).status_code == 200
    assert (await http.get("/contacts", headers=bearer(first["access_token"]))).status_code == 200


async def test_a_public_client_connects_to_the_tool_server_with_pkce(public: Application, http: httpx2.AsyncClient):
    pkce = Pkce()
    public.redirect_uri = "http://127.0.0.1:51234/callback"
    code = await public.code(resource=TOOLS, **pkce.asked)

    answer = await public.exchange(code, code_verifier=pkce.verifier, resource=TOOLS)

    tokens = answer.json()
    assert answer.status_code == 200
    assert jwt.decode(tokens["access_token"], options={"verify_signature": False})["aud"] == TOOLS
    assert (await http.post("/mcp", headers=bearer(tokens["access_token"]))).status_code == 400  # no message
    refreshed = await public.refresh(tokens["refresh_token"], resource=TOOLS)
    assert refreshed.status_code == 200
    assert jwt.decode(refreshed.json()["access_token"], options={"verify_signature": False})["aud"] == TOOLS


async def test_an_application_gets_no_more_than_it_asks_for(application: Application, http: httpx2.AsyncClient):
    tokens = await application.connect(scope="contacts:read account:read")

    refused = await http.post("/contacts", json={"phone": "+12025550143"}, headers=bearer(tokens["access_token"]))

    assert tokens["scope"] == "account:read contacts:read"
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 200
    assert (refused.status_code, refused.json()["error_code"]) == (403, "insufficient_scope")
    assert refused.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="contacts:write"'


async def test_automation_grants_hold_no_more_than_automations_may(application: Application):
    tokens = await application.connect(scope=" ".join(sorted(GENERAL)))

    assert tokens["scope"].split() == sorted(AUTOMATION)


async def test_the_tool_server_may_be_granted_more(application: Application):
    tokens = await application.connect_tools(" ".join(sorted(GENERAL)))

    assert tokens["scope"].split() == sorted(GENERAL)


async def test_no_application_is_granted_the_account_or_its_billing(application: Application):
    tokens = await application.connect_tools("account:read account:write billing:write")

    assert tokens["scope"] == "account:read"


async def test_a_refresh_can_ask_for_less_and_later_for_all_again(application: Application):
    first = await application.connect()

    second = (await application.refresh(first["refresh_token"], scope="contacts:read")).json()
    third = (await application.refresh(second["refresh_token"])).json()

    assert second["scope"] == "contacts:read"
    assert third["scope"] == first["scope"]


async def test_basic_authentication_works_as_the_form_does(application: Application):
    code = await application.code()
    basic = httpx2.BasicAuth(application.client_id, application.secret or "")._auth_header

    answer = await application.exchange(code, {"Authorization": basic}, client_id=None, client_secret=None)

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("path", ["/automation/auth/test", "/automation/oauth/test"])
async def test_the_connection_test_names_the_user_who_consented(
    application: Application, http: httpx2.AsyncClient, account: Opened, path: str
):
    token = (await application.connect(scope="account:read"))["access_token"]

    answer = await http.get(path, headers=bearer(token))

    assert answer.status_code == 200, answer.text
    user = answer.json()["user"]
    assert str(user["id"]) == jwt.decode(token, options={"verify_signature": False})["sub"]
    assert (user["email"], user["company_name"]) == (account.email, account.company_name)
    assert (await http.get(path, headers=bearer("x.y.z"))).status_code == 401
