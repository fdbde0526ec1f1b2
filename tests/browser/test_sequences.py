"""Drip sequences: made along a line of time, paused, and archived; contacts are enrolled and leave."""

from pathlib import Path

import pytest

from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.domain.sequences import service as sequences
from app.domain.sequences.service import NewStep
from tests.browser.screen import NARROW, Windows
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
    await screen.press("Make the sequence")
    await page.get_by_role("region", name="Text 2").get_by_text("Did you mean {first_name}?").first.wait_for()
    await screen.check(pictures, "sequence-new")
    assert await SEQUENCES.count(scene.services) == 0

    await page.get_by_role("textbox", name="Text 2").fill("Second, {first_name}.")
    await screen.press("Make the sequence")
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
    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "status", "is_paused") == [("active", True)]

    await page.get_by_role("button", name="End for Ana").click()
    await dialog.get_by_role("button", name="End it for Ana").click()
    await page.get_by_role("cell", name="Removed").wait_for()
    await screen.press("Archive")
    await dialog.get_by_text("It ends for the 0 people").wait_for()
    await dialog.get_by_role("button", name="Archive Welcome").click()
    await screen.sees("Archived")
    assert await SEQUENCES.only(scene.services, "status") == "archived"
    assert await SEQUENCE_ENROLLMENTS.read(scene.services, "exit_reason") == ["removed"]


async def test_a_phone_shows_sequences_in_every_state(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    narrow = await windows.owner(account, NARROW)
    await narrow.open("/sequences")
    await narrow.sees("A sequence sends several texts")
    id = await add_sequence(scene)
    await narrow.open("/sequences")
    await narrow.sees("2 texts")
    await narrow.check(pictures, "sequences-narrow")
    await narrow.open(f"/sequences/{id}?status=exited")
    await narrow.sees("Nobody is in this state.")
    await narrow.sees("2 days later, at 10:00 of their day")
    await narrow.check(pictures, "sequence-narrow")
    await narrow.open("/sequences/4711")
    await narrow.sees("No drip sequence with id 4711.")
