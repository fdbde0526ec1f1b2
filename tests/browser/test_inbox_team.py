"""The inbox of several people: notes, presence, assignment, texts for later, and a suggested reply."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.domain.templates import service as templates
from tests.browser.screen import NARROW, TIMERS, Screen, Windows, shown
from tests.factories.accounts import USERS, add_user
from tests.factories.agents import FAQ, add_agent
from tests.factories.billing import balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.graphql.live import PHONE, Scene
from tests.waiting import until

pytestmark = pytest.mark.anyio

FIELD = f"Text to {shown(PHONE)}"
BEN = "ben@example.com"


async def add_colleague(scene: Scene, account: Opened) -> int:
    """Add a member of the account, who has the password of its owner."""
    password_hash = await USERS.where(email=account.email).only(scene.services, "password_hash")
    return await add_user(
        scene.services, account.account_id, BEN, first_name="Ben", last_name="Ray", password_hash=password_hash
    )


async def assignee(scene: Scene, account: Opened) -> int | None:
    """Return the user to whom the only conversation is assigned."""
    return await CONVERSATIONS.where(account_id=account.account_id).only(scene.services, "assignee_id")


async def is_read(scene: Scene, account: Opened) -> bool:
    """Tell whether all texts of the only conversation are read."""
    return await CONVERSATIONS.where(account_id=account.account_id).only(scene.services, "unread_count") == 0


async def types_in_view_of(ben: Screen, ann: Screen) -> bool:
    """Type a character as Ben, who pauses before five seconds have passed; tell whether Ann sees that he types."""
    await ben.page.get_by_label(FIELD).press("y")
    return await ann.page.get_by_text("Ben Ray is typing").count() > 0


async def is_reached(screen: Screen, option: Locator) -> bool:
    """Go one option further by the arrows unless they have come to an option; tell whether they have."""
    if await option.get_attribute("data-combobox-selected"):
        return True
    await screen.page.keyboard.press("ArrowDown")
    return False


async def open_thread(screen: Screen, text: str) -> None:
    """Open the conversation whose latest text is this one."""
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name=text).click()
    await screen.heading(shown(PHONE)).wait_for()


async def test_two_colleagues_see_each_other_leave_notes_and_hand_over_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    ben_id = await add_colleague(scene, account)
    await scene.receive("Can I order a cake?")
    ann, ben = await windows.owner(account), await windows.sign_in(BEN, account.password, NARROW)
    await open_thread(ann, "Can I order a cake?")
    await open_thread(ben, "Can I order a cake?")
    await until(lambda: types_in_view_of(ben, ann))

    await ann.page.keyboard.press("n")
    await ann.page.get_by_label("Internal note").type("She wants it without nuts.")
    await ann.page.keyboard.press("Control+Enter")
    await ann.page.get_by_role("note", name="Internal note").wait_for()
    await scene.dispatch()
    note = ben.page.get_by_role("note", name="Internal note")
    await note.get_by_text("She wants it without nuts.").wait_for()
    await expect(note.get_by_role("button", name="Delete the note")).to_have_count(0)

    await ann.page.keyboard.press("Escape")
    await ann.page.keyboard.press("a")
    option = ann.page.get_by_role("option", name="Ben Ray")
    await option.wait_for()
    await ann.page.evaluate(TIMERS)
    await until(lambda: is_reached(ann, option))
    await ann.page.keyboard.press("Enter")
    await until(lambda: assignee(scene, account))
    await scene.dispatch()
    await ann.sees("You assigned it to Ben Ray")
    await ann.check(pictures, "inbox-team")
    await ben.check(pictures, "inbox-team-narrow")

    assert await assignee(scene, account) == ben_id
    assert await MESSAGES.where(direction="outbound").read(scene.services, "body") == []


async def test_the_list_shows_the_colleagues_in_each_conversation_and_the_times_in_utc(
    windows: Windows, scene: Scene, account: Opened
):
    await add_colleague(scene, account)
    await scene.receive("Can I order a cake?")
    ann, ben = await windows.owner(account), await windows.sign_in(BEN, account.password, NARROW)
    await ann.open("/inbox")
    row = ann.page.get_by_role("link", name="Can I order a cake?")
    await expect(row.locator("time")).to_have_attribute("title", re.compile(r"C[DS]T \(.+Z\)"))

    await open_thread(ben, "Can I order a cake?")
    await row.get_by_text("Ben Ray is here").wait_for()
    await until(lambda: types_in_view_of(ben, ann))
    await row.get_by_text("Ben Ray is typing").wait_for()
    await ann.check()


async def test_a_text_for_tomorrow_waits_and_comes_back_to_the_field_when_it_is_canceled(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("When do you open?")
    screen = await windows.owner(account)
    await open_thread(screen, "When do you open?")
    await screen.fill(FIELD, "We open at 8.")
    await screen.press("Send later")
    await screen.page.get_by_role("menuitem", name="Tomorrow at 9").click()
    await screen.sees("Leaves")
    waiting = await MESSAGES.where(direction="outbound").read(scene.services, "status")
    await screen.press("Cancel and edit")
    await expect(screen.page.get_by_label(FIELD)).to_have_value("We open at 8.")

    assert waiting == ["pending"]
    assert await MESSAGES.where(direction="outbound").read(scene.services, "status", "error_code") == [
        ("failed", "canceled")
    ]


async def test_a_conversation_is_left_unread_and_a_template_begins_a_text_by_keyboard(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Hello?")
    screen = await windows.owner(account)
    await open_thread(screen, "Hello?")
    await screen.page.keyboard.press("t")
    await screen.sees("No template is saved yet.")
    await screen.page.keyboard.press("Escape")
    await until(lambda: is_read(scene, account))
    await screen.page.keyboard.press("u")
    await screen.page.get_by_text("Choose a conversation").wait_for()

    assert not await is_read(scene, account)


async def test_a_template_and_a_suggestion_fill_the_field_and_nothing_is_sent(
    windows: Windows, scene: Scene, account: Opened
):
    async with scene.unit() as unit:
        await templates.create(unit, "Hours", "Hi {first_name|there}, see our page.")
        for number in range(8):
            await templates.create(unit, f"Newer {number}", "Hello")
        await add_agent(unit, {"mode": "approve"})
    await scene.receive("When are you open?")
    screen = await windows.owner(account)
    field = screen.page.get_by_label(FIELD)
    await open_thread(screen, "When are you open?")
    await screen.page.keyboard.press("t")
    await screen.page.get_by_role("option", name="Newer 7").wait_for()
    await screen.page.keyboard.type("hours")
    await screen.page.get_by_role("option", name="Newer 7").wait_for(state="hidden")
    await screen.page.get_by_role("option", name="Hours").wait_for()
    for key in ("ArrowDown", "Enter"):
        await screen.page.keyboard.press(key)
    await expect(field).to_have_value("Hi there, see our page.")
    await expect(field).to_be_focused()
    await field.fill("")
    await screen.press("Suggest")
    await expect(field).to_have_value(FAQ["When are you open?"])

    assert await MESSAGES.where(direction="outbound").count(scene.services) == 0


async def test_possible_opt_outs_are_decided_with_one_key_each(windows: Windows, scene: Scene, account: Opened):
    phones = (PHONE, "+12025550144")
    for phone in phones:
        inbound = InboundMessage(f"in-{phone}", phone, account.phone_number, "STOP what time is the showing")
        await scene.services.inbox.receive("sandbox", inbound)
    await scene.dispatch()
    screen = await windows.owner(account)
    asked = screen.page.get_by_text("Was this an opt-out?")
    await screen.open("/inbox/possible-opt-out")
    for phone, key in zip(phones, ("y", "x"), strict=True):
        await screen.page.get_by_role("link", name=shown(phone)).click()
        await asked.wait_for()
        await screen.page.keyboard.press(key)
        await asked.wait_for(state="hidden")
    await scene.dispatch()
    await screen.sees("No reply waits for a decision.")

    assert await CONTACTS.read(scene.services, "status") == ["opted_out", "active"]


async def test_a_suggestion_that_cannot_be_made_says_why_and_costs_nothing(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("When do you open?")
    screen = await windows.owner(account)
    await open_thread(screen, "When do you open?")
    await screen.press("Suggest")
    await screen.sees("No question of the FAQ is close enough to the message.")

    assert await screen.page.get_by_label(FIELD).input_value() == ""
    assert await balance_of(scene.services) == account.credits
