"""The inbox: texts come in and go out, two people answer, and nothing is lost or doubled with a connection."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest
from playwright.async_api import Route, expect

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations.models import ConversationStatus
from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, Screen, Windows, shown
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.graphql.live import PHONE, Scene, Served, serving
from tests.node import NODE

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
COUNT = """
const { countParts } = await import(process.argv[1]);
let text = '';
for await (const piece of process.stdin) text += piece;
console.log(JSON.stringify(JSON.parse(text).map(({ body }) => countParts(body))));
"""
FIELD = f"Text to {shown(PHONE)}"


async def sent(scene: Scene) -> list[str]:
    """Return the texts that were sent, the first one first."""
    return await MESSAGES.where(direction="outbound").read(scene.services, "body")


def stop(account: Opened) -> InboundMessage:
    return InboundMessage("in-stop", PHONE, account.phone_number, "STOP")


async def reply(screen: Screen, text: str) -> None:
    """Type a reply, and send it by the keyboard."""
    await screen.fill(FIELD, text)
    await screen.page.keyboard.press("Control+Enter")


def test_the_counter_of_the_dashboard_counts_as_the_service_does():
    vectors = (ROOT / "tests" / "vectors" / "segments.json").read_bytes()

    module = ROOT / "dashboard" / "src" / "ui" / "parts.ts"
    program = [NODE, "--input-type=module", "--eval", COUNT, module]
    done = subprocess.run(program, input=vectors, capture_output=True, check=True, timeout=30)

    counted = [(each["encoding"], each["segments"]) for each in orjson.loads(done.stdout)]
    assert counted == [(each["encoding"], each["segments"]) for each in orjson.loads(vectors)]


async def test_two_people_answer_one_conversation(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    await scene.receive("Is this the bakery?")
    ann, ben = await windows.owner(account), await windows.owner(account, NARROW)

    await ann.open("/inbox")
    await ann.page.get_by_role("link", name="Is this the bakery?").wait_for()
    await ann.page.keyboard.press("j")
    await ann.page.get_by_role("log").get_by_text("Is this the bakery?").wait_for()
    await ben.open("/inbox")
    await ben.page.get_by_role("link", name="Is this the bakery?").click()
    await ann.page.keyboard.press("r")
    await expect(ann.page.get_by_label(FIELD)).to_be_focused()
    await ann.page.keyboard.type("Yes, it is [open] until 6. 🍞")
    await ann.sees("1 part · UCS-2 · 1 credit")
    await ann.page.keyboard.press("Control+Enter")
    await ann.page.get_by_role("log").get_by_text("Waiting").wait_for()
    await scene.dispatch()
    await ben.page.get_by_role("log").get_by_text("Yes, it is [open] until 6. 🍞").wait_for()
    await scene.receive("Great!")
    for person in (ann, ben):
        await person.page.get_by_role("log").get_by_text("Great!").wait_for()
    await ann.check(pictures, "inbox")
    await ben.check(pictures, "inbox-narrow")

    assert await sent(scene) == ["Yes, it is [open] until 6. 🍞"]
    await ann.page.keyboard.press("Escape")
    await ann.page.keyboard.press("e")
    await ann.sees("No open conversation.")
    assert await CONVERSATIONS.where(account_id=account.account_id).only(scene.services, "status") == (
        ConversationStatus.closed
    )


async def test_a_conversation_that_was_closed_or_put_off_is_taken_back(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await scene.receive("Hi")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.keep_toasts()
    hi = screen.page.get_by_role("link", name="Hi")
    await hi.click()
    await screen.press("Close")
    await screen.sees("No open conversation.")
    await screen.page.get_by_role("button", name="Undo").wait_for()
    await screen.check(pictures, "undo")
    await scene.dispatch()
    await screen.press("Undo")
    await scene.dispatch_next()
    await hi.click()
    await screen.press("Snooze")
    await screen.page.get_by_role("menuitem", name="Tomorrow at 9").click()
    await screen.sees("No open conversation.")
    await scene.dispatch()
    await screen.press("Undo")
    await scene.dispatch_next()
    await hi.wait_for()

    assert await CONVERSATIONS.only(scene.services, "status", "snoozed_until") == ("open", None)


async def test_a_text_survives_a_lost_connection_and_is_sent_once(
    windows: Windows, scene: Scene, served: Served, account: Opened
):
    await scene.receive("Hi")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="Hi").click()
    await screen.page.get_by_label(FIELD).wait_for()

    answered = []

    async def lose_answer(route):
        if answered or "We open at 8." not in (route.request.post_data or ""):
            await route.continue_()
            return
        answered.append(await route.fetch())
        await route.abort()

    await screen.page.route("**/graphql", lose_answer)
    await reply(screen, "We open at 8.")
    await screen.sees("Not confirmed")
    await screen.fill(FIELD, "half a thought")
    await screen.page.reload()
    await screen.page.get_by_role("log").get_by_text("We open at 8.").wait_for()
    await screen.page.wait_for_function("() => Object.values(localStorage).every(text => !text.includes('We open'))")

    assert len(answered) == 1
    assert await sent(scene) == ["We open at 8."]
    assert await screen.page.get_by_label(FIELD).input_value() == "half a thought"

    served.cut()
    await scene.receive("Are you there?")
    await screen.page.get_by_role("log").get_by_text("Are you there?").wait_for()


async def test_a_text_that_waits_leaves_once_from_any_page_that_is_opened(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Hi")
    id = await CONVERSATIONS.only(scene.services, "id")
    screen = await windows.owner(account)
    await screen.open(f"/inbox/open/{id}")
    await screen.page.route("**/graphql", cut_replies)
    await reply(screen, "We open at 8.")
    await screen.sees("Not confirmed")
    assert await sent(scene) == []

    await screen.page.unroute("**/graphql")
    await screen.open("/campaigns")
    await screen.page.wait_for_function("() => Object.values(localStorage).every(text => !text.includes('We open'))")
    await screen.page.reload()
    await screen.heading("Campaigns").wait_for()
    assert await sent(scene) == ["We open at 8."]


async def cut_replies(route: Route) -> None:
    """End the connection of replies without an answer."""
    if "InboxReply" in (route.request.post_data or ""):
        await route.abort()
    else:
        await route.continue_()


async def test_the_inbox_reconnects_after_a_restart_and_shows_the_missed_messages(
    windows: Windows, scene: Scene, served: Served, account: Opened
):
    await scene.receive("Hi")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="Hi").click()
    await screen.fill(FIELD, "We open")
    port = int(served.base_url.rpartition(":")[2])
    await served.stop()
    await screen.sees("The connection is lost.")
    await screen.page.keyboard.type(" at 8.")
    await screen.page.keyboard.press("Control+Enter")
    await screen.page.get_by_role("log").get_by_text("Not confirmed").wait_for()
    for number in range(50):
        await scene.receive(f"Are you there? {number}")
    async with serving(scene.services.settings, port):
        await screen.page.get_by_role("log").get_by_text("Are you there? 49", exact=True).wait_for()
        await screen.page.get_by_text("The connection is lost.").wait_for(state="hidden")
        await screen.page.get_by_text("Not confirmed").wait_for(state="hidden")
        screen.complaints.clear()
        assert await sent(scene) == ["We open at 8."]


async def test_a_refused_text_says_why_and_comes_back_to_the_field(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Hi")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="Hi").click()
    await screen.page.get_by_label(FIELD).wait_for()
    await scene.services.inbox.receive("sandbox", stop(account))

    await reply(screen, "One more thing")
    await screen.sees("Not sent.")
    await screen.press("Edit it")

    assert await sent(scene) != ["One more thing"]
    assert await screen.page.get_by_label(FIELD).input_value() == "One more thing"


async def test_a_session_that_ends_while_typing_loses_nothing(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Hi")
    screen = await windows.owner(account, is_new=True)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="Hi").click()
    await screen.page.get_by_role("log").get_by_text("Hi").wait_for()
    await screen.fill(FIELD, "We are closed on Monday.")

    [cookie] = [each for each in await screen.page.context.cookies() if each["name"] == "session"]
    await screen.page.context.clear_cookies(name="session")
    await screen.page.keyboard.press("Control+Enter")
    await screen.page.get_by_role("dialog", name="Your session has ended").wait_for()
    async with screen.page.context.expect_page() as opening:
        await screen.page.get_by_role("link", name="Sign in").click()
    window = Screen(await opening.value, screen.base, screen.axe)
    await window.fill("E-mail address", account.email)
    await window.fill("Password", account.password)
    await window.press("Sign in")
    await screen.page.get_by_role("dialog").wait_for(state="hidden")
    await screen.page.get_by_role("log").get_by_text("Waiting").wait_for()

    assert cookie["httpOnly"]
    assert await sent(scene) == ["We are closed on Monday."]


async def test_a_first_text_begins_a_conversation(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.press("New text")
    await screen.fill("Phone", PHONE)
    await screen.page.get_by_role("textbox", name="Text", exact=True).fill("Your table is booked.")
    await screen.page.get_by_label("This person agreed to be texted by us.").check()
    await screen.press("Send the text")
    await screen.heading(shown(PHONE)).wait_for()
    await screen.page.get_by_role("log").get_by_text("Your table is booked.").wait_for()

    assert await sent(scene) == ["Your table is booked."]


async def test_a_sign_out_asks_before_it_deletes_unsent_texts(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Hi")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/inbox")
    await page.get_by_role("link", name="Hi").click()
    await screen.fill(FIELD, "We are closed on Monday.")
    await screen.press(re.compile(account.email))
    await page.get_by_role("menuitemradio", name="Dark").click()
    for answer in ("Keep it", "Sign out and delete 1 unsent text"):
        await screen.press(re.compile(account.email))
        await page.get_by_role("menuitem", name="Sign out").click()
        assert await page.get_by_label(FIELD).input_value() == "We are closed on Monday."
        await page.get_by_role("dialog", name="Delete 1 unsent text?").get_by_role("button", name=answer).click()
    await screen.sees("You are signed out.")
    assert await page.evaluate("Object.values(localStorage)") == ["dark"]
