"""The company and its sending: quiet hours, caps, the export and the deletion of the account."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, Windows
from tests.factories.accounts import ACCOUNTS, USERS
from tests.factories.quiet_hours import QUIET_HOURS_RULES, obey_the_law
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

FORBIDDEN = {"company": "account:write", "sending": "account:write", "audit": "account:write"}
OPEN = ("profile", "notices", "people", "keys", "integrations", "applications", "sessions")


async def test_quiet_hours_are_added_and_removed_beside_the_law_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await obey_the_law(scene.services)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/sending")
    await screen.press("Add a rule")
    await screen.fill("Place", "us")
    await screen.fill("Texts leave from", "06:00")
    await screen.fill("Until", "18:00")
    await page.keyboard.press("Enter")
    await page.get_by_role("alert").wait_for()
    refused = await QUIET_HOURS_RULES.count(scene.services)
    await screen.fill("Texts leave from", "10:00")
    await screen.check(pictures, "settings-sending-new")
    await page.keyboard.press("Enter")
    own = page.get_by_role("region", name="Rules of the account")
    await own.get_by_text("10:00 to 18:00").wait_for()
    await page.get_by_label("Search a place").fill("TX")
    laws = page.get_by_role("region", name="Built-in rules")
    await laws.get_by_text("US-TX").first.wait_for()
    await screen.check(pictures, "settings-sending")
    added = await QUIET_HOURS_RULES.read(scene.services, "jurisdiction")
    await own.get_by_role("button", name="Remove the rule").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="Remove the rule").click()
    await screen.sees("Only the rules of law hold.")

    assert (refused, added) == (0, ["US"])
    assert await QUIET_HOURS_RULES.count(scene.services) == 0


async def test_the_caps_of_texts_are_changed(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    screen = await windows.owner(account, NARROW)
    await screen.open("/settings/sending")
    await screen.fill("Most promotional texts to a person in seven days", "9")
    await screen.page.get_by_label("Quiet hours and caps hold for transactional texts too").check()
    await screen.page.get_by_role("navigation", name="Settings").get_by_role("link", name="Company").click()
    await screen.press("Stay here")
    await screen.press("Save the limits")
    await screen.sees("Saved")
    await screen.check(pictures, "settings-sending-narrow")

    shown = await ACCOUNTS.where(id=account.account_id).only(scene.services, "weekly_cap", "limits_transactional")
    assert tuple(shown) == (9, True)


async def test_an_owner_exports_the_account_asks_for_its_deletion_and_keeps_it(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/company")
    async with page.expect_download() as downloading:
        await screen.press("Download the export")
    exported = await downloading.value
    name = await ACCOUNTS.where(id=account.account_id).only(scene.services, "company_name")
    await screen.press("Delete the account")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(f"Type {name} to confirm").fill("Another")
    await expect(dialog.get_by_role("button", name="Delete the account")).to_be_disabled()
    await screen.check(pictures, "settings-company-delete")
    await dialog.get_by_label(f"Type {name} to confirm").fill(name)
    await page.keyboard.press("Enter")
    await screen.sees("This account is deleted with everything in it on")
    asked = await ACCOUNTS.where(id=account.account_id).only(scene.services, "deletion_at")
    await screen.check(pictures, "settings-company-deleted")
    await screen.press("Keep the account")
    await page.get_by_role("button", name="Delete the account").wait_for()

    assert exported.suggested_filename.endswith(".zip")
    assert asked is not None
    assert await ACCOUNTS.where(id=account.account_id).only(scene.services, "deletion_at") is None


async def test_a_refused_field_of_the_company_shows_why(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    await screen.open("/settings/company")
    await screen.fill("Time zone", "Chicago")
    await screen.press("Save the company")
    await screen.sees("time_zone must be the name of a time zone")

    assert await ACCOUNTS.where(id=account.account_id).only(scene.services, "time_zone") is None


async def test_a_member_opens_every_page_of_the_settings_and_is_told_the_scope_of_those_for_owners(
    windows: Windows, scene: Scene, account: Opened
):
    await USERS.where(email=account.email).change(scene.services, role="member")
    screen = await windows.owner(account)
    await screen.open("/")
    for name, scope in FORBIDDEN.items():
        await screen.go(f"/settings/{name}")
        await screen.heading("Not for your role").wait_for()
        await screen.sees(scope)
    for name in OPEN:
        await screen.go(f"/settings/{name}")
        await screen.page.get_by_role("navigation", name="Settings").wait_for()
        await expect(screen.page.get_by_role("alert")).to_have_count(0)
    assert not screen.complaints
