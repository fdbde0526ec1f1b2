"""Notices: the bell counts them live, each leads to its record, and each person chooses which to get."""

from pathlib import Path

import anyio
import pytest
from playwright.async_api import Locator, Route, expect

from app.domain.events import outbox
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind
from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, Screen, Windows, shown
from tests.factories.notices import NOTICE_PREFERENCES, NOTICES
from tests.graphql.live import PHONE, Scene
from tests.waiting import within

pytestmark = pytest.mark.anyio


def bell(screen: Screen, unread: str) -> Locator:
    return screen.page.get_by_role("button", name=f"Notices, {unread} unread", exact=True)


async def tell_owners(scene: Scene, title: str, kind: NoticeKind = NoticeKind.campaign) -> None:
    async with scene.unit() as unit:
        outbox.record(unit, OwnersNotified(kind=kind, title=title, body="It has ended.", subject_id=7))
    await scene.dispatch()
    await scene.dispatch()


async def test_the_bell_counts_live_and_a_notice_leads_to_its_conversation_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/")
    await bell(screen, "none").wait_for()
    await scene.receive("Do you deliver?")
    await scene.dispatch()
    await bell(screen, "1").wait_for()
    await tell_owners(scene, "The campaign Spring has ended")
    await bell(screen, "2").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("link", name="The campaign Spring has ended").wait_for()
    await screen.check(pictures, "notices-panel")

    await page.get_by_role("link", name="New text from a contact").focus()
    await page.keyboard.press("Enter")
    await screen.heading(shown(PHONE)).wait_for()
    await scene.dispatch()
    await bell(screen, "1").wait_for()
    await page.reload()
    await bell(screen, "1").click()
    campaign = page.get_by_role("link", name="The campaign Spring has ended")

    assert await campaign.get_attribute("href") == "/app/campaigns/7"
    await screen.press("Mark all as read")
    await expect(page.get_by_role("list", name="Notices").get_by_role("img")).to_have_count(0)
    assert await NOTICES.where(read_at=None).count(scene.services) == 0
    await page.keyboard.press("Escape")
    await bell(screen, "none").wait_for()


async def test_a_notice_about_an_integration_leads_to_its_page(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    await tell_owners(scene, "The integration Shop has stopped", NoticeKind.integration)
    await screen.open("/")
    await bell(screen, "1").click()

    link = screen.page.get_by_role("link", name="The integration Shop has stopped")

    assert await link.get_attribute("href") == "/app/settings/integrations/7"


async def test_a_notice_of_the_time_at_which_the_dashboard_begins_is_not_missed(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    held, permitted = anyio.Event(), anyio.Event()

    async def hold(route: Route) -> None:
        if "LastUpdate" in (route.request.post_data or ""):
            held.set()
            await within("the notice", permitted.wait())
        await route.continue_()

    await screen.page.route("**/graphql", hold)
    await screen.page.goto(f"{screen.base}/app/")
    await within("the question for the position", held.wait())
    await tell_owners(scene, "The campaign Spring has ended")
    permitted.set()

    await bell(screen, "1").wait_for()


async def test_notices_that_another_window_reads_leave_the_bell_at_once(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    wide, narrow = await windows.owner(account), await windows.owner(account, NARROW)
    await wide.open("/")
    await narrow.open("/")
    await tell_owners(scene, "The campaign Spring has ended")
    await bell(wide, "1").wait_for()
    await bell(narrow, "1").click()
    await narrow.sees("The campaign Spring has ended")
    await narrow.check(pictures, "notices-panel-narrow")
    await narrow.press("Mark all as read")
    await bell(narrow, "none").wait_for()
    await scene.dispatch()

    await bell(wide, "none").wait_for()


async def test_a_person_chooses_notices_and_is_asked_for_those_of_the_browser_on_a_click_only(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.begin_with(ASKED)
    await screen.open("/settings/notices")
    await page.get_by_label("By mail: A contact writes in a conversation that is yours or not assigned").check()
    await page.get_by_label("Here: The credits are running low").uncheck()
    asked_before = await page.evaluate("asked")
    await screen.check(pictures, "settings-notices")
    await screen.press("Show notices on this computer")
    await screen.sees("Allowed in this browser")

    assert (asked_before, await page.evaluate("asked")) == (0, 1)
    assert sorted(await NOTICE_PREFERENCES.read(scene.services, "kind", "in_browser", "by_mail")) == [
        ("low_balance", False, True),
        ("new_message", True, True),
    ]
    await page.reload()
    await expect(page.get_by_label("Here: The credits are running low")).not_to_be_checked()

    narrow = await windows.owner(account, NARROW)
    await narrow.open("/settings/notices")
    await narrow.check(pictures, "settings-notices-narrow")


async def test_the_browser_shows_a_notice_while_another_window_is_in_front(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    await screen.begin_with(ASKED + "Notification.permission = 'granted'; document.hasFocus = () => false;")
    async with screen.page.expect_response(lambda answer: "NoticesUnread" in (answer.request.post_data or "")):
        await screen.open("/")
    await bell(screen, "none").wait_for()
    await tell_owners(scene, "The campaign Spring has ended")
    await bell(screen, "1").wait_for()
    await screen.page.wait_for_function("() => shown.length === 1")

    assert await screen.page.evaluate("shown") == ["The campaign Spring has ended: It has ended."]


ASKED = """
window.asked = 0;
window.shown = [];
window.Notification = class {
  constructor(title, { body }) { shown.push(`${title}: ${body}`); }
  static permission = 'default';
  static requestPermission() { asked += 1; Notification.permission = 'granted'; return Promise.resolve('granted'); }
};
"""
"""The notices of the browser, which Chromium without a screen neither shows nor asks about."""
