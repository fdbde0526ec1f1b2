"""Imports that go on: a reload loses none of their choices, and a running one is found, canceled and reported."""

import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.browser.test_contacts import work
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import UPLOADS
from tests.factories.tables import Rows
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

PEOPLE = b"phone,first name,Ort\n+12025550181,Ann,Ulm\n"
TRY = "Try it without changing anything"


async def choose_file(screen: Screen, content: bytes) -> None:
    """Choose a file with a content on the page of imports."""
    async with screen.page.expect_file_chooser() as chooser:
        await screen.page.get_by_label("A CSV file or vCards").click()
    await (await chooser.value).set_files({"name": "people.csv", "mimeType": "text/csv", "buffer": content})


async def test_an_import_survives_reloads_and_any_custom_field_can_be_chosen_for_a_column(
    windows: Windows, scene: Scene, account: Opened
):
    await Rows("custom_fields").insert(
        scene.services, account_id=account.account_id, key="city", label="Home town", type="text"
    )
    screen = await windows.owner(account)
    page = screen.page
    meaning = page.get_by_role("combobox", name="Meaning of Ort")
    await screen.open("/contacts/import")
    await choose_file(screen, PEOPLE)
    await meaning.click()
    await page.get_by_role("option", name="Home town").click()
    await screen.fill("Wording of their consent to texts", "I agree.")
    await page.reload()
    await expect(meaning).to_have_value("Home town")
    await expect(page.get_by_label("Wording of their consent to texts")).to_have_value("I agree.")

    await screen.press(TRY)
    await page.get_by_role("region", name="Dry run", exact=True).wait_for()
    await page.reload()
    await page.get_by_role("region", name="Dry run", exact=True).wait_for()
    await work(scene)
    await screen.press("Import the contacts")
    imported = page.get_by_role("region", name="Import", exact=True)
    await imported.wait_for()
    await page.reload()
    await imported.get_by_role("button", name="Cancel").wait_for()
    await work(scene)
    await imported.get_by_text("Done: 1 of 1").wait_for()
    await imported.get_by_role("button", name="Download the file").wait_for()
    await screen.check()
    await imported.get_by_role("button", name="Close").click()
    await page.wait_for_url("**/contacts/import")

    assert await CONTACTS.only(scene.services, "phone", "custom_fields") == ("+12025550181", {"city": "Ulm"})


async def test_an_import_that_was_left_is_found_and_canceled_and_its_file_is_deleted(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts/import")
    await choose_file(screen, PEOPLE)
    await screen.press(TRY)
    await page.get_by_role("region", name="Dry run", exact=True).wait_for()
    await work(scene)
    await screen.press("Import the contacts")
    await page.get_by_role("region", name="Import", exact=True).wait_for()

    await screen.open("/contacts/import")
    jobs = page.get_by_role("region", name="Earlier imports").get_by_role("table")
    await jobs.get_by_role("row", name="Waiting").get_by_role("link").click()
    await screen.press("Cancel")
    await page.get_by_role("region", name="Import", exact=True).get_by_text("Canceled: 0 of").wait_for()
    await work(scene)
    await screen.press("Delete people.csv")
    await page.get_by_role("dialog").get_by_role("button", name="Delete people.csv").click()
    await expect(page.get_by_role("region", name="Uploaded files")).to_have_count(0)

    assert await CONTACTS.count(scene.services) == 0
    assert await UPLOADS.count(scene.services) == 0


async def test_a_file_that_did_not_arrive_whole_is_deleted(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    await screen.open("/contacts/import")
    async with screen.page.expect_response(lambda answer: "ContactsDeleteUpload" in (answer.request.post_data or "")):
        await choose_file(screen, b"PK\x03\x04 a workbook")
    await screen.sees("This file is a zip archive or an Excel workbook.")

    assert await UPLOADS.count(scene.services) == 0
