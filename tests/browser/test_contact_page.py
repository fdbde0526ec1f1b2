"""The page of a contact: what happened, who takes care of it, its fields, and the merge with a duplicate."""

from pathlib import Path

import pytest
from playwright.async_api import Request

from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from tests.browser.screen import QUIET, Windows
from tests.browser.test_contacts import work
from tests.factories.accounts import USERS
from tests.factories.contacts import CONTACTS, add_contacts, id_of_contact
from tests.factories.tables import Rows
from tests.graphql.live import Scene
from tests.waiting import until

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"


async def test_the_timeline_shows_texts_and_changes_and_follows_them_live(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await scene.receive("Hello, is there a table at eight?")
    await scene.send("Yes, see you then")
    id = await id_of_contact(scene.services, PHONE)
    screen = await windows.owner(account)
    await screen.open(f"/contacts/{id}")
    timeline = screen.page.get_by_role("region", name="Timeline")
    await timeline.get_by_text("Hello, is there a table at eight?").wait_for()
    await timeline.get_by_text("Yes, see you then").wait_for()
    await timeline.get_by_text("Added as a contact, from: inbound sms").wait_for()
    await screen.check(pictures, "contact-page")

    await scene.receive("Great!")
    await timeline.get_by_text("Great!").wait_for()
    for number in range(40):
        await scene.receive(f"Text {number}")
    await timeline.get_by_text("Text 39").wait_for()
    await screen.page.reload()
    await timeline.get_by_text("Text 39").wait_for()
    assert await timeline.get_by_text("Hello, is there").count() == 0
    await screen.press("Show earlier")
    await timeline.get_by_text("Hello, is there a table at eight?").wait_for()

    await screen.narrow(f"/contacts/{id}")
    await screen.sees("Text 39")
    await screen.check(pictures, "contact-page-narrow")


async def is_assigned_to(scene: Scene, user_id: int) -> bool:
    """Tell whether the only contact is assigned to a user."""
    return await CONTACTS.only(scene.services, "assignee_id") == user_id


async def test_a_contact_is_assigned_and_its_custom_fields_are_written(windows: Windows, scene: Scene, account: Opened):
    services = scene.services
    await Rows("custom_fields").insert(
        services, account_id=account.account_id, key="size", label="Shoe size", type="text"
    )
    id = await CONTACTS.insert(services, account_id=account.account_id, phone=PHONE, first_name="Ana")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/contacts/{id}")
    await page.get_by_role("combobox", name="Assigned to").click()
    await page.get_by_role("option", name=account.email).click()
    await page.get_by_role("combobox", name="Assigned to").and_(page.locator(f"[value='{account.email}']")).wait_for()
    user_id = await USERS.where(email=account.email).only(services, "id")
    await until(lambda: is_assigned_to(scene, user_id))

    await screen.press("Edit")
    await screen.fill("Shoe size", "42")
    await screen.press("Save the changes")
    await page.get_by_role("region", name="About").get_by_text("Shoe size").wait_for()
    await page.get_by_role("region", name="About").get_by_text("42", exact=True).wait_for()
    await page.get_by_role("dialog").wait_for(state="hidden")
    await screen.check()


async def test_a_contact_page_follows_changes_and_its_form_reverts_none_of_them(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Hello")
    id = await id_of_contact(scene.services, PHONE)
    async with scene.unit() as unit:
        await contacts.update(unit, id, {"tags": ["asked", "old"]})
    screen = await windows.owner(account)
    await screen.open(f"/contacts/{id}")
    await screen.press("Edit")
    dialog, about = screen.page.get_by_role("dialog"), screen.page.get_by_role("region", name="About")
    await dialog.get_by_label("First name").fill("Ann")
    tags = dialog.get_by_label("Tags", exact=True).and_(screen.page.get_by_role("combobox"))
    await tags.press("Backspace")
    await tags.fill("new")
    await tags.press("Enter")

    async with scene.unit() as unit:
        await contacts.update(unit, id, {"tags": ["asked", "old", "vip"], "pipeline_stage": "won", "email": "a@b.com"})
    await scene.dispatch()
    await about.get_by_text("asked, old, vip").wait_for(state="attached")
    await about.get_by_text("a@b.com").wait_for(state="attached")
    await screen.page.get_by_text("Tagged vip").wait_for(state="attached")
    await screen.press("Save the changes")
    await screen.heading("Ann").wait_for()
    await dialog.wait_for(state="hidden")

    stored = await CONTACTS.only(scene.services, "first_name", "tags", "pipeline_stage", "email")
    assert stored == ("Ann", ["asked", "vip", "new"], "won", "a@b.com")


async def test_duplicates_are_found_compared_and_merged(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    services = scene.services
    for phone, name in ((PHONE, "Ana"), ("+12025550144", "Anna")):
        values = {"phone": phone, "first_name": name, "email": "ana@example.com"}
        await CONTACTS.insert(services, account_id=account.account_id, **values)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts")
    await page.get_by_role("link", name="Duplicates").click()
    await screen.sees("ana@example.com")
    await screen.check(pictures, "duplicates")
    await screen.press("Merge +1 202-555-0144 into +1 202-555-0143")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("cell", name="Anna", exact=True).wait_for()
    await screen.check(pictures, "merge")
    await screen.press("Take the other first name")
    await dialog.get_by_role("row", name="First name Anna Ana").wait_for()
    await screen.press("Merge, and delete Anna")
    await screen.sees("No two contacts have this in common.")
    assert await CONTACTS.read(services, "phone", "first_name") == [(PHONE, "Anna")]


async def test_all_that_match_are_moved_and_the_job_survives_a_reload(windows: Windows, scene: Scene, account: Opened):
    await add_contacts(scene.services, account.account_id, [f"+1202555{number}" for number in range(1000, 1150)])
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts")
    await page.get_by_label("Choose +1 202-555-1149").check()
    await page.get_by_label("All 150 that match").check()
    await page.get_by_role("combobox", name="Move to stage").click()
    await page.get_by_role("option", name="Qualified").click()
    progress = page.get_by_role("region", name="Stage contacts")
    await progress.wait_for()
    assert "job=" in page.url
    await page.reload()
    await progress.get_by_role("button", name="Cancel").wait_for()
    await work(scene)
    await progress.get_by_text("Done: 150 of 150, 150 changes, 0 failed.").wait_for()
    await screen.press("Close")
    await progress.wait_for(state="hidden")
    assert set(await CONTACTS.read(scene.services, "pipeline_stage")) == {"qualified"}


async def test_a_job_is_canceled_and_contacts_are_exported(windows: Windows, scene: Scene, account: Opened):
    await add_contacts(scene.services, account.account_id, ["+12025551000", "+12025551001"])
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts")
    await page.get_by_label("Choose +1 202-555-1001").check()
    await page.get_by_label("All 2 that match").check()
    await screen.press("Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete 2 contacts").click()
    await screen.press("Cancel")
    await screen.sees("Canceled: 0 of")
    await work(scene)
    assert await CONTACTS.count(scene.services) == 2

    await screen.press("Close")
    await screen.press("Export")
    await page.get_by_role("region", name="Export contacts").wait_for()
    await work(scene)
    await screen.press("Download the file")
    await screen.sees("Done: 2 of 2")


async def test_another_filter_loads_the_list_once_beside_a_job_that_is_done(
    windows: Windows, scene: Scene, account: Opened
):
    await add_contacts(scene.services, account.account_id, ["+12025551000"])
    screen = await windows.owner(account)
    page, asked = screen.page, list[str]()

    def note(request: Request) -> None:
        """Note a request with the other filter or for the job; others of the page that was loaded may still follow."""
        if "qualified" in (request.post_data or "") or "ContactsJob" in (request.post_data or ""):
            asked.append(request.post_data_json["operationName"])

    await screen.open("/contacts")
    await screen.press("Export")
    await page.get_by_role("region", name="Export contacts").wait_for()
    await work(scene)
    await screen.sees("Done: 1 of 1")
    await page.reload()
    await screen.sees("+1 202-555-1000")
    await screen.sees("Done: 1 of 1")
    page.on("request", note)
    await page.get_by_role("combobox", name="Stage").click()
    await page.get_by_role("option", name="Qualified").click()
    await screen.sees("No contact matches.")
    await screen.sees("Done: 1 of 1")
    await page.evaluate(QUIET)
    assert sorted(asked) == ["ContactsCount", "ContactsPage"]
