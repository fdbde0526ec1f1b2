"""Contacts: found, added, changed in bulk and imported, and the reasons why one cannot be texted."""

import subprocess
from pathlib import Path

import anyio
import orjson
import pytest
from playwright.async_api import Route

from app.bootstrap import open_job_worker
from app.domain.onboarding.service import Opened
from tests.browser.chromium import ROOT
from tests.browser.screen import HEIGHT, NARROW, QUIET, Windows
from tests.factories.contacts import CONTACT_TAGS, CONTACTS, add_contacts, suppress
from tests.graphql.live import Scene
from tests.node import NODE
from tests.waiting import within

pytestmark = pytest.mark.anyio

GROUP = """
const { grouped } = await import(process.argv[1]);
console.log(JSON.stringify(process.argv.slice(2).map(grouped)));
"""
PEOPLE = "phone,first name,tags\n+12025550181,Ann,vip\n202 555 0182,Bob,\n12,Short,\n"


async def work(scene: Scene) -> None:
    """Run the jobs of accounts until none is left, and tell of their progress."""
    job = open_job_worker(scene.services)
    while await job.run():
        pass
    await scene.dispatch()


async def test_a_contact_is_added_and_deleted(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts")
    await screen.press("New contact")
    await screen.fill("Phone", "7")
    await screen.press("Add the contact")
    await screen.sees("'7' is not a phone number we can text")
    assert await CONTACTS.count(scene.services) == 0
    await screen.fill("Phone", "+12025550143")
    await screen.fill("First name", "Ana")
    await screen.press("Add the contact")
    await screen.heading("Ana").wait_for()
    await screen.sees("opt out, do not disturb, hold")
    await screen.check(pictures, "contact")

    await screen.press("Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete Ana").click()
    await screen.heading("Contacts").wait_for()
    assert await CONTACTS.where(phone="+12025550143").read(scene.services, "id") == []


def test_the_dashboard_groups_the_digits_of_phones():
    given = ["+12025550143", "+447911123456", "+493012345678", "+35312345678", "+6591234567", "STOP", ""]

    module = ROOT / "dashboard" / "src" / "ui" / "phone.ts"
    program = [NODE, "--input-type=module", "--eval", GROUP, module, *given]
    done = subprocess.run(program, capture_output=True, check=True, timeout=30)

    assert orjson.loads(done.stdout) == [
        *("+1 202-555-0143", "+44 791 112 3456", "+49 301 234 5678", "+353 123 456 78"),
        *("+65 912 345 67", "STOP", ""),
    ]


async def test_a_phone_is_copied_and_shown_on_hover_as_the_service_writes_it(
    windows: Windows, scene: Scene, account: Opened
):
    await add_contacts(scene.services, account.account_id, ["+12025550143"])
    screen = await windows.owner(account)
    await screen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await screen.open("/contacts")
    phone = screen.page.get_by_role("gridcell", name="+1 202-555-0143").get_by_title("+12025550143")
    await phone.select_text()
    await screen.page.keyboard.press("Control+c")

    assert await screen.page.evaluate("navigator.clipboard.readText()") == "+12025550143"


async def test_contacts_are_found_and_tagged_in_bulk(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    await add_contacts(scene.services, account.account_id, [f"+1202555{number}" for number in range(1000, 1250)])
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts?sort=name_desc")
    await page.get_by_role("grid").evaluate("grid => { grid.scrollTop = 100000 }")
    await screen.fill("Search contacts", "1007")
    await page.get_by_role("row").nth(2).wait_for(state="hidden")
    assert "search=1007" in page.url
    assert "sort=name_desc" in page.url
    await page.get_by_label("Choose +1 202-555-1007").check()
    await screen.press("Tag")
    await page.get_by_role("textbox", name="Tag", exact=True).fill("vip")
    await screen.press("Tag 1 contact")
    await screen.sees("1 change")
    await screen.press("Close")
    await page.get_by_role("gridcell", name="vip").wait_for()
    await screen.check(pictures, "contacts")
    assert await CONTACT_TAGS.where(account_id=account.account_id).read(scene.services, "tag") == ["vip"]


async def test_a_count_that_ends_at_its_limit_says_more_and_is_taken_again_on_each_visit(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts?status=active")
    await screen.sees("No contact matches.")
    await screen.go("/contacts/import")
    await add_contacts(scene.services, account.account_id, [f"+1{2025550000 + number}" for number in range(10_001)])
    await screen.go("/contacts?status=active")
    await screen.sees("10,000+")
    await page.get_by_label("Choose +1 202-556-0000").check()
    await page.get_by_label("All 10,000+ that match").check()
    await screen.press("Delete")
    dialog = page.get_by_role("dialog", name="Delete more than 10,000 contacts?")
    await dialog.get_by_role("button", name="Delete more than 10,000 contacts").wait_for()


async def test_a_phone_shows_contacts_and_their_filters_and_acts_behind_buttons(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_contacts(scene.services, account.account_id, [f"+1202555{number}" for number in range(1000, 1250)])
    narrow = await windows.owner(account, NARROW)
    await narrow.open("/contacts")
    await narrow.sees("+1 202-555-1249")
    await narrow.check(pictures, "contacts-narrow")
    place = await narrow.page.get_by_role("grid").bounding_box()
    assert place
    assert place["y"] < HEIGHT / 4
    assert place["y"] + place["height"] <= HEIGHT
    assert await narrow.page.get_by_role("button", name="Export").count() == 0
    await narrow.press("More")
    await narrow.page.get_by_role("button", name="Export").wait_for()
    await narrow.press("Filters")
    await narrow.page.get_by_role("combobox", name="Stage").click()
    await narrow.page.get_by_role("option", name="Won").click()
    await narrow.sees("No contact matches.")
    await narrow.press("Filters: in use")
    await narrow.page.get_by_role("combobox", name="Stage").wait_for(state="hidden")


async def test_a_tag_is_counted_and_renamed_for_all_its_contacts(windows: Windows, scene: Scene, account: Opened):
    await add_contacts(scene.services, account.account_id, ["+12025550143", "+12025550144", "+442079460001"])
    await CONTACTS.change(scene.services, tags=["vip"])
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts")
    await page.get_by_role("gridcell", name="Landline").wait_for()
    await page.get_by_role("combobox", name="Tag", exact=True).click()
    await page.get_by_role("option", name="vip (3)").click()
    await screen.press("Rename tag")
    await screen.fill("New name", "gold")
    await page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    await screen.sees("0 of 3")
    await work(scene)
    await screen.sees("3 changes")

    await screen.sees("No contact matches.")
    assert await CONTACTS.read(scene.services, "tags") == [["gold"]] * 3


async def test_the_page_of_an_opted_out_contact_shows_the_opt_out(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("STOP")
    screen = await windows.owner(account)
    await screen.open("/contacts?status=opted_out")
    await screen.page.get_by_role("link", name="+1 202-555-0143").click()
    await screen.page.get_by_role("region", name="May I text this person?").get_by_text("No", exact=True).wait_for()
    await screen.page.get_by_role("cell", name="STOP").wait_for()
    await screen.check()


async def test_the_file_that_was_chosen_last_is_imported_also_after_a_failed_upload(
    windows: Windows, account: Opened, tmp_path: Path
):
    for name in ("first", "second"):
        (tmp_path / f"{name}.csv").write_text(f"phone,first name\n+12025550181,From the {name}\n")
    screen = await windows.owner(account)
    page = screen.page
    begun, permitted = anyio.Event(), anyio.Event()

    async def hold(route: Route) -> None:
        is_first = "first.csv" in (route.request.post_data or "")
        if is_first:
            begun.set()
            await within("the second file", permitted.wait())
        await route.continue_()

    async def choose(name: str) -> None:
        async with page.expect_file_chooser() as chooser:
            await page.get_by_label("A CSV file or vCards").click()
        await (await chooser.value).set_files(tmp_path / f"{name}.csv")

    await screen.open("/contacts/import")
    await page.route("**/graphql", hold)
    await choose("first")
    await within("the first file", begun.wait())
    await choose("second")
    await screen.sees("From the second")
    permitted.set()
    await page.unroute_all(behavior="wait")
    await page.evaluate(QUIET)
    await screen.sees("From the second")

    await page.route("**/graphql", lambda route: route.abort())
    await choose("first")
    await page.get_by_role("alert").get_by_text("The service did not answer.").wait_for()
    await page.unroute_all()
    await choose("first")
    await screen.sees("From the first")


async def test_a_file_is_tried_and_then_imported(
    windows: Windows, scene: Scene, account: Opened, pictures: Path, tmp_path: Path
):
    await suppress(scene.services, account.account_id, "+12025550182")
    (tmp_path / "people.csv").write_text(PEOPLE)
    screen = await windows.owner(account)
    await screen.open("/contacts/import")
    async with screen.page.expect_file_chooser() as chooser:
        await screen.page.get_by_label("A CSV file or vCards").click()
    await (await chooser.value).set_files(tmp_path / "people.csv")
    await screen.sees("202 555 0182")
    await screen.press("Try it without changing anything")
    await screen.page.get_by_role("region", name="Dry run").wait_for()
    await work(scene)
    await screen.sees("Invalid: 1.")
    assert await CONTACTS.read(scene.services, "id") == []

    await screen.press("Import the contacts")
    imported = screen.page.get_by_role("region", name="Import", exact=True)
    await imported.wait_for()
    await work(scene)
    await imported.get_by_text("Done: 3 of 3").wait_for()
    await screen.check(pictures, "import")
    assert sorted(await CONTACTS.read(scene.services, "phone")) == ["+12025550181", "+12025550182"]
