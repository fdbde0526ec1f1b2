"""Templates: written with placeholders, measured and checked while typing, previewed for a contact, and deleted."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.domain.templates import service as templates
from tests.browser.screen import NARROW, Screen, Windows
from tests.factories.templates import TEMPLATES
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def add_ana(scene: Scene) -> None:
    async with scene.unit() as unit:
        await contacts.create(unit, {"phone": "+12025550143", "first_name": "Ana"})


async def add_template(scene: Scene, name: str, body: str) -> int:
    async with scene.unit() as unit:
        return (await templates.create(unit, name, body)).id


async def write(screen: Screen, name: str, body: str) -> None:
    """Fill in the form of a template."""
    await screen.fill("Name", name)
    await screen.fill("Text", body)


async def test_a_template_is_written_measured_previewed_saved_and_deleted(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_ana(scene)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/templates")
    await page.get_by_role("link", name="New template").click()
    await screen.heading("New template").wait_for()
    await write(screen, "Ready", "Hi {firstname}, it’s ready.")
    await screen.sees("Error")
    await screen.sees("Correct the error to see the text.")
    await screen.press("Save the template")
    await screen.sees("Did you mean {first_name}?")
    assert await TEMPLATES.count(scene.services) == 0

    await write(screen, "Ready", "Hi , it’s ready. Reply STOP to opt out.")
    await page.get_by_label("Text", exact=True).evaluate("field => field.setSelectionRange(3, 3)")
    await screen.press("Insert a placeholder")
    await page.get_by_role("menuitem", name="{first_name}").click()
    await screen.sees("UCS-2 because of ’ → '")
    await page.get_by_role("region", name="As a person reads it").get_by_text("Hi Ana, it’s ready.").wait_for()
    await screen.check(pictures, "template")
    await screen.press("Save the template")
    await screen.heading("Ready").wait_for()
    assert await TEMPLATES.read(scene.services, "name", "body") == [
        ("Ready", "Hi {first_name}, it’s ready. Reply STOP to opt out.")
    ]

    await screen.press("Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete Ready").click()
    await screen.heading("Templates").wait_for()
    await screen.sees("A template is a text that you send often")
    assert await TEMPLATES.count(scene.services) == 0


async def test_templates_are_found_and_changed_by_keyboard_alone(windows: Windows, scene: Scene, account: Opened):
    await add_template(scene, "Hours", "We open at 8.")
    await add_template(scene, "Ready", "It is ready.")
    screen = await windows.owner(account)
    keyboard = screen.page.keyboard
    await screen.open("/")
    await keyboard.press("g")
    await keyboard.press("t")
    await screen.heading("Templates").wait_for()
    await keyboard.press("/")
    await expect(screen.page.get_by_role("searchbox")).to_be_focused()
    await keyboard.type("hours")
    await screen.page.wait_for_url("**/templates?search=hours")
    await screen.page.get_by_role("link", name="Hours").wait_for()
    assert await screen.page.get_by_role("link", name="Ready").count() == 0
    for _ in range(2):  # the table can be scrolled, then the link
        await keyboard.press("Tab")
    await keyboard.press("Enter")
    await screen.heading("Hours").wait_for()
    field = screen.page.get_by_label("Text", exact=True)
    while not await field.evaluate("field => field === document.activeElement"):
        await keyboard.press("Tab")
    await keyboard.press("Control+End")
    await keyboard.type(" On Sundays at 10.")
    await screen.page.get_by_label("Name", exact=True).press("Enter")
    await screen.page.get_by_role("status").get_by_text("Saved").wait_for()

    bodies = await TEMPLATES.where(name="Hours").read(scene.services, "body", "version")
    assert bodies == [("We open at 8. On Sundays at 10.", 2)]


async def test_typed_text_is_not_lost_by_a_change_of_the_page_or_of_another_person(
    windows: Windows, scene: Scene, account: Opened
):
    id = await add_template(scene, "Hours", "We open at 8.")
    screen = await windows.owner(account)
    await screen.open(f"/templates/{id}")
    await screen.fill("Text", "We open at 9.")
    await screen.page.get_by_role("link", name="Home").click()
    await screen.press("Stay here")
    assert await screen.page.get_by_label("Text", exact=True).input_value() == "We open at 9."

    async with scene.unit() as unit:
        await templates.update(unit, id, {"body": "We open at 7."}, None)
    await screen.press("Save the template")
    await screen.sees("The template has version 2, not 1: it was changed. Read it again.")
    assert await TEMPLATES.only(scene.services, "body") == "We open at 7."
    await screen.press("Show what is saved")
    await expect(screen.page.get_by_label("Text", exact=True)).to_have_value("We open at 7.")


async def test_a_phone_shows_every_state(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    await add_template(scene, "Hours of the bakery", "We open at 8, and bake until the last loaf is sold. " * 3)
    narrow = await windows.owner(account, NARROW)
    await narrow.open("/templates")
    await narrow.sees("Hours of the bakery")
    await narrow.check(pictures, "templates-narrow")
    await narrow.go("/templates/new")
    await write(narrow, "Two", "Hi {first_name|there}, it is us. " * 6)
    await narrow.sees("if those are not in GSM-7")
    await narrow.check(pictures, "template-narrow")

    await narrow.open("/templates/4711")
    await narrow.sees("There is no such template.")
    await narrow.go("/templates?search=none")
    await narrow.sees("No template matches.")
