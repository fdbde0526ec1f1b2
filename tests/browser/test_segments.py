"""Segments: built with a live count, saved from the filters of contacts, chosen by a campaign, and deleted."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from app.domain.contacts import service as contacts
from app.domain.contacts.models import ContactFields
from app.domain.onboarding.service import Opened
from app.domain.segments import service as segments
from tests.browser.screen import NARROW, Screen, Windows
from tests.browser.test_contacts import work as run_jobs
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.contacts import CONTACTS
from tests.factories.segments import SEGMENTS
from tests.factories.sequences import SEQUENCES
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

VIP = {"field": "tags", "kind": "tags", "op": "has_any", "value": ["vip"]}


async def add_people(scene: Scene) -> None:
    people: list[ContactFields] = [
        {"phone": "+12025550140", "first_name": "Ana", "tags": ["vip"]},
        {"phone": "+12025550141", "first_name": "Ben", "tags": ["vip"], "dnd_sms": True},
        {"phone": "+12025550142"},
    ]
    async with scene.unit() as unit:
        for person in people:
            await contacts.create(unit, person)


async def add_segment(scene: Scene, name: str) -> int:
    async with scene.unit() as unit:
        given = {"field": "tags", "op": "has_any", "value": ["vip"]}
        return (await segments.create(unit, name, {"all": [given]})).id


async def choose(screen: Screen, label: str, option: str) -> None:
    """Choose an option of a list."""
    await screen.page.get_by_role("combobox", name=label, exact=True).last.click()
    await screen.page.get_by_role("option", name=option, exact=True).click()


async def test_a_segment_is_built_counted_saved_changed_and_deleted(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_people(scene)
    screen = await windows.owner(account)
    page = screen.page
    people = page.get_by_role("region", name="Contacts in the segment")
    await screen.open("/segments")
    await page.get_by_role("link", name="New segment").click()
    await screen.sees("Complete every condition")
    await page.get_by_role("combobox", name="Value of Tags").fill("vip")
    await page.keyboard.press("Enter")
    await people.get_by_text("2 contacts").wait_for()
    await people.get_by_text("1 can be texted").wait_for()
    await screen.press("Add a condition")
    await choose(screen, "Field", "Do not disturb")
    await choose(screen, "Value of Do not disturb", "No")
    await people.get_by_text("1 contact", exact=True).wait_for()
    await people.get_by_role("link", name="Ana").wait_for()
    await screen.press("Add a group")
    await choose(screen, "Field", "Last text from them")
    await choose(screen, "Comparison of Last text from them", "is not within the last")
    await page.get_by_role("textbox", name="Value of Last text from them").fill("30")
    await screen.fill("Name", "Quiet VIPs")
    await people.get_by_text("1 contact", exact=True).wait_for()
    await screen.check(pictures, "segment")
    await screen.press("Save the segment")
    await screen.heading("Quiet VIPs").wait_for()
    [filter] = await SEGMENTS.read(scene.services, "filter")
    late = {"field": "last_inbound_at", "kind": "time", "op": "not_within_last", "value": ["30 days"]}
    assert filter == {
        "all": [VIP, {"field": "dnd_sms", "kind": "boolean", "op": "eq", "value": [False]}, {"any": [late]}]
    }


async def test_a_segment_counts_texts_and_names_sequences(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_people(scene)
    sequence_id = await SEQUENCES.insert(scene.services, account_id=account.account_id, name="Welcome")
    screen = await windows.owner(account)
    page = screen.page
    people = page.get_by_role("region", name="Contacts in the segment")
    await screen.open("/segments")
    await page.get_by_role("link", name="New segment").click()
    await choose(screen, "Field", "Number of texts")
    await choose(screen, "Comparison of Number of texts", "is less than")
    await page.get_by_role("textbox", name="Value of Number of texts").fill("1")
    await choose(screen, "Direction of the counted texts", "From them")
    await choose(screen, "Status of the counted texts", "Received")
    await choose(screen, "Time of the counted texts", "In the last 30 days")
    await people.get_by_text("3 contacts").wait_for()
    await screen.press("Add a condition")
    await choose(screen, "Field", "Under way in sequences")
    await choose(screen, "Value of Under way in sequences", f"Welcome ({sequence_id})")
    await page.keyboard.press("Escape")
    await people.get_by_text("0 contacts").wait_for()
    await choose(screen, "Comparison of Under way in sequences", "none of")
    await people.get_by_text("3 contacts").wait_for()
    await screen.fill("Name", "Silent")
    await screen.check(pictures, "segment of counts")
    await screen.press("Save the segment")
    await screen.heading("Silent").wait_for()
    [filter] = await SEGMENTS.read(scene.services, "filter")
    counted = {"direction": "inbound", "status": "received", "within": "30 days"}
    assert filter == {
        "all": [
            {"field": "message_count", "kind": "number", "op": "lt", "value": [1], **counted},
            {"field": "enrolled_in", "kind": "ids", "op": "has_none", "value": [sequence_id]},
        ]
    }
    await page.reload()
    assert await page.get_by_role("combobox", name="Time of the counted texts").input_value() == "In the last 30 days"


async def test_a_segment_is_changed_and_deleted(windows: Windows, scene: Scene, account: Opened):
    id = await add_segment(scene, "VIPs")
    screen = await windows.owner(account)
    await screen.open(f"/segments/{id}")
    await screen.press("Add a condition")
    await choose(screen, "Field", "Email")
    await choose(screen, "Comparison of Email", "is known")
    await screen.press("Save the segment")
    await screen.page.get_by_role("status").get_by_text("Saved").wait_for()
    known = {"field": "email", "kind": "text", "op": "is_set", "value": []}
    assert await SEGMENTS.only(scene.services, "filter") == {"all": [VIP, known]}

    await screen.press("Delete")
    await screen.page.get_by_role("dialog").get_by_role("button", name="Delete VIPs").click()
    await screen.heading("Segments").wait_for()
    assert await SEGMENTS.count(scene.services) == 0


async def test_the_filters_of_contacts_become_a_segment_by_keyboard_alone(
    windows: Windows, scene: Scene, account: Opened
):
    await add_people(scene)
    screen = await windows.owner(account)
    page, keyboard = screen.page, screen.page.keyboard
    await screen.open("/contacts?tag=vip&stage=new_lead")
    await page.get_by_role("link", name="Save as segment").press("Enter")
    await screen.heading("New segment").wait_for()
    await page.get_by_text("2 contacts").wait_for()
    name = page.get_by_label("Name", exact=True)
    while not await name.evaluate("field => field === document.activeElement"):
        await keyboard.press("Tab")
    await keyboard.type("New VIPs")
    await keyboard.press("Enter")
    await screen.heading("New VIPs").wait_for()

    stage = {"field": "pipeline_stage", "kind": "choice", "op": "eq", "value": ["new_lead"]}
    assert await SEGMENTS.read(scene.services, "filter") == [{"all": [stage, VIP]}]


async def test_the_contacts_of_a_segment_have_an_address_that_back_and_reload_keep(
    windows: Windows, scene: Scene, account: Opened
):
    await add_people(scene)
    id = await add_segment(scene, "VIPs")
    screen = await windows.owner(account)
    page = screen.page
    rows = page.get_by_role("grid").get_by_role("row")
    await screen.open(f"/segments/{id}")
    await page.get_by_role("link", name="Show the contacts").click()
    await expect(rows).to_have_count(3)
    assert page.url.endswith(f"/app/contacts?segment={id}")

    await page.reload()
    await expect(rows).to_have_count(3)
    assert await page.get_by_role("combobox", name="Segment", exact=True).input_value() == "VIPs"
    assert await page.get_by_role("link", name="Save as segment").count() == 0
    await page.get_by_role("link", name="Ana").click()
    await screen.heading("Ana").wait_for()
    await page.go_back()
    await expect(rows).to_have_count(3)


async def test_the_contacts_of_a_segment_are_changed_together(windows: Windows, scene: Scene, account: Opened):
    await add_people(scene)
    id = await add_segment(scene, "VIPs")
    screen = await windows.owner(account)
    page = screen.page
    rows = page.get_by_role("grid").get_by_role("row")
    await screen.open(f"/contacts?segment={id}&search=Ben")
    await expect(rows).to_have_count(2)
    assert await page.get_by_role("button", name="Export").is_disabled()
    await screen.fill("Search contacts", "")
    await expect(rows).to_have_count(3)
    await page.get_by_label("Choose Ana").check()
    await page.get_by_label("All 2 that match").check()
    await screen.press("Tag")
    await page.get_by_role("textbox", name="Tag", exact=True).fill("gold")
    await screen.press("Tag 2 contacts")
    await page.get_by_role("region", name="Tag contacts").wait_for()
    await run_jobs(scene)
    await screen.sees("2 changes")
    assert await CONTACTS.where(phone="+12025550142").only(scene.services, "tags") == []
    assert await CONTACTS.where(phone="+12025550141").only(scene.services, "tags") == ["vip", "gold"]


async def test_a_campaign_reaches_a_segment_which_is_not_deleted_then(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_people(scene)
    id = await add_segment(scene, "VIPs")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/campaigns")
    await screen.press("New campaign")
    await screen.fill("Name", "Spring")
    await screen.press("Create the campaign")
    await choose(screen, "In the segment", "VIPs")
    await screen.press("Next: Message")
    await screen.fill("Text", "{company_name}: fresh bread. Reply STOP to opt out.")
    await page.get_by_role("navigation", name="Steps").get_by_role("button", name="Check").click()
    await page.get_by_role("button", name="Send to 1 person for at most 1 credit").wait_for()
    await screen.check(pictures, "campaign-segment")
    audience = await CAMPAIGNS.only(scene.services, "audience")
    assert audience["segment_id"] == id


async def test_a_phone_shows_segments_and_the_place_of_a_refused_value(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_segment(scene, "VIPs of the last months")
    narrow = await windows.owner(account, NARROW)
    page = narrow.page
    await narrow.open("/segments")
    await narrow.sees("tags has any of vip")
    await narrow.check(pictures, "segments-narrow")
    await narrow.go(f"/segments/{id}")
    await narrow.press("Add a condition")
    await choose(narrow, "Field", "First name")
    await page.get_by_role("textbox", name="Value of First name").fill("x" * 201)
    await narrow.press("Save the segment")
    await (
        page.get_by_role("alert").get_by_text("A value of first_name must be a text of 1 to 200 characters").wait_for()
    )
    await narrow.check(pictures, "segment-narrow")
    await narrow.open("/segments/4711")
    await narrow.sees("There is no such segment.")
    await expect(page.get_by_role("button", name="Delete")).to_have_count(0)
