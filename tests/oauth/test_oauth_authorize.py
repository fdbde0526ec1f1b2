"""The page of consent: who is told what is wrong, what the page shows, and what a decision does."""

import re
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from redis.asyncio import Redis

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import SESSIONS
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_CODES, OAUTH_GRANTS, OAUTH_REQUESTS
from tests.factories.tables import ago
from tests.oauth.applications import (
    AUTHORIZE,
    BASE,
    REDIRECT,
    REGISTER,
    STATE,
    TOOLS,
    Application,
    Pkce,
    add_application,
    query_of,
)
from tests.oauth.browsing import Browsing, Forms
from tests.oauth.redirected import WRONG, faults

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"client_id": None}, "The request must have one client_id and one redirect_uri."),
        ({"redirect_uri": None}, "The request must have one client_id and one redirect_uri."),
        ({"client_id": ""}, "No application has this client_id."),
        ({"client_id": "nobody"}, "No application has this client_id."),
        ({"client_id": "nul\x00"}, "No application has this client_id."),
        ({"redirect_uri": ""}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": "https://evil.example.com/callback"}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": f"{REDIRECT}/more"}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": f"{REDIRECT}?more=1"}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": f"{REDIRECT}#"}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": REDIRECT.upper()}, "Pipelines has not registered this redirect_uri."),
        ({"redirect_uri": REDIRECT.replace("example.com", "example.com:8443")}, "Pipelines has not registered"),
        ({"redirect_uri": 'https://"é\\evil'}, "Pipelines has not registered this redirect_uri."),
    ],
)
async def test_a_bad_client_or_redirect_uri_is_told_to_the_person_and_never_redirected(
    application: Application, services: Services, given: dict[str, str | None], said: str
):
    answer = await application.ask(**given)

    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert said in answer.text
    assert answer.headers["x-frame-options"] == "DENY"
    assert await OAUTH_REQUESTS.count(services) == 0


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
async def test_a_client_or_redirect_uri_named_twice_is_never_redirected(application: Application, name: str):
    answer = await application.browsing.get(f"{application.path()}&{name}=https%3A%2F%2Fevil.example.com")

    assert answer.status_code == 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": '"é'}, "unsupported_response_type"),
        ({"scope": "contacts:read everything"}, "invalid_scope"),
        ({"scope": "billing:write"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example.com"}, "invalid_target"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": Pkce().challenge, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "S256"}, "invalid_request"),
        ({"resource": TOOLS}, "invalid_request"),
    ],
)
async def test_other_faults_are_told_to_the_application_with_state_and_iss(
    application: Application, services: Services, given: dict[str, str | None], error: str
):
    told = faults(await application.ask(**given))

    assert (told["error"], told["state"], told["iss"]) == (error, STATE, BASE)
    assert told["error_description"].isascii()
    assert await OAUTH_REQUESTS.count(services) == 0


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("contacts:read openid", "scope has an unknown scope: openid. Separate known scopes by spaces."),
        ("contacts:read,ai:use", "scope has an unknown scope: contacts:read,ai:use. Separate known scopes by spaces."),
        ('"é', "scope has an unknown scope. Separate known scopes by spaces."),
        ("billing:write", "The application cannot have any of the requested scopes for this resource."),
    ],
)
async def test_a_refused_scope_is_named_to_the_application(application: Application, scope: str, said: str):
    assert faults(await application.ask(scope=scope))["error_description"] == said


async def test_a_refused_code_challenge_method_names_the_one_that_is_accepted(application: Application):
    told = faults(await application.ask(code_challenge=Pkce().challenge, code_challenge_method="plain"))

    assert told["error_description"] == "The only code_challenge_method is S256."


async def test_a_parameter_sent_twice_is_told_to_the_application(application: Application):
    told = faults(await application.browsing.get(f"{application.path()}&state=other"))

    assert (told["error"], told["iss"]) == ("invalid_request", BASE)


async def test_a_public_client_without_pkce_is_refused_before_it_has_a_code(public: Application, services: Services):
    answer = await public.ask()

    assert answer.status_code == 302
    assert query_of(answer)["error"] == "invalid_request"
    assert await OAUTH_REQUESTS.count(services) == 0


FAULTS = [
    {"response_type": "x"},
    {"response_type": None},
    {"scope": "everything"},
    {"resource": "https://elsewhere.example.com"},
    {"code_challenge": "short"},
]


@pytest.mark.parametrize("given", FAULTS)
@pytest.mark.parametrize("signed_in", [False, True])
async def test_a_self_registered_client_gets_no_redirect_before_the_user_presses_a_button(
    application: Application,
    http: httpx2.AsyncClient,
    services: Services,
    given: dict[str, str | None],
    signed_in: bool,
):
    uri = "https://phish.example/login?a=1&b=2"
    application.client_id = (await http.post(REGISTER, json={"redirect_uris": [uri]})).json()["client_id"]
    application.redirect_uri = uri
    if signed_in:
        await application.browsing.enter(application.account)

    answer = await application.ask(**given)

    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "The application was not connected" in answer.text
    assert "The application sent an invalid request. " in answer.text
    [(back, text)] = re.findall(r'<a href="([^"]+)" rel="noreferrer">([^<]+)</a>', answer.text)
    assert text == "Go back to phish.example"
    told = parse_qs(urlsplit(unescape(back)).query)
    assert back.startswith("https://phish.example/login?")
    assert (told["b"], told["state"], told["iss"]) == (["2"], [STATE], [BASE])
    assert "error" in told
    assert await OAUTH_REQUESTS.count(services) == 0


async def test_a_stranger_is_told_that_the_person_said_no(application: Application, http: httpx2.AsyncClient):
    application.client_id = (await http.post(REGISTER, json={"redirect_uris": [REDIRECT]})).json()["client_id"]

    answer = await application.browsing.send(await application.form(), decision="deny")

    assert faults(answer)["error"] == "access_denied"


@pytest.mark.parametrize(
    "more", [{"state": "x" * 4096}, {"nonce": "x" * 4096}, {"code_challenge": "x" * 4096}, {"n" * 4096: ""}]
)
async def test_a_request_of_more_than_4_kib_is_refused_and_not_kept(
    application: Application, services: Services, more: dict[str, str]
):
    answer = await application.browsing.get(f"{application.path()}&{urlencode(more)}")

    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "The application sent more than 4096 bytes of parameters." in answer.text
    assert await OAUTH_REQUESTS.count(services) == 0


async def test_a_parameter_without_a_value_that_is_repeated_without_end_is_not_kept(
    application: Application, services: Services
):
    answer = await application.browsing.get(application.path() + "&resource=" * 1000)

    assert answer.status_code == 400
    assert await OAUTH_REQUESTS.count(services) == 0


async def test_a_user_signed_out_since_the_page_was_loaded_is_asked_to_sign_in(
    application: Application, services: Services, account: Opened
):
    await application.browsing.enter(account)
    form = await application.form(scope="contacts:read contacts:write")
    del form.fields["allow:contacts:write"]
    await SESSIONS.delete(services)

    answer = await application.browsing.send(form, decision="allow")

    assert answer.status_code == 403
    assert "You were signed out. Sign in to decide." in answer.text
    assert WRONG not in answer.text
    assert await attempts(services) == []
    [again] = Forms(answer.text, AUTHORIZE).found
    assert "email" in again.fields
    allowed = await application.browsing.send(again, email=account.email, password=account.password, decision="allow")
    assert "code" in query_of(allowed)


async def attempts(services: Services) -> list[bytes]:
    """Return what is counted of wrong passwords for no address."""
    redis = Redis.from_url(services.settings.redis_url or "")
    found = await redis.keys(f"attempts:sign_in:email:{sha256(b'').hexdigest()}")
    await redis.aclose()
    return found


@pytest.mark.parametrize("decision", ["", "no", "Allow", "allow ", "denied"])
async def test_only_the_buttons_of_the_page_decide(application: Application, services: Services, decision: str):
    form, account = await application.form(), application.account

    answer = await application.browsing.send(form, email=account.email, password=account.password, decision=decision)

    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "Press Allow or Deny to decide." in answer.text
    assert await OAUTH_GRANTS.count(services) == 0
    assert await SESSIONS.count(services) == 0
    assert await OAUTH_REQUESTS.count(services) == 0


async def test_a_challenge_without_a_method_is_taken_for_s256(public: Application):
    pkce = Pkce()

    code = await public.code(code_challenge=pkce.challenge)

    assert (await public.exchange(code, code_verifier=pkce.challenge)).json()["error"] == "invalid_grant"
    assert (await public.exchange(code, code_verifier=pkce.verifier)).status_code == 200


@pytest.mark.parametrize("port", ["", ":1", ":65535"])
async def test_a_loopback_redirect_uri_may_have_any_port(public: Application, port: str):
    public.redirect_uri = f"http://127.0.0.1{port}/callback"

    answer = await public.consent(**Pkce().asked)

    assert answer.headers["location"].startswith(f"http://127.0.0.1{port}/callback?code=")


async def test_neither_the_handle_nor_the_code_is_stored(application: Application, services: Services):
    form = await application.form()
    handle = form.fields["request"]
    code = await application.code()

    stored = [*await OAUTH_REQUESTS.texts(services), *await OAUTH_CODES.texts(services)]
    assert len(stored) == 2
    assert not [text for text in stored if handle in text or code in text]


async def test_a_client_that_was_revoked_meanwhile_gets_nothing(application: Application, services: Services):
    form, account = await application.form(), application.account
    await OAUTH_CLIENTS.change(services, revoked_at=ago())

    answer = await application.browsing.send(form, email=account.email, password=account.password)

    assert answer.status_code == 400
    assert await OAUTH_GRANTS.count(services) == 0


async def test_the_application_of_one_account_cannot_be_connected_by_another(
    application: Application, services: Services, new_account: Callable[..., Any]
):
    application.account = await new_account(company_name="Others")

    answer = await application.consent()

    assert answer.status_code == 403
    assert "Pipelines belongs to another account. Only users of that account can connect it." in answer.text
    assert "location" not in answer.headers
    assert await OAUTH_GRANTS.count(services) == 0


@pytest.mark.parametrize("state", [None, "", "a b&c=d#é", "x" * 3900])
async def test_the_state_comes_back_as_it_was(application: Application, state: str | None):
    told = query_of(await application.consent(state=state))

    assert told.get("state") == (state or None)


@pytest.mark.parametrize("query", ["tenant=a%2Fb%20c", "flag&empty=&plus=a+b~", "code=theirs&iss=theirs"])
async def test_the_query_of_a_redirect_uri_is_kept_letter_for_letter(
    services: Services, browsing: Browsing, account: Opened, query: str
):
    uri = f"https://app.example.com/back?{query}"
    application = await add_application(services, browsing, account, uri=uri)

    location = (await application.consent()).headers["location"]

    assert location.startswith(f"{uri}&code=")
    assert location.count("&state=") == location.removeprefix(uri).count("&iss=") == 1


async def test_an_application_on_a_phone_is_sent_back_to_its_scheme(
    services: Services, browsing: Browsing, account: Opened
):
    application = await add_application(services, browsing, account, uri="com.example.app:/callback")

    answer = await application.consent()

    assert answer.headers["location"].startswith("com.example.app:/callback?code=")


async def test_other_methods_are_refused_in_the_envelope(application: Application):
    answer = await application.http.put(f"{AUTHORIZE}?{urlencode(application.parameters())}")

    assert (answer.status_code, answer.json()["error_code"]) == (405, "method_not_allowed")
