"""Campaigns: written in four steps, previewed, tried, sent and scheduled."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.browser.sending import BODY, Sending
from tests.factories.billing import balance_of
from tests.factories.campaigns import CAMPAIGNS, add_people
from tests.factories.contacts import add_contacts
from tests.factories.messages import OUTBOUND
from tests.factories.quiet_hours import obey_the_law
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

TUESDAY = 1
TEXT = "Hi {first_name|there}, fresh bread at 7. Reply STOP to opt out."


async def open_step(screen: Screen, name: str) -> None:
    """Open a step of the editor."""
    await screen.page.get_by_role("navigation", name="Steps").get_by_role("button", name=name).click()


async def test_a_campaign_begins_with_its_name_and_its_audience(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_contacts(scene.services, account.account_id, ["+12025550143", "+12025550144"])
    await scene.receive("STOP")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/campaigns")
    await screen.sees("A campaign sends one text to many people")
    await screen.check(pictures, "campaigns-empty")
    await screen.press("New campaign")
    await screen.fill("Name", "Spring")
    await screen.press("Create the campaign")
    await screen.heading("Spring").wait_for()
    await screen.sees("Choose tags, a segment or a stage")
    await page.get_by_text("Every contact", exact=True).click()
    await page.get_by_role("status").get_by_text("of 2 people").wait_for()
    await page.get_by_role("list", name="People left out").get_by_text("Opted out").wait_for()
    await screen.check(pictures, "campaign-audience")
    stored = await CAMPAIGNS.only(scene.services, "status", "audience")
    assert (stored[0], stored[1]["everyone"]) == ("draft", True)


async def test_a_campaign_is_previewed_and_sent(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    await add_contacts(scene.services, account.account_id, ["+12025550143", "+12025550144"])
    await scene.receive("STOP")
    id = await Sending(scene, scene.dispatch).draft("Spring")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    await screen.press("Next: Message")
    await screen.fill("Text", TEXT)
    await screen.sees("Hi there, fresh bread at 7.")
    await screen.check(pictures, "campaign-message")
    await screen.press("Next: When")
    await screen.check(pictures, "campaign-when")
    await screen.press("Next: Check")
    await screen.sees("As +1 202-555-0144 reads it")
    await screen.check(pictures, "campaign-check")
    await screen.press("Send to 1 person for at most 1 credit")
    await screen.check(pictures, "campaign-confirm")
    await page.get_by_role("dialog").get_by_role("button", name="Send to 1 person").click()
    await page.get_by_role("region", name="Progress").wait_for()

    [(status, most, body)] = await CAMPAIGNS.read(scene.services, "status", "max_credits", "body")
    assert (status, most, body) == ("sending", 1, TEXT)


async def test_the_whole_life_of_a_campaign_is_led_by_keyboard_alone(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]]
):
    await add_people(scene.services, 3)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/campaigns")
    await write_by_keyboard(screen)
    assert await CAMPAIGNS.only(scene.services, "body") == ("Hi {first_name|there}, apples. Reply STOP to opt out.")
    await send_by_keyboard(screen)
    assert await CAMPAIGNS.only(scene.services, "status") == "sending"

    await Sending(scene, work).finish()
    await screen.enter("Show as table")
    await page.get_by_role("region", name="Progress").get_by_text("Every text has left").wait_for()
    await screen.enter("Delivered", "link")
    await screen.heading("Recipients").wait_for()
    await expect(page.get_by_role("row")).to_have_count(4)
    await screen.enter("Autumn", "link")
    await screen.heading("Autumn").wait_for()
    await screen.enter("Delete")
    await page.get_by_role("dialog").wait_for()
    await screen.enter("Delete Autumn")
    await screen.heading("Campaigns").wait_for()
    assert await CAMPAIGNS.where(deleted_at=None).count(scene.services) == 0


async def write_by_keyboard(screen: Screen) -> None:
    """Make a campaign to everyone, and write its text."""
    page, keys = screen.page, screen.page.keyboard
    await screen.enter("New campaign")
    await screen.type("Name", "Autumn")
    await keys.press("Enter")
    await screen.reach("radio", "Some contacts")
    await keys.press("ArrowRight")
    await page.get_by_role("status").get_by_text("of 3 people").wait_for()
    await screen.enter("Next: Message")
    await screen.reach("textbox", "Text")
    await keys.press("Control+End")
    await keys.type("apples. Reply STOP to opt out.")
    await keys.press("Control+s")
    await page.get_by_role("status").get_by_text("Saved").wait_for()


async def send_by_keyboard(screen: Screen) -> None:
    """Choose the time of a campaign, look at its texts, and send it."""
    page, dialog = screen.page, screen.page.get_by_role("dialog")
    await screen.enter("Next: When")
    await screen.reach("radio", "At once")
    await screen.enter("Next: Check")
    await screen.enter("Next person")
    await screen.sees("2 of 3")
    await expect(page.get_by_role("button", name="Send to 3 people for at most 3 credits")).to_be_enabled()
    await screen.enter("Send to 3 people for at most 3 credits")
    await expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    await screen.reach("button", "Send to 3 people for at most 3 credits", dialog)
    await page.keyboard.press("Enter")
    await page.get_by_role("region", name="Progress").wait_for()


async def test_an_ai_writes_a_text_that_is_chosen_and_taken_back(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await Sending(scene, scene.dispatch).draft()
    before = await balance_of(scene.services, account.account_id)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?step=message")
    await screen.enter("Write with AI")
    await screen.type("Goal", "Half price on shoes this week")
    await screen.enter("Write 3 texts for 1 credit")
    texts = page.get_by_role("list", name="Texts").get_by_role("paragraph")
    await texts.first.wait_for()
    written = await texts.all_inner_texts()
    await screen.check(pictures, "compose")
    await screen.enter("Use text 1")
    field = page.get_by_role("textbox", name="Text")
    await expect(field).to_have_value(written[0])
    await page.get_by_role("status").get_by_text("Saved").wait_for()
    assert await CAMPAIGNS.only(scene.services, "body") == written[0]
    assert await balance_of(scene.services, account.account_id) == before - 1

    await screen.enter("Restore my text")
    await expect(field).to_have_value(BODY)
    await page.get_by_role("button", name="Restore my text").wait_for(state="hidden")


async def test_the_audience_leaves_out_tags_and_keeps_conditions_that_were_chosen_elsewhere(
    windows: Windows, scene: Scene, account: Opened
):
    await add_people(scene.services, 4)
    await add_contacts(scene.services, account.account_id, ["+12025550143"])
    sending = Sending(scene, scene.dispatch)
    id = await sending.draft()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    await page.get_by_role("combobox", name="Without the tags").click()
    await page.get_by_role("option", name="vip").click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Only people whose consent is recorded").check()
    await page.get_by_role("list", name="People left out").get_by_text("No consent").wait_for()
    await screen.sees("of 5 people")
    stored = await CAMPAIGNS.only(scene.services, "audience")
    assert (stored["everyone"], stored["excluded_tags"], stored["requires_consent"]) == (True, ["vip"], True)

    await CAMPAIGNS.change(
        scene.services, audience=stored | {"everyone": False, "contact_ids": [1, 2], "tags": ["vip"]}
    )
    await page.reload()
    await screen.sees("Only 2 contacts, chosen one by one.")
    await screen.sees("People who meet every one of these conditions.")
    await page.get_by_label("Nobody who wrote in the last 24 hours").check()
    await page.get_by_role("status").get_by_text("Saved").wait_for()
    stored = await CAMPAIGNS.only(scene.services, "audience")
    assert (stored["contact_ids"], stored["tags"], stored["skips_live_conversations"]) == ([1, 2], ["vip"], True)


def next_tuesday() -> date:
    """Return the Tuesday of next week or of the week after: the law knows other hours for some days."""
    today = datetime.now(UTC).date()
    return today + timedelta(days=7 + (TUESDAY - today.weekday()) % 7)


async def test_a_check_shows_parts_dear_characters_and_the_hours_of_each_zone(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await obey_the_law(scene.services)
    people = [("+12025550143", "Zoë"), ("+14155550143", "Ann"), ("+18085550143", "Bo"), ("+13125550143", "Noël")]
    async with scene.unit() as unit:
        for phone, name in people:
            await contacts.create(unit, {"phone": phone, "first_name": name})
        await contacts.create(unit, {"phone": "+12025550144", "dnd_sms": True})
    long = "Hi {first_name}, our spring sale begins today at ten o'clock: all the bread of the week for half. "
    id = await Sending(scene, scene.dispatch).draft(body=long + "Reply STOP to opt out.")
    at = f"{next_tuesday()}T10:00"
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?step=check&when=local&at={at}")
    await page.get_by_role("figure", name="Texts by their number of parts").get_by_text("2 parts").wait_for()
    dear = page.get_by_role("list", name="Characters that cost parts")
    await dear.get_by_text("in 2 texts").wait_for()
    await dear.get_by_text("+2 credits.").wait_for()
    hours = page.get_by_role("figure", name="Texts by the time from which they leave")
    await hours.get_by_text("Honolulu").wait_for()
    await screen.check(pictures, "campaign-check-full")
    await hours.get_by_role("button", name="Show as table").click()
    assert await hours.get_by_role("row").count() == 5
    await screen.press("Next person")
    await screen.sees("2 of ")
    await screen.check(pictures, "campaign-check-table")
    for step in ("audience", "message", "when", "check"):
        await screen.narrow(f"/campaigns/{id}?step={step}&when=local&at={at}")
        await page.get_by_role("navigation", name="Steps").wait_for()
        await screen.check(pictures, f"campaign-{step}-narrow")


async def test_a_test_is_sent_to_a_phone_once_and_costs_its_credits(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await Sending(scene, scene.dispatch).draft()
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}?step=message")
    await screen.fill("Phone", "12")
    await screen.press("Send the test")
    await screen.page.get_by_label("Phone", exact=True).and_(screen.page.locator("[aria-invalid=true]")).wait_for()
    assert await OUTBOUND.count(scene.services) == 0

    await screen.fill("Phone", "(202) 555-0143")
    await screen.press("Send the test")
    await screen.sees("Sent to (202) 555-0143: 1 part, 999 credits left.")
    await screen.check(pictures, "campaign-test")
    [(body, status)] = await OUTBOUND.read(scene.services, "body", "status")
    assert (body, status) == ("Hi there, our sale begins today. Reply STOP to opt out.", "pending")
    assert await CAMPAIGNS.only(scene.services, "status") == "draft"


async def test_a_changed_audience_is_shown_before_anything_is_sent(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_people(scene.services, 2)
    id = await Sending(scene, scene.dispatch).draft()
    screen = await windows.owner(account)
    dialog = screen.page.get_by_role("dialog")
    await screen.open(f"/campaigns/{id}?step=check")
    await screen.press("Send to 2 people for at most 2 credits")
    await add_contacts(scene.services, account.account_id, ["+12025550143"])
    await dialog.get_by_role("button", name="Send to 2 people").click()
    await dialog.get_by_text("2 people and 2 credits before, 3 people and 3 credits now. Nothing was sent.").wait_for()
    await screen.check(pictures, "campaign-stale")
    assert await CAMPAIGNS.only(scene.services, "status") == "draft"

    await dialog.get_by_role("button", name="Send to 3 people for at most 3 credits").click()
    await screen.page.get_by_role("region", name="Progress").wait_for()
    assert await CAMPAIGNS.only(scene.services, "status", "max_credits") == ("sending", 3)


async def test_a_campaign_is_scheduled_unscheduled_and_scheduled_for_the_clock_of_each_person(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_people(scene.services, 2)
    id = await Sending(scene, scene.dispatch).draft()
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?step=when&when=at")
    await screen.fill("Time", "2020-01-01T10:00")
    await screen.sees("This time is past. Choose a later one.")
    await screen.fill("Time", f"{day}T10:00")
    await page.wait_for_url(f"**at={day}T10*")
    await page.reload()
    await screen.sees("your time (America/Chicago)")
    assert await page.get_by_label("Time", exact=True).input_value() == f"{day}T10:00"
    await screen.press("Next: Check")
    await screen.press("Schedule to 2 people for at most 2 credits")
    await page.get_by_role("dialog").get_by_role("button", name="Schedule to 2 people").click()
    await page.get_by_role("button", name="Unschedule and edit").wait_for()
    await screen.check(pictures, "campaign-scheduled")
    status, at, local_at = await CAMPAIGNS.only(scene.services, "status", "scheduled_at", "local_at")
    assert (status, at.date(), at.minute, local_at) == ("scheduled", day, 0, None)

    await screen.press("Unschedule and edit")
    await page.get_by_role("radio", name="At the local time of each person").check()
    assert await page.get_by_label("Time where the person is").input_value() == f"{day}T10:00"
    await screen.press("Next: Check")
    await screen.fill("At most, in credits", "5")
    await screen.press("Schedule to 2 people for at most 5 credits")
    await page.get_by_role("dialog").get_by_role("button", name="Schedule to 2 people").click()
    await screen.sees("where they are. The first texts leave")
    status, local_at, most = await CAMPAIGNS.only(scene.services, "status", "local_at", "max_credits")
    assert (status, f"{local_at:%Y-%m-%dT%H:%M}", most) == ("scheduled", f"{day}T10:00", 5)


async def test_campaigns_are_found_by_name_and_state(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    sending = Sending(scene, scene.dispatch)
    await add_people(scene.services, 2)
    for name in ("Spring sale", "Autumn sale", "News"):
        await sending.draft(name)
    await sending.send(await CAMPAIGNS.where(name="News").only(scene.services, "id"))
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/campaigns")
    await screen.check(pictures, "campaigns")
    await page.get_by_label("Search campaigns").fill("sale")
    await page.get_by_role("link", name="News").wait_for(state="hidden")
    await page.get_by_role("combobox", name="State").click()
    await page.get_by_role("option", name="Sending").click()
    await screen.sees("No campaign matches.")
    await page.reload()
    await screen.sees("No campaign matches.")
    await screen.narrow("/campaigns")
    await screen.sees("Autumn sale")
    await screen.check(pictures, "campaigns-narrow")


async def test_a_campaign_is_duplicated_and_deleted(windows: Windows, scene: Scene, account: Opened):
    id = await Sending(scene, scene.dispatch).draft("Spring sale")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    await screen.press("Duplicate")
    await screen.heading("Spring sale (copy)").wait_for()
    copied: Any = await CAMPAIGNS.where(name="Spring sale (copy)").only(scene.services, "body", "audience")
    assert copied == await CAMPAIGNS.where(name="Spring sale").only(scene.services, "body", "audience")
    await screen.press("Delete")
    await page.get_by_role("dialog").get_by_text("Nothing was sent.").wait_for()
    await screen.press("Delete Spring sale (copy)")
    await screen.heading("Campaigns").wait_for()
    await page.get_by_role("link", name="Spring sale (copy)").wait_for(state="hidden")
    assert await CAMPAIGNS.where(name="Spring sale (copy)", deleted_at=None).count(scene.services) == 0
