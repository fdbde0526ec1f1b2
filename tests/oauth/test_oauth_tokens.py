"""The token endpoint: what it refuses and how, what is used once, and what happens to what is stolen."""

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import httpx2
import jwt
import pytest

from app.domain.onboarding.service import Opened
from app.main import create_app
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import AUDIT_ENTRIES
from tests.factories.oauth import (
    OAUTH_CLIENTS,
    OAUTH_CODES,
    OAUTH_GRANTS,
    OAUTH_REFRESH_TOKENS,
    OAUTH_SIGNING_KEYS,
    lifetime,
)
from tests.factories.tables import ago
from tests.factories.traps import table_locked
from tests.oauth.applications import (
    REDIRECT,
    REVOKE,
    TOKEN,
    TOOLS,
    Application,
    Pkce,
    add_application,
    bearer,
)
from tests.oauth.browsing import Browsing
from tests.oauth.refused import refusal, revoked_because
from tests.shared import running
from tests.waiting import until

pytestmark = pytest.mark.anyio


async def test_a_used_code_and_a_used_refresh_token_are_refused_with_their_possible_faults(application: Application):
    code = await application.code()
    await application.exchange(code)

    answers = [await application.exchange(code), await application.refresh("unknown")]

    said = "The code or token is unknown, used, expired or revoked, or was given to another client."
    assert [answer.json()["error_description"] for answer in answers] == [said, said]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"grant_type": None}, (400, "invalid_request")),
        ({"grant_type": ""}, (400, "invalid_request")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"grant_type": '"é\x00'}, (400, "unsupported_grant_type")),
        ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
        ({"client_id": None}, (401, "invalid_client")),
        ({"client_id": "nobody"}, (401, "invalid_client")),
        ({"client_id": "nul\x00"}, (401, "invalid_client")),
        ({"client_secret": None}, (401, "invalid_client")),
        ({"client_secret": "wrong"}, (401, "invalid_client")),
        ({"code": None}, (400, "invalid_request")),
        ({"code": "wrong"}, (400, "invalid_grant")),
        ({"redirect_uri": None}, (400, "invalid_grant")),
        ({"redirect_uri": f"{REDIRECT}/more"}, (400, "invalid_grant")),
        ({"code_verifier": "v" * 43}, (400, "invalid_request")),
        ({"resource": TOOLS}, (400, "invalid_target")),
    ],
)
async def test_a_refused_exchange_names_the_error_and_keeps_the_code_valid(
    application: Application, given: dict[str, str | None], expected: tuple[int, str]
):
    code = await application.code()

    answer = await application.exchange(**({"code": code} | given))

    assert refusal(answer) == expected
    if expected[0] == 401:
        assert answer.headers["www-authenticate"].startswith('Basic error="invalid_client"')
    assert (await application.exchange(code)).status_code == 200


@pytest.mark.parametrize("credentials", [b"\xff\xfe:x", b"nobody:x", b"nocolon", None, "\u00e9"])
async def test_basic_credentials_that_cannot_be_read_are_wrong_credentials(
    application: Application, credentials: bytes | str | None
):
    sent = "not base64!" if credentials is None else credentials
    text = base64.b64encode(sent).decode() if isinstance(sent, bytes) else sent

    answer = await application.exchange(
        await application.code(),
        {"Authorization": f"Basic {text}".encode("latin-1")},
        client_id=None,
        client_secret=None,
    )

    assert refusal(answer) == (401, "invalid_client")


async def test_the_secret_of_one_client_does_not_open_another(
    application: Application, services: Services, browsing: Browsing, account: Opened
):
    other = await add_application(services, browsing, account)
    code = await application.code()

    assert refusal(await application.exchange(code, client_secret=other.secret)) == (401, "invalid_client")
    assert refusal(await other.exchange(code)) == (400, "invalid_grant")
    assert (await application.exchange(code)).status_code == 200


async def test_a_confidential_client_cannot_pass_for_a_public_one(application: Application):
    pkce = Pkce()
    code = await application.code(**pkce.asked)

    answer = await application.exchange(code, code_verifier=pkce.verifier, client_secret=None)

    assert refusal(answer) == (401, "invalid_client")


async def test_a_public_client_has_no_secret_that_could_be_right(public: Application):
    pkce = Pkce()
    code = await public.code(**pkce.asked)

    assert refusal(await public.exchange(code, code_verifier=pkce.verifier, client_secret="x"))[0] == 401
    assert (await public.exchange(code, code_verifier=pkce.verifier)).status_code == 200


@pytest.mark.parametrize(
    ("verifier", "error"),
    [(None, "invalid_request"), ("short", "invalid_request"), ("v" * 43, "invalid_grant")],
)
async def test_a_code_is_good_with_its_verifier_only(public: Application, verifier: str | None, error: str):
    code = await public.code(**Pkce().asked)

    assert refusal(await public.exchange(code, code_verifier=verifier)) == (400, error)


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "multipart/form-data; boundary=x"])
async def test_only_forms_are_read(http: httpx2.AsyncClient, content_type: str):
    answer = await http.post(TOKEN, content=b'{"grant_type": "x"}', headers={"Content-Type": content_type})

    assert refusal(answer) == (400, "invalid_request")


async def test_a_parameter_sent_twice_is_refused(application: Application):
    sent = f"grant_type=authorization_code&grant_type=refresh_token&client_id={application.client_id}"

    answer = await application.http.post(
        TOKEN, content=sent, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    assert refusal(answer) == (400, "invalid_request")


async def test_a_body_without_end_is_refused(http: httpx2.AsyncClient):
    answer = await http.post(TOKEN, data={"grant_type": "x" * 70_000})

    assert refusal(answer) == (400, "invalid_request")


async def test_a_code_lasts_for_a_minute(application: Application, services: Services):
    code = await application.code()
    lasts = await lifetime(services, OAUTH_CODES)
    await OAUTH_CODES.change(services, expires_at=ago())

    assert lasts.total_seconds() == 60
    assert refusal(await application.exchange(code)) == (400, "invalid_grant")


async def test_a_replayed_code_revokes_its_tokens(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    code = await application.code()
    tokens = (await application.exchange(code)).json()
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 200

    again = await application.exchange(code)

    assert refusal(again) == (400, "invalid_grant")
    assert await revoked_because(services) == ["code_replayed"]
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert refusal(await application.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


async def test_of_two_exchanges_of_one_code_at_once_one_succeeds(application: Application, services: Services):
    code = await application.code()

    answers = await asyncio.gather(*(application.exchange(code) for _ in range(4)))

    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
    assert await revoked_because(services) == ["code_replayed"]


async def test_trouble_with_the_database_is_no_fault_of_the_client(application: Application, services: Services):
    tokens = await application.connect()
    async with table_locked(services.database.pool, "oauth_refresh_tokens"):
        waiting = asyncio.create_task(application.refresh(tokens["refresh_token"]))
        await _break_off_who_waits(services)
        answer = await waiting

    assert refusal(answer) == (503, "temporarily_unavailable")
    assert answer.headers["retry-after"] == "5"
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200


async def _break_off_who_waits(services: Services) -> None:
    cancel = (
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%oauth_%'"
    )
    await until(lambda: services.database.pool.fetch(cancel))


async def test_neither_secrets_nor_tokens_are_stored(application: Application, services: Services):
    tokens = await application.connect()

    tables = (OAUTH_CLIENTS, OAUTH_GRANTS, OAUTH_REFRESH_TOKENS, OAUTH_SIGNING_KEYS, AUDIT_ENTRIES)
    stored = "".join([text for rows in tables for text in await rows.texts(services)])
    assert application.client_id in stored
    for secret in (application.secret or "", tokens["refresh_token"], tokens["access_token"]):
        assert secret not in stored
        assert secret.encode().hex() not in stored


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_token_handed_back_ends_the_grant(
    application: Application, services: Services, http: httpx2.AsyncClient, kind: str
):
    tokens = await application.connect()

    answer = await application.post(REVOKE, token=tokens[kind], token_type_hint="nonsense")

    assert (answer.status_code, answer.json()) == (200, {})
    assert await revoked_because(services) == ["revoked_by_client"]
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert refusal(await application.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert (await application.post(REVOKE, token=tokens[kind])).status_code == 200


async def test_a_public_client_hands_back_too(public: Application, services: Services):
    pkce = Pkce()
    answer = await public.exchange(await public.code(**pkce.asked), code_verifier=pkce.verifier)

    assert (await public.post(REVOKE, token=answer.json()["refresh_token"])).status_code == 200
    assert await revoked_because(services) == ["revoked_by_client"]


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_client_cannot_revoke_the_token_of_another_client(
    application: Application, services: Services, new_account: Callable[..., Any], browsing: Browsing, kind: str
):
    other = await add_application(services, browsing, await new_account())
    tokens = await application.connect()

    assert refusal(await other.post(REVOKE, token=tokens[kind])) == (400, "invalid_grant")
    assert refusal(await application.post(REVOKE, token=tokens[kind], client_secret="wrong"))[0] == 401
    assert await revoked_because(services) == []


async def test_an_unknown_token_is_revoked_already(application: Application):
    assert (await application.post(REVOKE, token="unknown")).status_code == 200
    assert (await application.post(REVOKE, token="a.b.c")).status_code == 200
    assert refusal(await application.post(REVOKE)) == (400, "invalid_request")


async def test_a_signing_key_is_published_before_its_first_token(application: Application, http: httpx2.AsyncClient):
    before = {key["kid"] for key in (await http.get("/oauth/keys")).json()["keys"]}

    token = (await application.connect())["access_token"]

    assert jwt.get_unverified_header(token)["kid"] in before


async def test_behind_a_proxy_that_ends_tls_the_address_is_still_the_one_that_clients_use(
    settings: Settings, application: Application
):
    public = settings.model_copy(update={"environment": "production", "base_url": "https://sms.example.com"})
    async with running(create_app(public)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://10.1.2.3:8000") as http:
            answer = await http.post(TOKEN, data={"grant_type": "authorization_code", "client_id": "x"})
            page = await http.get(application.path())

    assert refusal(answer) == (401, "invalid_client")
    assert page.status_code == 200
