"""Dialogs on a phone: opened by keys, sound in both themes, they keep the focus and give it back."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.population import populate
from tests.browser.screen import NARROW, QUIET, Screen, Windows
from tests.browser.test_every_page import SMALL
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

DIALOGS = {
    "/": ("Pages", "Search", "Notices, 16 unread"),
    "/agents": ("New agent",),
    "/agents/$id": ("Delete",),
    "/campaigns": ("New campaign",),
    "/campaigns/$id": ("Delete",),
    "/contacts": ("New contact",),
    "/contacts/$id": ("Edit", "Merge", "Delete"),
    "/inbox/$view": ("New text",),
    "/keywords": ("New keyword",),
    "/numbers": ("Connect a carrier",),
    "/numbers/$id": ("Release",),
    "/segments/$id": ("Delete",),
    "/sequences/$id": ("Archive",),
    "/settings/applications": ("Register an application",),
    "/settings/integrations": ("Add an inbound webhook", "Add Calendly"),
    "/settings/integrations/$id": ("New secret", "Remove"),
    "/settings/keys": ("New key", "New webhook"),
    "/settings/people": ("Invite someone",),
    "/settings/sending": ("Add a rule",),
    "/templates/$id": ("Delete", "Write with AI"),
}
"""The buttons that open a dialog, by page."""

FORMS = [
    (path, name)
    for path, names in DIALOGS.items()
    for name in names
    if "$" not in path and path != "/" and not name.startswith("Add Calendly")
]
"""The dialogs with a form that needs no record."""

PARTS = 2
"""The tests that share the pages, so that as many processes open them."""

HOLDS = "() => document.activeElement?.closest('[role=dialog]') !== null"
DIALOG = "[role=dialog]"


@pytest.mark.parametrize("part", range(PARTS))
async def test_every_dialog_is_sound_on_a_phone_keeps_the_focus_and_gives_it_back(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]], part: int
):
    ids = await populate(scene, work)
    screen = await windows.owner(account, NARROW)
    await screen.open("/")
    for path, names in [*DIALOGS.items()][part::PARTS]:
        id = ids.get(path.partition("/$id")[0], 0)
        await screen.go(path.replace("$view", "open").replace("$id", str(id)))
        for name in names:
            await open_and_leave(screen, name)


async def open_and_leave(screen: Screen, name: str) -> None:
    """Open a dialog by Enter, go through it by Tab, and leave it by Escape; `test_every_page` reaches its button."""
    page = screen.page
    dialog = page.locator(DIALOG)
    opener = page.get_by_role("button", name=name, exact=True).first
    await opener.press("Enter")
    await dialog.wait_for()
    await page.wait_for_function(HOLDS)
    await page.evaluate(QUIET)
    controls = await dialog.locator("a, button, input, select, textarea").count()
    for _ in range(controls + 1):
        await page.keyboard.press("Tab")
        if not await page.evaluate(HOLDS):
            await page.wait_for_function(HOLDS)  # behind the parts of a date, the dialog takes it back a moment later
    await screen.check(within=DIALOG)
    assert await page.evaluate(SMALL) == []
    await page.keyboard.press("Escape")
    await dialog.wait_for(state="hidden")
    await page.wait_for_function("each => each === document.activeElement", arg=await opener.element_handle())


async def test_no_dialog_loses_what_was_typed_by_escape(windows: Windows, account: Opened):
    screen = await windows.owner(account)
    page = screen.page
    dialog = page.locator(DIALOG)
    await screen.open("/")
    for path, name in FORMS:
        await screen.go(path)
        await screen.press(name)
        field = dialog.get_by_role("textbox").first
        await field.fill("1")
        await field.press("Escape")
        await dialog.get_by_role("alert").get_by_text("What you typed is not saved yet.").wait_for()
        await screen.press("Stay here")
        await expect(field, f"{name} at {path}").to_have_value("1")
        await field.press("Escape")
        await screen.press("Close without saving")
        await dialog.wait_for(state="hidden")


async def test_a_dialog_asks_before_back_closes_it_and_before_a_chosen_option_is_lost(
    windows: Windows, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    dialog, asked = page.locator(DIALOG), page.get_by_text("What you typed is not saved yet.")
    await screen.open("/settings/people")
    await screen.press("Invite someone")
    await dialog.get_by_role("combobox", name="Role").click()
    await page.get_by_role("option", name="Owner: everything").click()
    await page.keyboard.press("Escape")
    await asked.wait_for()
    await screen.press("Close without saving")
    await dialog.wait_for(state="hidden")

    await screen.go("/contacts")
    await screen.press("New contact")
    await screen.fill("First name", "Ann")
    await page.go_back()
    await asked.wait_for()
    await screen.press("Stay here")
    await asked.wait_for(state="hidden")
    await page.wait_for_url("**#new")
    await expect(page.get_by_label("First name", exact=True)).to_have_value("Ann")
    await page.go_back()
    await screen.press("Close without saving")
    await dialog.wait_for(state="hidden")
    assert page.url.endswith("/contacts")
