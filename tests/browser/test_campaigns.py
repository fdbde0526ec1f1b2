"""Campaigns: written, previewed and sent to people whose number is confirmed; billing lists what they cost."""

from pathlib import Path

import pytest

from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.contacts import add_contacts
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def test_a_campaign_is_written_previewed_and_sent(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_contacts(scene.services, account.account_id, ["+12025550143", "+12025550144"])
    await scene.receive("STOP")
    screen = await windows.owner(account)
    await screen.open("/campaigns")
    await screen.press("New campaign")
    await screen.fill("Name", "Spring")
    await screen.press("Write the text")
    await screen.heading("Spring").wait_for()
    await screen.fill("Text", "Hi {first_name|there}, fresh bread at 7. Reply STOP to opt out.")
    await screen.press("Save and preview")
    await screen.sees("Hi there, fresh bread at 7.")
    await screen.check(pictures, "campaign")
    await screen.press("Send to 1 person for at most 1 credit")
    await screen.page.get_by_role("dialog").get_by_role("button", name="Send to 1 person").click()
    await screen.page.get_by_role("region", name="Recipients by state").wait_for()

    [(status, most)] = await CAMPAIGNS.read(scene.services, "status", "max_credits")
    assert (status != "draft", most) == (True, 1)

    await screen.open("/billing")
    await screen.sees("Held")
    await screen.check(pictures, "billing")
