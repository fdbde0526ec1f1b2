"""Fields whose value the address holds: typed key by key, and changed by a link."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import Page, expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.browser.sending import Sending
from tests.browser.test_campaigns import open_step
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def type_into(page: Page, label: str, text: str) -> None:
    """Type a text into a field, key by key, as slowly as a person does."""
    await page.get_by_label(label, exact=True).focus()
    await page.keyboard.type(text, delay=60)


async def test_a_date_that_is_typed_key_by_key_filters_a_list(windows: Windows, account: Opened):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/billing/transactions")
    await type_into(page, "From", "11242026")
    await page.wait_for_url("**from=2026-11-24*")
    await expect(page.get_by_label("From", exact=True)).to_have_value("2026-11-24")
    await type_into(page, "To", "11252026")
    await page.keyboard.press("Tab")
    await page.wait_for_url("**from=2026-11-24&to=2026-11-25*")


async def test_the_time_of_a_campaign_is_typed_key_by_key(windows: Windows, scene: Scene, account: Opened):
    id = await Sending(scene, scene.dispatch).draft("Spring")
    year = datetime.now(UTC).year + 1
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?step=when&when=at")
    await type_into(page, "Time", f"1124{year}")
    await page.keyboard.press("Tab")
    await page.keyboard.type("0930AM", delay=60)
    await screen.press("Next: Check")
    await page.wait_for_url(f"**at={year}-11-24T09*")
    await open_step(screen, "When")

    await expect(page.get_by_label("Time", exact=True)).to_have_value(f"{year}-11-24T09:30")


@pytest.mark.parametrize("kind", ["contacts", "campaigns", "templates"])
async def test_a_search_field_is_empty_after_the_link_to_the_whole_list(windows: Windows, account: Opened, kind: str):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/{kind}")
    await type_into(page, f"Search {kind}", "zzz")
    await page.get_by_role("link", name=f"Show all {kind}").click()
    await page.wait_for_url(f"**/app/{kind}")

    await expect(page.get_by_label(f"Search {kind}")).to_have_value("")
