"""Quiet hours that will hold texts are shown before these are sent."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows, shown
from tests.browser.sending import Sending
from tests.factories.accounts import ACCOUNTS
from tests.factories.contacts import add_contacts
from tests.factories.messages import MESSAGES
from tests.factories.quiet_hours import close_for_hours
from tests.graphql.live import PHONE, Scene

pytestmark = pytest.mark.anyio

FIELD = f"Text to {shown(PHONE)}"


async def test_the_confirmation_says_how_many_texts_quiet_hours_hold_and_until_when(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await close_for_hours(scene.services)
    await add_contacts(scene.services, account.account_id, ["+12025550143", "+12025550144"])
    id = await Sending(scene, scene.dispatch).draft("Spring")
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}?step=check")
    await screen.press("Send to 2 people for at most 2 credits")
    dialog = screen.page.get_by_role("dialog")
    await dialog.get_by_text("Quiet hours hold 2 texts back until").wait_for()
    assert await dialog.get_by_role("time").count() == 1
    await screen.check(pictures, "campaign-confirm-held")


async def test_a_text_that_quiet_hours_will_hold_says_so_before_it_is_sent(
    windows: Windows, scene: Scene, account: Opened
):
    await close_for_hours(scene.services)
    await ACCOUNTS.change(scene.services, limits_transactional=True)
    await scene.receive("Hi")
    screen = await windows.owner(account)
    page = screen.page
    held = page.get_by_text("it is outside the hours in which this person may be texted.")
    await screen.open("/inbox")
    await screen.press("New text")
    await screen.fill("Phone", "+12025550199")
    await page.get_by_role("textbox", name="Text", exact=True).fill("Your table is booked.")
    await page.get_by_label("This person agreed to be texted by us.").check()
    await held.wait_for()
    await page.get_by_role("button", name="Close").click()
    await screen.press("Close without saving")
    await page.get_by_role("link", name="Hi").click()
    await screen.fill(FIELD, "See you")
    await page.get_by_text("1 credit").first.wait_for()
    await expect(held).to_have_count(0)

    await MESSAGES.age(scene.services, "created_at", hours=25)
    await page.reload()
    await held.wait_for()
