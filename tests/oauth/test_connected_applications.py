"""The applications that act for a person, on the page of their account."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from app.domain.accounts.roles import scopes_of
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import queries
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, CREATORS, SESSIONS, USERS, add_user, id_of_user
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.tables import ago
from tests.oauth.applications import Application, bearer
from tests.oauth.browsing import Browsing

pytestmark = pytest.mark.anyio

NONE = "No application acts for you."
LISTED = re.compile(r'action="/account/applications/(\d+)/disconnect"')


async def live(services: Services) -> int:
    return await OAUTH_GRANTS.where(revoked_at=None).count(services)


async def connect_and_subscribe(application: Application, http: httpx2.AsyncClient) -> None:
    """Connect the application, and make a webhook with the new connection."""
    headers = bearer((await application.connect())["access_token"])
    wish = {"event": "new_message", "target_url": f"https://hooks.example.com/{uuid4()}"}
    assert (await http.post("/automation/subscribe", json=wish, headers=headers)).is_success


async def disconnect(application: Application, grant_id: int) -> None:
    page = await application.browsing.form("/account", f"/account/applications/{grant_id}/disconnect")
    assert (await application.browsing.send(page)).status_code == 303


async def disconnections(services: Services) -> list[tuple[str, str]]:
    return await AUDIT_ENTRIES.where(action="application_disconnected").read(services, "subject", "actor")


async def test_a_user_sees_and_disconnects_a_connected_application(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    tokens = await application.connect()
    created, used = datetime(2026, 3, 2, 10, tzinfo=UTC), datetime(2026, 5, 4, 9, 7, tzinfo=UTC)
    await OAUTH_GRANTS.change(services, created_at=created, last_used_at=used)
    browsing, pool = application.browsing, services.database.pool

    page = (await browsing.get("/account")).text
    [id] = LISTED.findall(page)
    assert "<strong>Pipelines</strong>" in page
    assert "Since 2 March 2026 · last used 4 May 2026, 09:07 UTC" in page
    answer = await browsing.send(await browsing.form("/account", f"/account/applications/{id}/disconnect"))

    assert (answer.status_code, answer.headers["location"]) == (303, "/account?notice=disconnected")
    after = (await browsing.get(answer.headers["location"])).text
    assert "The application is disconnected." in after
    assert NONE in after
    assert "<strong>Pipelines</strong>" not in after
    assert await OAUTH_GRANTS.only(pool, "revoked_because") == "revoked_by_user"
    assert (await http.get("/contacts", headers=bearer(tokens["access_token"]))).status_code == 401
    assert (await application.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    user = await id_of_user(pool)
    assert await disconnections(services) == [("Pipelines", f"user:{user}")]


async def test_unused_expired_and_revoked_grants_are_not_shown(application: Application, services: Services):
    await application.code()
    for _ in range(2):
        await application.connect()
    _, first, second = await OAUTH_GRANTS.read(services, "id")
    await OAUTH_GRANTS.where(id=second).change(services, expires_at=ago())
    await OAUTH_GRANTS.where(id=first).change(services, revoked_at=ago())

    page = (await application.browsing.get("/account")).text

    assert LISTED.findall(page) == []
    assert NONE in page


async def test_a_user_cannot_see_or_disconnect_an_application_of_a_colleague(
    application: Application, services: Services
):
    await application.connect()
    pool = services.database.pool
    colleague = await add_user(pool, await ACCOUNTS.only(pool, "id"), "x@example.com")
    await OAUTH_GRANTS.change(pool, user_id=colleague)
    id, browsing = await OAUTH_GRANTS.only(pool, "id"), application.browsing

    page = (await browsing.get("/account")).text
    form = await browsing.form("/account", "/logout")
    form.action = f"/account/applications/{id}/disconnect"
    answer = await browsing.send(form)

    assert NONE in page
    assert (answer.status_code, await live(services)) == (404, 1)
    assert await disconnections(services) == []


async def test_another_account_disconnects_nothing(
    application: Application, services: Services, new_account: Callable[..., Any]
):
    await application.connect()
    id = await OAUTH_GRANTS.only(services, "id")
    application.browsing.client.cookies.clear()
    await application.browsing.enter(await new_account(company_name="Others"))
    form = await application.browsing.form("/account", "/logout")
    form.action = f"/account/applications/{id}/disconnect"

    answer = await application.browsing.send(form)

    assert (answer.status_code, await live(services)) == (404, 1)


async def test_another_site_disconnects_nothing(application: Application, services: Services):
    await application.connect()
    browsing = application.browsing
    [id] = LISTED.findall((await browsing.get("/account")).text)
    form = await browsing.form("/account", f"/account/applications/{id}/disconnect")

    foreign = await browsing.send(form, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})
    tokenless = await browsing.send(form, form_token="")

    assert (foreign.status_code, tokenless.status_code, await live(services)) == (403, 403, 1)


async def test_disconnecting_after_a_sign_out_redirects_to_sign_in(application: Application, services: Services):
    await application.connect()
    browsing = application.browsing
    [id] = LISTED.findall((await browsing.get("/account")).text)
    form = await browsing.form("/account", f"/account/applications/{id}/disconnect")
    await SESSIONS.delete(services)

    answer = await browsing.send(form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Faccount")
    assert await live(services) == 1


@pytest.mark.parametrize("of", ["sessions/{}/end", "applications/{}/disconnect"])
@pytest.mark.parametrize("id", ["9" * 20, "9" * 5000, "0", "-1", "x", "%E2%91%A0", "1%00"])
async def test_an_id_that_nothing_can_have_is_not_found(browsing: Browsing, account: Opened, of: str, id: str):
    await browsing.enter(account)
    form = await browsing.form("/account", "/logout")
    form.action = f"/account/{of.format(id)}"

    answer = await browsing.send(form)

    assert answer.status_code == 404
    assert "Back to your account" in answer.text


async def test_the_grants_of_a_removed_user_are_not_listed(application: Application, services: Services):
    await application.connect()
    pool = services.database.pool
    account = application.account.account_id
    owner = Actor(account, scopes_of("owner"), "test")
    async with unit_of(services, owner) as unit:
        assert len(await queries.list_applications(unit)) == 1

    await USERS.change(pool, removed_at=ago())

    async with unit_of(services, owner) as unit:
        assert await queries.list_applications(unit) == []


async def test_a_connected_application_is_found_by_its_grant_though_it_was_disconnected(
    application: Application, services: Services, account: Opened
):
    await application.connect()
    await OAUTH_GRANTS.change(services, revoked_at=ago())
    id = await OAUTH_GRANTS.only(services, "id")

    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        found = await queries.find_applications(unit, [id, id + 1])

    assert {key: each.client_name for key, each in found.items()} == {id: "Pipelines"}


@pytest.mark.parametrize(("scope", "is_handed_on"), [(None, True), ("account:read contacts:read", False)])
async def test_webhooks_of_a_connection_belong_to_the_next_one_of_its_user_with_all_its_scopes(
    application: Application, services: Services, http: httpx2.AsyncClient, scope: str | None, is_handed_on: bool
):
    await connect_and_subscribe(application, http)
    await application.connect(scope=scope)
    first, second = await OAUTH_GRANTS.read(services, "id")

    assert await CREATORS.last(services, "creator_grant_id") == (second if is_handed_on else first)


async def test_scopes_of_connections_are_compared_with_those_that_they_include(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    await connect_and_subscribe(application, http)
    first = await OAUTH_GRANTS.only(services, "id")
    await OAUTH_GRANTS.change(services, scopes=["contacts:read", "contacts:write", "webhooks:manage"])
    await application.connect(scope="contacts:write webhooks:manage")
    second = max(await OAUTH_GRANTS.read(services, "id"))
    await OAUTH_GRANTS.where(id=second).change(services, scopes=["contacts:write", "webhooks:manage"])
    creators = [await CREATORS.last(services, "creator_grant_id")]

    await OAUTH_GRANTS.where(id=first).change(services, scopes=["contacts:write", "webhooks:manage"])
    await OAUTH_GRANTS.where(id=second).change(services, scopes=["contacts:read", "webhooks:manage"])
    await disconnect(application, second)
    creators.append(await CREATORS.last(services, "creator_grant_id"))

    assert creators == [second, first]


async def test_webhooks_outlive_a_newer_connection_that_is_disconnected_while_the_older_one_lasts(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    await connect_and_subscribe(application, http)
    await application.connect()
    first, second = await OAUTH_GRANTS.read(services, "id")
    creators = list[int]()

    for id in (second, first):
        await disconnect(application, id)
        creators.append(await CREATORS.last(services, "creator_grant_id"))

    assert creators == [first, first]
    assert await live(services) == 0


async def test_webhooks_of_a_newer_connection_end_with_it_while_an_older_one_lasts(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    await application.connect()
    await connect_and_subscribe(application, http)
    second = max(await OAUTH_GRANTS.read(services, "id"))

    await disconnect(application, second)

    assert await CREATORS.last(services, "creator_grant_id") == second


async def test_webhooks_end_with_their_connection_while_the_code_of_another_is_not_exchanged(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    await connect_and_subscribe(application, http)
    await application.connect()
    first, second = await OAUTH_GRANTS.read(services, "id")
    await CREATORS.change(services, creator_grant_id=first, is_handed_on=True)
    await OAUTH_GRANTS.where(id=second).change(services, last_used_at=None)

    await disconnect(application, first)

    assert await CREATORS.last(services, "creator_grant_id") == first


async def test_webhooks_of_a_colleague_of_an_ended_connection_and_of_another_resource_stay_as_they_are(
    application: Application, services: Services, http: httpx2.AsyncClient
):
    pool = services.database.pool
    colleague = await add_user(pool, await ACCOUNTS.only(pool, "id"), "x@example.com")
    for changes in ({"user_id": colleague}, {"revoked_at": ago()}, {"expires_at": ago()}, {"resource": "tools"}):
        await connect_and_subscribe(application, http)
        id = max(await OAUTH_GRANTS.read(services, "id"))
        await OAUTH_GRANTS.where(id=id).change(services, **changes)

        await application.connect()

        assert await CREATORS.last(services, "creator_grant_id") == id
