"""Settings of access: sessions, applications, the own name, and the audit log, as people use them."""

from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import expect

from app.domain.accounts.sessions import Visitor
from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.factories.accounts import AUDIT_ENTRIES, SESSIONS, USERS, add_session, add_user, id_of_user
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS, add_clients
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:150.0) Gecko/20100101 Firefox/150.0"


async def test_an_owner_sees_all_sessions_and_ends_the_own_others_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    for address, browser in (("203.0.113.8", IPHONE), ("203.0.113.9", FIREFOX)):
        await scene.services.authentication.enter(account.email, account.password, Visitor(address, browser))
    bo = await add_user(scene.services, account.account_id, "bo@example.com", first_name="Bo")
    until = scene.services.clock.now() + timedelta(days=1)
    await add_session(scene.services, account.account_id, bo, b"theirs", until)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/sessions")
    own = page.get_by_role("region", name="Your sessions")
    await own.get_by_text("Safari on iPhone").wait_for()
    await screen.sees("This browser")
    await screen.check(pictures, "settings-sessions")
    await page.get_by_role("button", name="End the session of Firefox on Windows, 203.0.113.9").focus()
    await page.keyboard.press("Enter")
    await own.get_by_text("Firefox on Windows").wait_for(state="detached")
    await page.get_by_role("button", name="End 1 other session").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="End 1 other session").click()
    await own.get_by_text("Safari on iPhone").wait_for(state="detached")

    assert await SESSIONS.where(user_id=bo).count(scene.services) == 1
    assert (
        await SESSIONS.where(user_id=await id_of_user(scene.services, email=account.email)).count(scene.services) == 1
    )
    await screen.narrow("/settings/sessions")
    await screen.sees("Where others are signed in")
    await screen.check(pictures, "settings-sessions-narrow")


async def test_a_member_sees_the_own_sessions_and_applications_and_changes_the_own_name(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await USERS.where(email=account.email).change(scene.services, role="member")
    bo = await add_user(scene.services, account.account_id, "bo@example.com")
    await add_session(scene.services, account.account_id, bo, b"theirs", scene.services.clock.now() + timedelta(days=1))
    screen = await windows.owner(account)
    await screen.open("/settings/sessions")
    await screen.sees("This browser")
    await expect(screen.page.get_by_text("Where others are signed in")).to_have_count(0)
    await screen.go("/settings/applications")
    await screen.sees("No application acts for you.")
    await expect(screen.page.get_by_role("button", name="Register an application")).to_have_count(0)
    await screen.go("/settings/profile")
    await screen.fill("First name", "Ann")
    await screen.press("Save the name")
    await screen.sees("Saved")
    await screen.check(pictures, "settings-profile-member")

    assert await USERS.where(email=account.email).only(scene.services, "first_name") == "Ann"
    assert await AUDIT_ENTRIES.where(action="user_changed").count(scene.services) == 1


async def test_a_connected_application_shows_its_scopes_in_words_and_is_disconnected(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_clients(scene.services, None, 1, "registered")
    await OAUTH_GRANTS.insert(
        scene.services,
        account_id=account.account_id,
        user_id=await id_of_user(scene.services, email=account.email),
        client_id=await OAUTH_CLIENTS.only(scene.services, "id"),
        scopes=["account:read", "contacts:read"],
        resource="https://sms.example.com",
        last_used_at=scene.services.clock.now(),
        expires_at=scene.services.clock.now() + timedelta(days=30),
    )
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/applications")
    table = page.get_by_role("region", name="Connections")
    await table.locator("summary").click()
    await table.get_by_text("See the account's name and who you are").wait_for()
    await screen.check(pictures, "settings-applications")
    await table.get_by_role("button", name="Disconnect").click()
    await page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    await screen.sees("No application acts for anybody here.")

    assert await OAUTH_GRANTS.where(revoked_at=None).count(scene.services) == 0


async def test_an_application_is_registered_with_its_secret_shown_once_rotated_and_revoked(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/applications")
    await screen.press("Register an application")
    await screen.fill("Name", "Shop")
    await screen.fill("Redirect addresses", "https://shop.example.com/callback")
    await page.get_by_label("contacts:read").check()
    await screen.check(pictures, "settings-applications-new")
    await page.get_by_role("dialog").get_by_role("button", name="Register the application").click()
    made = page.get_by_role("region", name="The credentials of the application")
    secret = (await made.locator("[data-secret]").text_content() or "").strip()
    await screen.check(pictures, "settings-applications-made")
    await screen.press("I stored it")
    await screen.press("Rotate the secret of Shop")
    await screen.press("Create a new secret")
    renewed = (await made.locator("[data-secret]").text_content() or "").strip()
    await screen.press("I stored it")
    await expect(made).to_have_count(0)
    await screen.press("Take over Shop")
    await page.get_by_role("dialog").get_by_role("button", name="Take over Shop").click()
    await page.get_by_role("dialog").wait_for(state="detached")
    await screen.press("Revoke Shop")
    await page.get_by_role("dialog").get_by_role("button", name="Revoke Shop").click()
    await page.get_by_role("cell", name="Revoked").wait_for()

    assert secret
    assert renewed
    assert secret != renewed
    assert renewed not in await page.content()
    assert await OAUTH_CLIENTS.where(name="Shop", revoked_at=None).count(scene.services) == 0
    assert sorted(await AUDIT_ENTRIES.where(subject="Shop").read(scene.services, "action")) == [
        "oauth_client_created",
        "oauth_client_revoked",
        "oauth_client_secret_rotated",
        "oauth_client_taken_over",
    ]


async def test_the_audit_log_keeps_its_filters_in_the_address(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    now = scene.services.clock.now()
    owner = await id_of_user(scene.services, email=account.email)
    for actor, subject, days in ((f"user:{owner}", "Old shop", 40), (f"user:{owner}", "Shop", 1), ("lines", "Mine", 1)):
        await AUDIT_ENTRIES.insert(
            scene.services,
            account_id=account.account_id,
            action="key_created",
            actor=actor,
            subject=subject,
            created_at=now - timedelta(days=days),
        )
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/audit")
    await screen.sees("Old shop")
    await page.get_by_role("combobox", name="Action").click()
    await page.get_by_role("option", name="Key created").click()
    await page.get_by_role("combobox", name="By").click()
    await page.get_by_role("option", name=account.email).click()
    await page.get_by_label("From", exact=True).fill((now - timedelta(days=7)).date().isoformat())
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.get_by_role("cell", name="Shop", exact=True).wait_for()
    await page.reload()

    await expect(page.get_by_role("row")).to_have_count(2)
    await expect(page.get_by_role("combobox", name="By")).to_have_value(account.email)
    await screen.check(pictures, "settings-audit-filtered")
    await screen.open("/settings/audit?action=nonsense&since=never&actor=lines")
    await page.get_by_role("cell", name="Mine", exact=True).wait_for()
    await expect(page.get_by_role("row")).to_have_count(2)
