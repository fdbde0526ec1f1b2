"""Automations and keywords: made, activated, and explained by their runs."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from app.domain.automations.runner import AutomationRunner
from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.factories.automations import AUTOMATIONS, WATCHED_KEYWORDS
from tests.factories.contacts import CONTACT_TAGS
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def run(scene: Scene) -> None:
    """Execute the runs that are due."""
    services = scene.services
    runner = AutomationRunner(services.database, services.acceptor, services.clock, services.notify)
    while await runner.due():
        await runner.run()
    await scene.dispatch()


async def choose(page: Page, field: str, option: str) -> None:
    """Choose an option of a field by keys."""
    box = page.get_by_role("combobox", name=field, exact=True)
    await box.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("option", name=option, exact=True).click()


async def fill_in(screen: Screen) -> None:
    """Write an automation that tags a contact who asks for the menu."""
    page = screen.page
    await screen.fill("Name", "Menu")
    await choose(page, "Event", "New message")
    await screen.press("Add a condition")
    await choose(page, "Comparison", "contains")
    await screen.fill("Value", "menu")
    await choose(page, "Action 1", "Add a tag")
    await screen.fill("Tag", "hungry")
    await screen.press("Add an action")
    await choose(page, "Action 2", "Notify the owners")
    await screen.fill("Text of the notice", "A contact asks for the menu.")
    await screen.press("Move up")


async def test_an_automation_is_made_activated_and_explains_its_run(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/automations")
    await screen.press("New automation")
    await screen.heading("New automation").wait_for()
    await fill_in(screen)
    await screen.check(pictures, "automation-edit")
    await screen.press("Create it, paused")
    await screen.heading("Menu").wait_for()
    await screen.press("Activate")
    await screen.press("Activate Menu")
    await page.get_by_role("button", name="Pause").wait_for()
    await scene.receive("Hello")
    await scene.receive("Could I see the Menu?")
    await run(scene)
    await screen.press("Refresh")
    await page.locator("summary").first.focus()
    await page.keyboard.press("Enter")
    await screen.sees("notify the owners “A contact asks for the menu.”")
    await screen.sees("add the tag hungry")
    await screen.check(pictures, "automation-runs")

    await expect(page.locator("summary")).to_have_count(1)
    assert await CONTACT_TAGS.read(scene.services, "tag") == ["hungry"]
    await screen.press("Delete")
    await screen.press("Delete Menu")
    await screen.heading("Automations").wait_for()
    assert await AUTOMATIONS.count(scene.services) == 0


async def test_a_ready_made_automation_is_changed_and_typed_text_is_not_lost(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/automations")
    await screen.check(pictures, "automations")
    await page.get_by_role("link", name="Use Welcome").click()
    await screen.fill("Text", "Hi {nickname}!")
    await page.get_by_role("link", name="Home").click()
    await screen.press("Stay here")
    await page.evaluate("void __TSR_ROUTER__.navigate({ href: '/automations/new' })")
    await screen.press("Stay here")
    await screen.press("Create it, paused")
    await page.get_by_role("alert").wait_for()
    await screen.fill("Text", "Hi {first_name|there}! Reply STOP to opt out.")
    await screen.press("Create it, paused")
    await screen.heading("Welcome").wait_for()
    await page.get_by_role("tab", name="Change").click()
    await choose(page, "Trigger", "A contact waits for a reply")
    await screen.fill("Hours without a reply", "2")
    await page.get_by_role("tab", name="Runs").click()
    await screen.press("Stay here")
    await screen.press("Save; runs under way keep their actions")
    await screen.sees("When a contact waits 2 hours for a reply")
    assert await AUTOMATIONS.only(scene.services, "status") == "paused"

    await screen.narrow("/automations")
    await screen.sees("When a contact waits 2 hours for a reply")
    await screen.check(pictures, "automations-narrow")
    await screen.go("/automations/999999999")
    await screen.sees("There is no such automation.")


async def make_and_activate(screen: Screen, name: str) -> None:
    """Make the automation of the page, and activate it."""
    await screen.press("Create it, paused")
    await screen.heading(name).wait_for()
    await screen.press("Activate")
    await screen.press(f"Activate {name}")
    await screen.page.get_by_role("button", name="Pause").wait_for()


async def test_an_automation_acts_for_contacts_that_satisfy_its_conditions_alone(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/automations/new")
    await screen.fill("Name", "Won")
    await choose(page, "Event", "New message")
    await choose(page, "Action 1", "Add a tag")
    await screen.fill("Tag", "customer wrote")
    await screen.press("Add conditions on the contact")
    await expect(page.get_by_role("button", name="Create it, paused")).to_be_disabled()
    for field, option in (("Field", "Stage"), ("Value of Stage", "Won")):
        await page.get_by_role("combobox", name=field, exact=True).click()
        await page.get_by_role("option", name=option, exact=True).click()
    await screen.check(pictures, "automation-conditions")
    await make_and_activate(screen, "Won")
    await scene.receive("Hello")
    await run(scene)
    await screen.press("Refresh")
    await page.locator("summary").first.click()
    await screen.sees("Did not hold")

    [condition] = (await AUTOMATIONS.only(scene.services, "filter"))["all"]
    assert (condition["field"], condition["op"], condition["value"]) == ("pipeline_stage", "eq", ["won"])
    assert await CONTACT_TAGS.read(scene.services, "tag") == []
    await screen.open(f"/automations/{await AUTOMATIONS.only(scene.services, 'id')}?tab=edit")
    await expect(page.get_by_role("combobox", name="Value of Stage")).to_have_value("Won")
    await screen.press("Remove all conditions")
    await screen.press("Save; runs under way keep their actions")
    await page.get_by_role("tabpanel", name="Runs").wait_for()
    assert await AUTOMATIONS.only(scene.services, "filter") is None


async def test_a_keyword_is_watched_changed_and_removed(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/")
    await page.keyboard.type("gk")
    await screen.press("New keyword")
    await screen.fill("Keyword", "Stop")
    await screen.press("Watch the keyword")
    await screen.sees("stop cannot be watched")
    await screen.fill("Keyword", "Menu")
    await screen.fill("Reply", "Bread and soup.")
    await page.keyboard.press("Tab")
    await screen.press("Watch the keyword")
    await page.get_by_role("cell", name="MENU", exact=True).wait_for()
    await screen.check(pictures, "keywords")
    await screen.press("Change menu")
    await screen.fill("Reply", "Soup.")
    await screen.press("Save the keyword")
    await page.get_by_role("cell", name="Soup.", exact=True).wait_for()
    await page.get_by_role("switch", name="Watch menu").focus()
    await page.keyboard.press("Space")
    await expect(page.get_by_role("switch", name="Watch menu")).not_to_be_checked()
    assert await WATCHED_KEYWORDS.only(scene.services, "keyword", "reply", "is_active") == ("menu", "Soup.", False)

    await screen.narrow("/keywords")
    await screen.sees("MENU")
    await screen.check(pictures, "keywords-narrow")
    await screen.press("Remove menu")
    await screen.press("Remove the keyword")
    await screen.sees("A keyword answers people who text one word")
    assert await WATCHED_KEYWORDS.count(scene.services) == 0


async def test_a_dialog_with_a_form_asks_before_it_is_closed_with_changes(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    dialog = page.get_by_role("dialog", name="New keyword")
    await screen.open("/keywords")
    await screen.press("New keyword")
    await screen.fill("Reply", "Bread and soup.")
    await page.keyboard.press("Escape")
    await page.get_by_role("alert").get_by_text("What you typed is not saved yet.").wait_for()
    await screen.check(within="[role=dialog]")
    await screen.press("Stay here")
    await expect(page.get_by_label("Reply", exact=True)).to_have_value("Bread and soup.")
    await page.keyboard.press("Escape")
    await screen.press("Close without saving")
    await dialog.wait_for(state="hidden")
    await screen.press("New keyword")
    await page.keyboard.press("Escape")
    await dialog.wait_for(state="hidden")
    assert await WATCHED_KEYWORDS.count(scene.services) == 0
