"""Settings: keys and webhooks as their owner makes them, people, the company, and what a member is shown."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Route, expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, Screen, Windows
from tests.browser.test_inbox_team import add_colleague
from tests.factories.accounts import ACCOUNTS, API_KEYS, AUDIT_ENTRIES, USERS
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, add_delivery
from tests.graphql.live import Scene, Served
from tests.waiting import within

pytestmark = pytest.mark.anyio

PAGES = ("profile", "company", "sending", "people", "keys", "integrations", "applications", "audit")

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


async def test_a_key_is_shown_once_works_and_is_revoked(
    windows: Windows, scene: Scene, served: Served, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/keys")
    await screen.press("New key")
    await screen.fill("Name", "Shop")
    await page.get_by_label("contacts:read").check()
    await screen.press("Create the key")
    key = (await page.get_by_role("region", name="The key Shop").locator("code").text_content() or "").strip()
    async with httpx2.AsyncClient(base_url=served.base_url, headers={"X-API-Key": key}) as client:
        allowed, refused = await client.get("/contacts"), await client.get("/billing/balance")
    await screen.check(pictures, "keys")
    await screen.press("I stored it")
    await screen.press("Revoke Shop")
    await page.get_by_role("dialog").get_by_role("button", name="Revoke Shop").click()
    await expect(page.get_by_text("Shop", exact=True)).to_have_count(0)
    await page.get_by_label("Show revoked and expired keys").check()
    await screen.sees("Revoked")

    assert (allowed.status_code, refused.status_code) == (200, 403)
    assert await API_KEYS.where(name="Shop", revoked_at=None).read(scene.services, "id") == []
    assert key not in await page.content()


async def test_the_webhooks_below_the_keys_do_not_move_when_these_arrive(windows: Windows, account: Opened):
    screen = await windows.owner(account)
    arrived = asyncio.Event()

    async def hold(route: Route) -> None:
        if "query KeysPage" in (route.request.post_data or ""):
            await within("the count of the buttons", arrived.wait())
        await route.continue_()

    await screen.page.route("**/graphql", hold)
    await screen.open("/settings/keys")
    await screen.page.evaluate("() => new Promise(done => requestIdleCallback(done))")
    added = screen.page.get_by_role("button", name="New webhook")
    before = await added.count()
    arrived.set()
    await added.wait_for()

    assert before == 0


async def test_times_are_shown_in_the_zone_and_the_language_that_a_person_chooses(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/profile")
    for label, word, option in (("Time zone", "Tokyo", "Asia/Tokyo"), ("Format of times and numbers", "de", "de-DE")):
        await page.get_by_role("combobox", name=label).fill(word)
        await page.get_by_role("option", name=option).click()
        await expect(page.get_by_role("combobox", name=label)).to_have_value(option)
    await screen.check(pictures, "profile-place")
    ben_id = await add_colleague(scene, account)
    await USERS.where(id=ben_id).change(scene.services, last_active_at=NOON)
    await screen.open("/settings/people")
    shown = page.locator('time[datetime^="2026-01-02T12:00"]')

    assert await shown.get_attribute("title") == "Freitag, 2. Januar 2026 um 21:00:00 GMT+9 (2026-01-02T12:00:00.000Z)"
    assert await USERS.where(email=account.email).read(scene.services, "time_zone", "locale") == [
        ("Asia/Tokyo", "de-DE")
    ]


async def test_an_invitation_says_where_its_mail_is_while_there_is_no_mail_server(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    await screen.open("/settings/people")
    await screen.press("Invite someone")
    await screen.fill("E-mail address", "ben@example.com")
    await screen.press("Send the invitation")
    await screen.sees("No mail server is set up")
    folder = scene.services.settings.data / "mail"
    await screen.page.get_by_text(str(folder.absolute()), exact=True).wait_for()
    await screen.check(pictures, "people-invited")


async def make_webhook(screen: Screen) -> None:
    """Create a webhook, and open its page."""
    page = screen.page
    await screen.open("/settings/keys")
    await screen.press("New webhook")
    await screen.fill("Address", "http://127.0.0.1:9/hook")
    await page.get_by_role("combobox", name="Events").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.keyboard.press("Escape")
    await screen.press("Create the webhook")
    await screen.sees("whsec_")
    await page.get_by_role("link", name="http://127.0.0.1:9/hook").click()
    await screen.heading("127.0.0.1:9").wait_for()


async def test_a_webhook_is_made_tested_and_shows_its_attempts(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await make_webhook(screen)
    await screen.sees("Last 24 hours, without tests")
    await page.get_by_role("combobox", name="Send a test event").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.get_by_role("button", name="Pending message.inbound Test").click()
    await screen.sees("No attempt yet.")
    await page.get_by_role("combobox", name="Status").click()
    await page.get_by_role("option", name="Failed").click()
    await screen.sees("There are no such deliveries.")
    await page.get_by_role("combobox", name="Status").click()
    await page.get_by_role("option", name="Pending").click()
    await page.get_by_role("button", name="Pending message.inbound Test").click()
    await screen.sees("No attempt yet.")
    await screen.check(pictures, "webhook")
    await page.get_by_label("Status: all").click()
    await WEBHOOK_DELIVERIES.change(scene.services, status="delivered", delivered_at=NOON, next_attempt_at=None)
    await page.get_by_role("button", name="Delivered message.inbound Test").wait_for()
    success = page.locator("dt:text-is('Last success') + dd time")
    assert await success.get_attribute("datetime") == "2026-01-02T12:00:00.000Z"
    await screen.press("Remove")
    await screen.press("Remove the webhook")
    await screen.heading("API Keys").wait_for()

    assert await WEBHOOK_SUBSCRIPTIONS.where(account_id=account.account_id).read(scene.services, "status") == [
        "removed"
    ]


async def test_deliveries_are_found_by_their_answer_and_chosen_ones_are_sent_again(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await make_webhook(screen)
    webhook = await WEBHOOK_SUBSCRIPTIONS.only(scene.services, "id")
    facts = {"event": "message.inbound", "status": "failed", "attempts": 11}
    wanted, gone, other = [
        await add_delivery(scene.services, account.account_id, webhook, answer_status=answer, **facts)
        for answer in (503, 500, None)
    ]
    await WEBHOOK_DELIVERIES.where(id=gone).change(scene.services, body=None)
    await screen.choose("Answer", "5xx")
    await page.get_by_label(f"Choose delivery {wanted}").check()
    await page.get_by_label(f"Choose delivery {gone}").check()
    await expect(page.get_by_label(f"Choose delivery {other}")).to_have_count(0)
    await page.wait_for_url("**answer=server_error*")
    await page.reload()
    await page.get_by_label(f"Choose delivery {wanted}").check()
    await page.get_by_label(f"Choose delivery {gone}").check()
    await expect(page.get_by_label(f"Choose delivery {other}")).to_have_count(0)
    await screen.press("Send them again")
    await screen.sees("1 delivery is sent again.")
    await screen.sees("1 is not: body deleted.")
    await screen.check(pictures, "webhook-replay")
    await screen.press("Send 1 delivery again")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    assert await WEBHOOK_DELIVERIES.read(scene.services, "id", "status") == [
        (wanted, "pending"),
        (gone, "failed"),
        (other, "failed"),
    ]


async def test_a_webhook_is_changed_and_gets_a_new_secret(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    await make_webhook(screen)
    await screen.press("Change")
    await screen.fill("Description", "Orders")
    await screen.press("Save the webhook")
    await screen.sees("Orders")
    await screen.press("Create a new one")
    await screen.press("Create a new secret")
    await screen.sees("whsec_")
    await screen.press("Hide it")
    webhook = await WEBHOOK_SUBSCRIPTIONS.only(scene.services, "id")
    facts = {"event": "message.inbound", "status": "failed", "attempts": 11}
    await add_delivery(scene.services, account.account_id, webhook, **facts)
    await screen.page.get_by_role("combobox", name="Replay failed deliveries").click()
    await screen.page.get_by_role("option", name="Failed in the last hour").click()
    await screen.sees("1 delivery is sent again.")
    await screen.press("Send 1 delivery again")
    await screen.sees("1 delivery sent again")

    assert await WEBHOOK_SUBSCRIPTIONS.only(scene.services, "description") == "Orders"
    assert await AUDIT_ENTRIES.where(action="webhook_secret_rotated").count(scene.services) == 1


async def test_the_question_about_another_period_does_not_show_the_number_of_the_first_one(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    permitted = asyncio.Event()

    async def hold(route: Route) -> None:
        if "query WebhookFailedPreview" in (route.request.post_data or ""):
            await within("the question", permitted.wait())
        await route.continue_()

    async def choose(period: str) -> None:
        await page.get_by_role("combobox", name="Replay failed deliveries").click()
        await page.get_by_role("option", name=period).click()

    await make_webhook(screen)
    webhook = await WEBHOOK_SUBSCRIPTIONS.only(scene.services, "id")
    facts = {"event": "message.inbound", "status": "failed", "attempts": 11}
    await add_delivery(scene.services, account.account_id, webhook, **facts)
    await choose("Failed in the last hour")
    await screen.sees("1 delivery is sent again.")
    await screen.press("Keep it")
    await page.get_by_role("dialog").wait_for(state="hidden")
    await page.route("**/graphql", hold)
    await choose("Failed in the last 7 days")
    await page.get_by_role("button", name="Send again", exact=True).wait_for()
    await expect(page.get_by_text("1 delivery is sent again.")).to_have_count(0)
    permitted.set()
    await screen.sees("1 delivery is sent again.")


async def test_a_phone_shows_the_tab_of_the_page_after_each_way_to_it(windows: Windows, account: Opened):
    screen = await windows.owner(account, NARROW)
    tabs = screen.page.get_by_role("navigation", name="Settings")
    await screen.open("/settings/sessions")
    await expect(tabs.get_by_role("link", name="Sessions")).to_be_in_viewport(ratio=1)
    await screen.go("/settings/profile")
    await screen.heading("You").wait_for()
    await expect(tabs.get_by_role("link", name="You")).to_be_in_viewport(ratio=1)
    await screen.go("/settings/audit")
    await screen.heading("Audit log").wait_for()
    await expect(tabs.get_by_role("link", name="Audit log")).to_be_in_viewport(ratio=1)


async def test_an_owner_names_the_company_and_every_page_of_the_settings_is_sound(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    await screen.open("/settings/company")
    await screen.fill("Company name", "Blue Door Bakery")
    await screen.page.get_by_role("link", name="Home").click()
    await screen.press("Stay here")
    await screen.press("Save the company")
    await screen.sees("Saved")
    await screen.page.get_by_role("button", name="Blue Door Bakery").wait_for()
    assert await ACCOUNTS.where(id=account.account_id).only(scene.services, "company_name") == "Blue Door Bakery"
    assert "account_changed" in await AUDIT_ENTRIES.read(scene.services, "action")

    for name in PAGES:
        await screen.go(f"/settings/{name}")
        await expect(screen.page.get_by_role("status", name="Loading")).to_have_count(0)
        await screen.check(pictures, f"settings-{name}")
