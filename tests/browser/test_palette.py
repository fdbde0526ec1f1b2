"""The command palette: pages, actions and records, found and opened by the keyboard alone."""

from pathlib import Path

import anyio
import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.browser.screen import NARROW, Screen, Windows
from tests.browser.test_late_answers import hold_first
from tests.factories.accounts import USERS
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.contacts import CONTACTS
from tests.waiting import within

pytestmark = pytest.mark.anyio

FIELD = "Search people, records, pages and actions"
CHOSEN = "[role=option][aria-selected=true]"


@pytest.fixture
async def contact_id(services: Services, account: Opened) -> int:
    """Add a contact and a campaign whose names begin alike; return the id of the contact."""
    await CAMPAIGNS.insert(
        services, account_id=account.account_id, name="Anniversary", body="", audience={}, created_by=""
    )
    return await CONTACTS.insert(
        services, account_id=account.account_id, phone="+12025550143", first_name="Anna", last_name="Ruiz"
    )


async def search(screen: Screen, text: str) -> None:
    """Open the palette and type a text."""
    await open_palette(screen)
    await screen.page.keyboard.type(text)


async def open_palette(screen: Screen) -> None:
    """Open the palette; keys that follow reach its field."""
    await screen.page.keyboard.press("Control+k")
    await expect(screen.page.get_by_role("combobox", name=FIELD)).to_be_focused()


async def test_a_person_is_found_and_opened_with_the_keyboard_and_offered_again(
    windows: Windows, account: Opened, contact_id: int, pictures: Path
):
    screen = await windows.owner(account)
    await screen.open("/")
    page = screen.page
    await search(screen, "ann")
    await page.get_by_role("option", name="Anna Ruiz").wait_for()
    assert await page.locator(CHOSEN).inner_text() == "Anna Ruiz\n+1 202-555-0143"
    described = await page.get_by_role("combobox", name=FIELD).get_attribute("aria-activedescendant")
    assert described == await page.locator(CHOSEN).get_attribute("id")
    await page.get_by_role("group", name="Campaigns").get_by_role("option", name="Anniversary").wait_for()
    await screen.check(pictures, "palette")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/contacts/{contact_id}")
    await screen.heading("Anna Ruiz (+1 202-555-0143)").wait_for()

    await open_palette(screen)
    await page.get_by_role("group", name="Recent").get_by_role("option", name="Anna Ruiz").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("combobox", name=FIELD).wait_for(state="hidden")
    await search(screen, "ann")
    await page.get_by_role("group", name="Campaigns").get_by_role("option", name="Anniversary").wait_for()
    await page.keyboard.press("ArrowDown")
    await page.locator(CHOSEN, has_text="Anniversary").wait_for()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/campaigns/*")


async def test_an_action_opens_its_dialog_and_the_keys_are_listed(windows: Windows, account: Opened):
    screen = await windows.owner(account)
    await screen.open("/")
    page = screen.page
    await search(screen, "new cont")
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog", name="New contact").get_by_label("Phone").wait_for()
    assert page.url.endswith("/contacts#new")
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog").wait_for(state="hidden")

    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    await keys.get_by_text(FIELD).wait_for()
    await page.keyboard.press("Control+k")
    await page.keyboard.press("Escape")
    await keys.wait_for(state="hidden")
    await page.get_by_role("combobox", name=FIELD).wait_for(state="hidden")

    await search(screen, "zzzz")
    await screen.sees("Nothing matches.")
    await page.keyboard.press("Enter")
    assert page.url.endswith("/contacts")


async def test_a_member_is_not_offered_the_actions_of_owners(windows: Windows, services: Services, account: Opened):
    await USERS.where(email=account.email).change(services, role="member")
    screen = await windows.owner(account)
    await screen.open("/")
    await search(screen, "a")
    await screen.page.get_by_role("option", name="Campaigns").wait_for()
    labels = await screen.page.get_by_role("option").all_inner_texts()
    assert "Import contacts" in labels
    assert not {"Add credits", "Create an API key or a webhook"} & set(labels)


async def test_on_a_phone_a_button_opens_the_palette(
    windows: Windows, account: Opened, contact_id: int, pictures: Path
):
    narrow = await windows.owner(account, NARROW)
    await narrow.open("/")
    await narrow.press("Search")
    await narrow.page.get_by_role("combobox", name=FIELD).fill("2025550143")
    await narrow.page.get_by_role("option", name="Anna Ruiz").wait_for()
    await narrow.check(pictures, "palette-narrow")
    await narrow.page.get_by_role("option", name="Anna Ruiz").click()
    await narrow.page.wait_for_url(f"**/contacts/{contact_id}")


async def test_enter_opens_no_record_that_was_found_by_an_earlier_text(
    windows: Windows, account: Opened, contact_id: int
):
    screen = await windows.owner(account)
    page = screen.page
    held, permitted = anyio.Event(), anyio.Event()
    await screen.open("/")
    await search(screen, "ann")
    await page.get_by_role("option", name="Anna Ruiz").wait_for()
    await hold_first(page, "PaletteSearch", held, permitted)
    await page.keyboard.type("iversary")
    await within("the search", held.wait())
    await page.keyboard.press("Enter")
    permitted.set()
    await expect(page.get_by_role("option", name="Anna Ruiz")).to_have_count(0)
    await page.locator(CHOSEN, has_text="Anniversary").wait_for()
    await page.keyboard.press("Enter")

    await page.wait_for_url("**/campaigns/*")
