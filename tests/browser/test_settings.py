"""Settings: keys and webhooks as their owner makes them, people, the company, and what a member is shown."""

from pathlib import Path

import httpx2
import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, Windows
from tests.factories.accounts import ACCOUNTS, API_KEYS, AUDIT_ENTRIES, USERS
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.live import Scene, Served

pytestmark = pytest.mark.anyio

PAGES = ("profile", "company", "people", "keys", "audit")


async def test_a_key_is_shown_once_works_and_is_revoked(
    windows: Windows, scene: Scene, served: Served, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/keys")
    await screen.press("New key")
    await screen.fill("Name", "Shop")
    await page.get_by_label("contacts:read", exact=True).check()
    await screen.press("Make the key")
    key = (await page.get_by_role("region", name="The key Shop").locator("code").text_content() or "").strip()
    async with httpx2.AsyncClient(base_url=served.base_url, headers={"X-API-Key": key}) as client:
        allowed, refused = await client.get("/contacts"), await client.get("/billing/balance")
    await screen.check(pictures, "keys")
    await screen.press("I stored it")
    await screen.press("Revoke Shop")
    await page.get_by_role("dialog").get_by_role("button", name="Revoke Shop").click()
    await screen.sees("Revoked")

    assert (allowed.status_code, refused.status_code) == (200, 403)
    assert await API_KEYS.where(name="Shop", revoked_at=None).read(scene.services, "id") == []
    assert key not in await page.content()


async def test_a_webhook_is_made_tested_and_shows_its_attempts(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/keys")
    await screen.press("New webhook")
    await screen.fill("Address", "http://127.0.0.1:9/hook")
    await page.get_by_role("combobox", name="Events").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.keyboard.press("Escape")
    await screen.press("Make the webhook")
    await screen.sees("whsec_")
    await page.get_by_role("link", name="http://127.0.0.1:9/hook").click()
    await screen.heading("127.0.0.1:9").wait_for()
    await page.get_by_role("combobox", name="Send a test event").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.get_by_role("button", name="Pending message.inbound Test").click()
    await screen.sees("No attempt yet.")
    await screen.check(pictures, "webhook")
    await screen.press("Remove")
    await screen.press("Remove the webhook")
    await screen.heading("API Keys").wait_for()

    assert await WEBHOOK_SUBSCRIPTIONS.where(account_id=account.account_id).read(scene.services, "status") == [
        "removed"
    ]


async def test_an_owner_names_the_company_and_every_page_of_the_settings_is_sound(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    await screen.open("/settings/company")
    await screen.fill("Company name", "Blue Door Bakery")
    await screen.press("Save the settings")
    await screen.sees("Saved")
    assert await ACCOUNTS.where(id=account.account_id).only(scene.services, "company_name") == "Blue Door Bakery"
    assert "account_changed" in await AUDIT_ENTRIES.read(scene.services, "action")

    narrow = await windows.owner(account, NARROW)
    for window, suffix, names in ((screen, "", PAGES), (narrow, "-narrow", PAGES[-2:])):
        for name in names:
            await window.open(f"/settings/{name}")
            await expect(window.page.get_by_role("status", name="Loading")).to_have_count(0)
            await window.check(pictures, f"settings-{name}{suffix}")


async def test_a_member_sees_what_a_member_may_do(windows: Windows, scene: Scene, account: Opened):
    await USERS.where(email=account.email).change(scene.services, role="member")
    screen = await windows.owner(account)
    await screen.open("/settings/audit")
    await screen.heading("Not for your role").wait_for()
    await screen.sees("account:write")
    await screen.open("/settings/profile")

    tabs = await screen.page.get_by_role("navigation", name="Settings").get_by_role("link").all_text_contents()
    assert tabs == ["You", "People", "API Keys"]
