"""Drip sequences: made along a line of time, paused, and archived; contacts are enrolled and leave."""

import re
from pathlib import Path

import pytest

from app.bootstrap import open_job_worker
from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.domain.segments import service as segments
from app.domain.sequences import enrollments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from tests.browser.screen import NARROW, Windows
from tests.factories.campaigns import add_people
from tests.factories.contacts import CONTACTS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCE_STEPS, SEQUENCES
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

STEPS = [NewStep(0, "Welcome to {company_name}. Reply STOP to opt out."), NewStep(0, "Two days on.", 2, "10:00")]


async def add_sequence(scene: Scene) -> int:
    async with scene.unit() as unit:
        await contacts.create(unit, {"phone": "+12025550143", "first_name": "Ana"})
        return (await sequences.create(unit, "Welcome", STEPS)).id


async def test_a_sequence_is_made_of_texts_that_are_moved_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/sequences")
    await page.get_by_role("link", name="New sequence").click()
    await screen.fill("Name", "Welcome")
    await page.get_by_role("textbox", name="Text 1").fill("Second, {firstname}.")
    await screen.press("Add a text")
    second = page.get_by_role("region", name="Text 2")
    await second.get_by_label("Hours").fill("1.5")
    await second.get_by_label("Then at").fill("10:00")
    await second.get_by_text("1 day, 1 hour, 30 minutes later, at 10:00 of their day").wait_for()
    await second.get_by_role("textbox", name="Text 2").fill("{company_name}: first. Reply STOP to opt out.")
    await page.keyboard.press("Alt+ArrowUp")
    await page.get_by_role("region", name="Text 1").get_by_text("1 day, 1 hour").wait_for()
    await screen.press("Create the sequence")
    await page.get_by_role("region", name="Text 2").get_by_text("Did you mean {first_name}?").first.wait_for()
    await screen.check(pictures, "sequence-new")
    assert await SEQUENCES.count(scene.services) == 0

    await page.get_by_role("textbox", name="Text 2").fill("Second, {first_name}.")
    await screen.press("Create the sequence")
    await screen.heading("Welcome").wait_for()
    made = await SEQUENCE_STEPS.read(scene.services, "position", "delay_days", "delay_minutes", "at_minute", "body")
    assert made == [
        (1, 1, 90, 600, "{company_name}: first. Reply STOP to opt out."),
        (2, 0, 0, None, "Second, {first_name}."),
    ]


async def test_a_contact_is_enrolled_and_leaves_and_the_sequence_is_paused_and_archived(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_sequence(scene)
    screen = await windows.owner(account)
    page, dialog = screen.page, screen.page.get_by_role("dialog")
    await screen.open(f"/sequences/{id}")
    await page.get_by_role("combobox", name="Contact").click()
    await page.get_by_role("option", name="Ana").click()
    await page.get_by_label("This person agreed to get these texts from us.").check()
    await page.get_by_role("button", name="Enroll Ana").click()
    await page.get_by_role("status").get_by_text("is enrolled").wait_for()
    await page.get_by_role("cell", name="Text 1 of 2").wait_for()
    await screen.check(pictures, "sequence")
    await screen.press("Pause")
    await screen.sees("Paused")
    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "status", "is_set_aside") == [("active", False)]

    await page.get_by_role("button", name="End for Ana").click()
    await dialog.get_by_role("button", name="End it for Ana").click()
    await page.get_by_role("cell", name="Removed").wait_for()
    await screen.press("Archive")
    await dialog.get_by_text("It ends for the 0 people").wait_for()
    await dialog.get_by_role("button", name="Archive Welcome").click()
    await screen.sees("Archived")
    assert await SEQUENCES.only(scene.services, "status") == "archived"
    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "exit_reason") == ["removed"]


async def test_everyone_of_a_segment_is_enrolled_after_their_number_is_shown(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_sequence(scene)
    await add_people(scene.services, 12)
    async with scene.unit() as unit:
        await segments.create(unit, "VIPs", {"field": "tags", "op": "has_any", "value": ["vip"]})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/sequences/{id}")
    await page.get_by_text("A segment", exact=True).click()
    await screen.choose("Segment", "VIPs")
    await screen.sees("12 contacts, of whom 12 can be texted now.")
    await page.get_by_label("Each of them gave prior express written consent").check()
    await screen.check(pictures, "sequence-segment")
    await screen.press("Enroll 12 contacts")
    progress = page.get_by_role("region", name="Enrolling")
    await progress.wait_for()
    await page.reload()
    job = open_job_worker(scene.services)
    while await job.run():
        await scene.dispatch()
    await progress.get_by_text("Done: 12 of 12").wait_for()
    await screen.press("Close")
    await screen.sees("12 people wait for it")

    assert await SEQUENCE_ENROLLMENTS.where(sequence_id=id).count(scene.services) == 12


async def test_a_phone_shows_sequences_in_every_state(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    narrow = await windows.owner(account, NARROW)
    await narrow.open("/sequences")
    await narrow.sees("A sequence sends several texts")
    id = await add_sequence(scene)
    await narrow.open("/sequences")
    await narrow.sees("2 texts")
    await narrow.check(pictures, "sequences-narrow")
    await narrow.go(f"/sequences/{id}?status=exited")
    await narrow.sees("Nobody is in this state.")
    await narrow.sees("2 days later, at 10:00 of their day")
    await narrow.check(pictures, "sequence-narrow")
    await narrow.go("/sequences/4711")
    await narrow.sees("There is no such sequence.")


async def enroll(scene: Scene, id: int) -> None:
    async with scene.unit() as unit:
        await enrollments.enroll(unit, id, await CONTACTS.only(scene.services, "id"))


async def test_texts_are_edited_as_a_new_version_and_people_under_way_keep_theirs(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_sequence(scene)
    await enroll(scene, id)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/sequences/{id}")
    await screen.sees("1 person waits for it · sent to 0 people")
    await page.get_by_role("link", name="Edit").click()
    await screen.heading("Edit Welcome").wait_for()
    await page.get_by_role("textbox", name="Text 2").fill("Three days on.")
    await page.get_by_role("region", name="Text 2").get_by_label("Days").fill("3")
    await screen.check(pictures, "sequence-edit")
    await screen.press("Save as version 2")
    dialog = page.get_by_role("dialog", name="1 person under way")
    await dialog.get_by_role("radio", name="They keep version 1").wait_for()
    await screen.check(pictures, "sequence-move")
    await dialog.get_by_role("button", name="Save as version 2").click()
    await screen.heading("Welcome").wait_for()
    await screen.sees("1 person finishes version 1.")
    await page.get_by_role("cell", name="Text 1 of version 1").wait_for()

    assert await SEQUENCES.only(scene.services, "steps_version") == 2
    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "steps_version") == [1]


async def test_people_under_way_move_to_the_texts_that_were_moved_by_keyboard(
    windows: Windows, scene: Scene, account: Opened
):
    id = await add_sequence(scene)
    await enroll(scene, id)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/sequences/{id}/edit")
    await screen.press("Add a text")
    await page.get_by_role("textbox", name="Text 3").fill("Between.")
    await page.keyboard.press("Alt+ArrowUp")
    await page.get_by_role("textbox", name="Text 2").and_(page.get_by_text("Between.")).wait_for()
    await screen.press("Save as version 2")
    await page.get_by_role("radio", name="They move to version 2").check()
    await page.get_by_role("dialog").get_by_role("button", name="Save as version 2").click()
    await page.get_by_role("cell", name="Text 1 of 3").wait_for()
    steps = await SEQUENCE_STEPS.where(version=2).read(scene.services, "position", "key", "body")

    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "steps_version") == [2]
    assert [(position, key) for position, key, _ in steps] == [(1, 1), (2, 3), (3, 2)]


async def test_rules_of_a_sequence_are_changed_without_a_question(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_sequence(scene)
    await enroll(scene, id)
    screen = await windows.owner(account, NARROW)
    page = screen.page
    await screen.open(f"/sequences/{id}/edit")
    await page.get_by_label("When the person replies").uncheck()
    await page.get_by_role("combobox", name="When the person comes to a stage").click()
    await page.get_by_role("option", name="Won").click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Only at some hours").check()
    await screen.check(pictures, "sequence-edit-narrow")
    await screen.press("Save")
    await screen.sees("It ends early for a person who comes to the stage won or opts out.")
    await screen.sees("Its texts leave from 09:00 to 17:00 where the person is")
    assert await SEQUENCES.only(scene.services, "steps_version", "exits_on_reply") == (1, False)


async def test_one_person_is_paused_and_resumed(windows: Windows, scene: Scene, account: Opened):
    id = await add_sequence(scene)
    await enroll(scene, id)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/sequences/{id}")
    await page.get_by_role("button", name="Pause for Ana").click()
    await page.get_by_role("cell", name="Until it is resumed").wait_for()
    await page.get_by_role("button", name="Resume for Ana").click()
    await page.get_by_role("button", name="Pause for Ana").wait_for()
    await page.get_by_role("cell", name="Until it is resumed").wait_for(state="hidden")


async def test_the_texts_of_a_sequence_are_shown_as_one_contact_would_get_them(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_sequence(scene)
    async with scene.unit() as unit:
        await contacts.create(unit, {"phone": "+12025550144", "first_name": "Bo"})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/sequences/{id}")
    texts = page.get_by_role("list", name="Texts to Bo (+1 202-555-0144)").get_by_role("listitem")
    await texts.first.get_by_text("Welcome to Blue Door. Reply STOP to opt out.").wait_for()
    assert await texts.count() == 2
    assert ", 9:00 AM" in await texts.nth(1).get_by_role("time").inner_text()  # 10:00 where Bo is
    await screen.sees("2 texts for 2 credits")
    await screen.check(pictures, "sequence-preview")

    await screen.go(f"/sequences/{id}/edit")
    await page.get_by_role("textbox", name="Text 2").fill("Two days on, {first_name}.")
    await page.get_by_role("combobox", name="Preview for").fill("Ana")
    await page.get_by_role("option", name="Ana").click()
    await page.get_by_role("list", name=re.compile("Texts to Ana")).get_by_text("Two days on, Ana.").wait_for()
    await screen.check(pictures, "sequence-draft-preview")
    await page.get_by_role("textbox", name="Text 2").fill("Two days on, {first}.")
    await page.get_by_text("{first}").nth(1).wait_for()
    await page.get_by_role("textbox", name="Text 2").fill("")
    await screen.sees("It is shown once every text is written.")
    assert await SEQUENCE_STEPS.read(scene.services, "body") == [each.body for each in STEPS]
    assert await SEQUENCE_ENROLLMENTS.count(scene.services) == 0
