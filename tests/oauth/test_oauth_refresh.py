"""Refresh tokens: how they rotate, how long they last, and what ends them."""

import asyncio

import httpx2
import pytest

from app.domain.oauth import grants
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import AUDIT_ENTRIES, USERS
from tests.factories.oauth import (
    OAUTH_CLIENTS,
    OAUTH_GRANTS,
    OAUTH_REFRESH_TOKENS,
    lifetime,
)
from tests.factories.tables import Change, ago, ahead
from tests.oauth.applications import (
    TOOLS,
    Application,
    add_application,
    bearer,
)
from tests.oauth.browsing import Browsing
from tests.oauth.refused import refusal, revoked_because

pytestmark = pytest.mark.anyio


async def test_eight_refreshes_of_one_token_at_once_all_keep_the_connection(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    first = await application.connect()

    answers = await asyncio.gather(*(application.refresh(first["refresh_token"]) for _ in range(8)))

    assert [answer.status_code for answer in answers] == [200] * 8
    siblings = [answer.json() for answer in answers]
    assert len({each["refresh_token"] for each in siblings}) == 8
    for each in siblings:
        assert (await http.get("/contacts", headers=bearer(each["access_token"]))).status_code == 200
        assert (await application.refresh(each["refresh_token"])).status_code == 200
    assert await revoked_because(services) == []


async def test_a_connection_is_given_so_many_tokens_in_a_minute_and_keeps_those_it_has(
    application: Application, services: Services, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(grants, "MAX_IN_A_MINUTE", 3)
    first = await application.connect()
    statuses = [(await application.refresh(first["refresh_token"])).status_code for _ in range(2)]

    refused = await application.refresh(first["refresh_token"])

    assert (statuses, refused.status_code, refused.json()["error"]) == ([200, 200], 429, "temporarily_unavailable")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert await OAUTH_REFRESH_TOKENS.count(services) == 3
    await OAUTH_REFRESH_TOKENS.change(services, created_at=ago(seconds=61), rotated_at=None)
    assert (await application.refresh(first["refresh_token"])).status_code == 200
    assert await revoked_because(services) == []


async def test_a_lost_answer_can_be_asked_for_again(application: Application, services: Services):
    first = await application.connect()
    await application.refresh(first["refresh_token"])
    await OAUTH_REFRESH_TOKENS.age(services, "rotated_at", seconds=20)

    assert (await application.refresh(first["refresh_token"])).status_code == 200


async def test_a_stolen_refresh_token_ends_the_whole_family(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    first = await application.connect()
    second = (await application.refresh(first["refresh_token"])).json()
    await OAUTH_REFRESH_TOKENS.age(services, "rotated_at", seconds=61)

    stolen = await application.refresh(first["refresh_token"])

    assert refusal(stolen) == (400, "invalid_grant")
    assert await revoked_because(services) == ["refresh_token_reused"]
    assert refusal(await application.refresh(second["refresh_token"])) == (400, "invalid_grant")
    assert (await http.get("/contacts", headers=bearer(second["access_token"]))).status_code == 401
    cut_off = await AUDIT_ENTRIES.where(action="application_cut_off").only(services)
    assert (cut_off["subject"], cut_off["details"]["because"]) == ("Pipelines", "refresh_token_reused")


async def test_the_grace_does_not_grow_with_each_use(application: Application, services: Services):
    first = await application.connect()
    await application.refresh(first["refresh_token"])
    at = await OAUTH_REFRESH_TOKENS.where_not(rotated_at=None).only(services, "rotated_at")

    await application.refresh(first["refresh_token"])

    assert await OAUTH_REFRESH_TOKENS.where_not(rotated_at=None).only(services, "rotated_at") == at


async def test_a_refresh_token_of_another_client_is_unknown_and_stays_good(
    application: Application, services: Services, browsing: Browsing, account: Opened
):
    other = await add_application(services, browsing, account)
    tokens = await application.connect()

    assert refusal(await other.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert await revoked_because(services) == []
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_refresh_token_lasts_thirty_days_from_its_last_use_and_a_year_at_most(
    application: Application, services: Services
):
    tokens = await application.connect()
    pool = services.database.pool
    assert (await lifetime(pool, OAUTH_REFRESH_TOKENS)).total_seconds() == 30 * 86400
    assert (await lifetime(pool, OAUTH_GRANTS)).days == 365

    await OAUTH_GRANTS.change(pool, expires_at=ahead(days=2))
    tokens = (await application.refresh(tokens["refresh_token"])).json()

    assert 86400 < (await lifetime(pool, OAUTH_REFRESH_TOKENS)).total_seconds() <= 2 * 86400
    await OAUTH_REFRESH_TOKENS.change(pool, expires_at=ago())
    assert refusal(await application.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"scope": "contacts:read messages:send"}, "invalid_scope"),
        ({"resource": TOOLS}, "invalid_target"),
        ({"refresh_token": None}, "invalid_request"),
        ({"refresh_token": "wrong"}, "invalid_grant"),
    ],
)
async def test_a_refresh_that_asks_for_too_much_rotates_nothing(
    application: Application, services: Services, given: dict[str, str | None], error: str
):
    tokens = await application.connect(scope="contacts:read")

    answer = await application.refresh(**({"refresh_token": tokens["refresh_token"]} | given))

    assert refusal(answer) == (400, error)
    assert await OAUTH_REFRESH_TOKENS.where_not(rotated_at=None).count(services) == 0


@pytest.mark.parametrize(
    "ended",
    [
        lambda services: USERS.change(services, removed_at=ago()),
        lambda services: OAUTH_GRANTS.change(services, revoked_at=ago()),
        lambda services: OAUTH_GRANTS.change(services, expires_at=ago()),
    ],
    ids=["user removed", "grant revoked", "grant expired"],
)
async def test_tokens_and_codes_end_with_their_user_or_grant(
    application: Application, services: Services, http: httpx2.AsyncClient, ended: Change
):
    tokens, code = await application.connect(), await application.code()

    await ended(services)

    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert refusal(await application.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert refusal(await application.exchange(code)) == (400, "invalid_grant")


async def test_a_reduced_role_reduces_the_scopes_of_applications(application: Application, services: Services):
    tokens = await application.connect()
    scopes = [*await OAUTH_GRANTS.only(services, "scopes"), "account:write"]
    await OAUTH_GRANTS.change(services, scopes=scopes)

    await USERS.change(services, role="member")
    await OAUTH_REFRESH_TOKENS.change(services, scopes=scopes)

    assert "account:write" not in (await application.refresh(tokens["refresh_token"])).json()["scope"]


async def test_a_deleted_client_is_told_to_register_again(application: Application, services: Services):
    tokens = await application.connect()
    await OAUTH_CLIENTS.change(services, revoked_at=ago())

    assert refusal(await application.refresh(tokens["refresh_token"])) == (401, "invalid_client")
