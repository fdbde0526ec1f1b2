"""The pages under /account for keys, people and the export: what owners and members do there, and nobody else."""

import html
import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS, INVITATIONS, USERS, add_user
from tests.graphql.people import change_role
from tests.oauth.browsing import OURS, Browsing

pytestmark = pytest.mark.anyio

PAGES = ("/account/keys", "/account/people", "/account/export")
KEYS, PEOPLE, EXPORT = PAGES


def wrong(answer: httpx2.Response) -> list[str]:
    """Return the sentences that stand beside fields and rows."""
    return [html.unescape(text) for text in re.findall(r'class="wrong"[^>]*>([^<]*)<', answer.text)]


def made(answer: httpx2.Response) -> str:
    """Return the text of the key that is shown once."""
    [key] = re.findall(r'id="made"[^>]* value="([^"]+)"', answer.text)
    return key


@pytest.fixture
async def owner(browsing: Browsing, account: Opened) -> Browsing:
    """Give the browser of an owner who is signed in."""
    await browsing.enter(account)
    return browsing


@pytest.mark.parametrize("path", PAGES)
async def test_a_stranger_is_led_to_where_one_signs_in_and_back(browsing: Browsing, path: str):
    answer = await browsing.get(path)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={path.replace('/', '%2F')}")


async def test_a_person_who_signs_in_returns_to_the_authorization_that_a_crm_gave(browsing: Browsing, account: Opened):
    given = "/crm/callback?state=a%2Bb%3D&code=c%26d"

    answer = await browsing.get(given)
    form = await browsing.form(answer.headers["location"], "/login")
    answer = await browsing.send(form, email=account.email, password=account.password)

    assert (answer.status_code, answer.headers["location"]) == (303, given)


@pytest.mark.parametrize("path", PAGES)
async def test_pages_link_to_one_another_and_forbid_scripts_and_frames(owner: Browsing, path: str):
    answer = await owner.get(path)

    assert answer.status_code == 200
    assert all(f'href="{other}"' in answer.text for other in ("/account", *PAGES))
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert "<script" not in answer.text


async def test_an_owner_makes_a_key_that_is_shown_once_and_works(owner: Browsing, http: httpx2.AsyncClient):
    form = await owner.form(KEYS, KEYS)

    answer = await owner.send(form, name="Zaps", **{"scope:contacts:read": "on"}, expires="2030-01-31")

    key = made(answer)
    assert key.startswith("svc_")
    assert key not in (await owner.get(KEYS)).text
    assert "expires 31 January 2030" in (await owner.get(KEYS)).text
    assert (await http.get("/contacts", headers={"X-API-Key": key})).status_code == 200
    refused = await http.get("/account/balance", headers={"X-API-Key": key})
    assert refused.status_code in (403, 404)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": " "}, "name must have 1 to 100 characters."),
        ({"name": "x", "expires": "tomorrow"}, "expires must be a date, such as 2030-01-31."),
        ({"name": "x", "expires": "2020-01-31"}, "expires_at must be in the future."),
        (
            {"name": "x", "kind": "auto", "scope:account:write": "on"},
            "auto_ keys cannot have the scope account:write. Choose from: account:read, ai:use, billing:read, "
            "campaigns:read, campaigns:send, contacts:read, contacts:write, messages:read, messages:send, "
            "numbers:read, webhooks:manage.",
        ),
    ],
)
async def test_what_is_wrong_with_a_key_is_said_beside_its_field(
    owner: Browsing, services: Services, fields: dict[str, str], sentence: str
):
    before = await API_KEYS.count(services)

    answer = await owner.send(await owner.form(KEYS, KEYS), **fields)

    assert (answer.status_code, wrong(answer)) == (422, [sentence])
    assert await API_KEYS.count(services) == before


async def test_an_owner_rotates_and_revokes_a_key(owner: Browsing, http: httpx2.AsyncClient, services: Services):
    old = made(await owner.send(await owner.form(KEYS, KEYS), name="Zaps"))
    id = (await API_KEYS.where(name="Zaps").read(services, "id"))[0]

    new = made(await owner.send(await owner.form(KEYS, f"{KEYS}/{id}/rotate")))
    assert [(await http.get("/contacts", headers={"X-API-Key": each})).status_code for each in (old, new)] == [200, 200]

    newest = (await API_KEYS.where(name="Zaps").read(services, "id"))[1]
    answer = await owner.send(await owner.form(KEYS, f"{KEYS}/{newest}/revoke"))
    assert answer.headers["location"] == f"{KEYS}?notice=revoked"
    assert await API_KEYS.where(id=newest, revoked_at=None).count(services) == 0
    assert "The key and everything created with it are revoked." in (await owner.get(answer.headers["location"])).text


async def test_a_member_makes_and_revokes_automation_keys_of_their_own_and_sees_no_others(
    owner: Browsing, services: Services
):
    await change_role(services, "member")

    answer = await owner.send(await owner.form(KEYS, KEYS), name="Zaps", kind="svc")

    assert made(answer).startswith("auto_")
    page = await owner.get(KEYS)
    ids = re.findall(r"/account/keys/(\d+)/revoke", page.text)
    assert ids == [str(await API_KEYS.where(name="Zaps").only(services, "id"))]
    assert "rotate" not in page.text
    assert (await owner.send(await owner.form(KEYS, f"{KEYS}/{ids[0]}/revoke"))).status_code == 303
    other = (await API_KEYS.read(services, "id"))[0]
    form = await owner.form(KEYS, KEYS)
    form.action = f"{KEYS}/{other}/revoke"
    assert (await owner.send(form)).status_code == 404
    assert await API_KEYS.where(id=other, revoked_at=None).count(services) == 1


@pytest.mark.parametrize(
    "path", [KEYS, f"{PEOPLE}/invite", f"{PEOPLE}/1/remove", EXPORT, "/account/invitations/1/resend"]
)
async def test_a_form_of_another_site_or_without_its_token_is_refused(owner: Browsing, services: Services, path: str):
    before = (await API_KEYS.count(services), await INVITATIONS.count(services), await USERS.count(services))
    form = await owner.form(KEYS, KEYS)
    form.action = path

    elsewhere = await owner.send(form, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, name="x")
    form.fields["form_token"] = "x"
    forged = await owner.send(form, OURS, name="x", email="eve@example.com")

    assert (elsewhere.status_code, forged.status_code) == (403, 403)
    assert (await API_KEYS.count(services), await INVITATIONS.count(services), await USERS.count(services)) == before


async def test_an_owner_invites_resends_and_withdraws(owner: Browsing, services: Services):
    invite = await owner.form(PEOPLE, f"{PEOPLE}/invite")

    assert (await owner.send(invite, email="nobody", role="member")).status_code == 422
    answer = await owner.send(invite, email="bob@example.com", role="member")
    assert answer.headers["location"] == f"{PEOPLE}?notice=invited"
    first = await INVITATIONS.only(services, "id")
    await owner.send(await owner.form(PEOPLE, f"/account/invitations/{first}/resend"))
    second = await INVITATIONS.where(withdrawn_at=None).only(services, "id")
    assert second != first
    await owner.send(await owner.form(PEOPLE, f"/account/invitations/{second}/withdraw"))

    assert await INVITATIONS.where(withdrawn_at=None).count(services) == 0


async def test_an_address_that_is_none_is_said_so_beside_its_field(owner: Browsing):
    answer = await owner.send(await owner.form(PEOPLE, f"{PEOPLE}/invite"), email="bob", role="member")

    assert (answer.status_code, wrong(answer)) == (422, ["email must be an e-mail address, such as ann@example.com."])
    assert 'value="bob"' in answer.text


async def test_an_owner_changes_roles_and_removes_people_but_never_the_last_owner(
    owner: Browsing, services: Services, account: Opened
):
    bob = await add_user(services, account.account_id, "bob@example.com")

    await owner.send(await owner.form(PEOPLE, f"{PEOPLE}/{bob}/role"), role="owner")
    assert await USERS.where(id=bob).only(services, "role") == "owner"
    await owner.send(await owner.form(PEOPLE, f"{PEOPLE}/{bob}/remove"))
    assert await USERS.where(id=bob, removed_at=None).count(services) == 0

    ann = await USERS.where(removed_at=None).only(services, "id")
    answer = await owner.send(await owner.form(PEOPLE, f"{PEOPLE}/{ann}/remove"))
    assert (answer.status_code, wrong(answer)) == (
        409,
        ["The account needs an owner. Give another user the role owner first."],
    )


async def test_members_see_the_people_and_change_nothing(owner: Browsing, services: Services, account: Opened):
    bob = await add_user(services, account.account_id, "bob@example.com")
    await change_role(services, "member")

    page = await owner.get(PEOPLE)
    assert "bob@example.com" in page.text
    assert f"{PEOPLE}/" not in page.text
    form = await owner.form(KEYS, KEYS)
    form.action = f"{PEOPLE}/{bob}/remove"
    assert (await owner.send(form)).status_code == 403
    assert await USERS.where(id=bob, removed_at=None).count(services) == 1


async def test_nobody_changes_the_people_and_keys_of_another_account(
    owner: Browsing, services: Services, new_account: Callable[..., Any]
):
    other = await new_account()
    user = await USERS.where(account_id=other.account_id).only(services, "id")
    key = (await API_KEYS.where(account_id=other.account_id).read(services, "id"))[0]
    form = await owner.form(KEYS, KEYS)

    for path in (f"{PEOPLE}/{user}/remove", f"{PEOPLE}/{user}/role", f"{KEYS}/{key}/revoke", f"{KEYS}/{key}/rotate"):
        form.action = path
        assert (await owner.send(form, role="member")).status_code == 404
    assert await USERS.where(id=user, removed_at=None, role="owner").count(services) == 1
    assert await API_KEYS.where(id=key, revoked_at=None).count(services) == 1


async def test_a_service_user_uses_none_of_the_pages(owner: Browsing, services: Services):
    await change_role(services, "service")

    assert [(await owner.get(path)).status_code for path in PAGES] == [401, 401, 401]


async def test_an_owner_downloads_the_export(owner: Browsing):
    answer = await owner.send(await owner.form(EXPORT, EXPORT))
    archive = await owner.get(answer.headers["location"])

    assert (answer.status_code, archive.status_code, archive.headers["content-type"]) == (303, 200, "application/zip")


async def test_a_member_is_neither_shown_nor_given_the_export(owner: Browsing, services: Services):
    await change_role(services, "member")
    form = await owner.form(KEYS, KEYS)
    form.action = EXPORT

    assert EXPORT not in (await owner.get("/account")).text
    assert [(await owner.get(EXPORT)).status_code, (await owner.send(form)).status_code] == [403, 403]


async def test_an_id_that_no_row_can_have_is_not_found(owner: Browsing):
    form = await owner.form(KEYS, KEYS)
    for id in ("x", "9" * 19, "-1"):
        form.action = f"{KEYS}/{id}/revoke"
        assert (await owner.send(form)).status_code == 404
