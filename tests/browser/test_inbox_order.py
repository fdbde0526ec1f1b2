"""The inbox of a busy day: filters in the address, rows that keep their places, and answers that cross."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import anyio
import orjson
import pytest
from playwright.async_api import Route, expect

from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, QUIET, Screen, Windows, shown
from tests.browser.test_inbox_team import BEN, FIELD, add_colleague, is_read, open_thread
from tests.factories.accounts import add_user
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.graphql.live import PHONE, Scene
from tests.waiting import until, within

pytestmark = pytest.mark.anyio

OTHER = "+12025550177"
FAILED = orjson.dumps({"errors": [{"message": "It failed.", "extensions": {"code": "internal_error"}}]})
LANDLINE = "+15005550101"
"""A phone of the sandbox whose texts fail."""
SHOWN, OTHER_SHOWN = shown(PHONE), shown(OTHER)


async def receive_from_other(scene: Scene, account: Opened, text: str) -> None:
    """Receive a text of a second person."""
    await scene.services.inbox.receive("sandbox", InboundMessage(text, OTHER, account.phone_number, text))
    await scene.dispatch()


async def sent(scene: Scene) -> list[str]:
    """Return the texts that were sent, the first one first."""
    return await MESSAGES.where(direction="outbound").read(scene.services, "body")


async def names(screen: Screen) -> list[str]:
    """Return the phones of the listed conversations, in their order."""
    rows = screen.page.get_by_role("region", name="Conversations").get_by_role("link")
    texts = await rows.filter(has_text="+1 202").all_inner_texts()
    return [text.strip()[: len(SHOWN)] for text in texts]


async def test_a_failed_text_says_why_and_when_in_its_thread_and_in_the_timeline_of_its_contact(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]]
):
    actor = Actor(account.account_id, frozenset(), "test")
    await scene.services.acceptor.accept(actor, Send(LANDLINE, "Your table is ready.", consent_attested=True))
    await work()
    await MESSAGES.change(scene.services, failed_at=datetime(2026, 2, 3, 15, 4, tzinfo=UTC))
    said = "The number is a landline, which takes no texts."
    when = "Failed Feb 3, 2026, 9:04 AM."
    screen = await windows.owner(account)
    id, contact_id = await CONVERSATIONS.only(scene.services, "id", "contact_id")
    await screen.open("/")
    for path in (f"/inbox/open/{id}", f"/contacts/{contact_id}"):
        await screen.go(path)
        explained = screen.page.locator("main").get_by_text(said)
        await explained.wait_for()
        assert when in " ".join((await explained.inner_text()).split())


async def test_a_held_key_closes_one_conversation_and_a_key_after_g_only_leads_to_its_page(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("One")
    await receive_from_other(scene, account, "Two")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/inbox/open")
    await page.get_by_role("link", name="Two").click()
    await screen.heading(OTHER_SHOWN).wait_for()
    for key in ("g", "e"):
        await page.keyboard.press(key)
    await screen.heading("Segments").wait_for()
    await page.evaluate(QUIET)
    assert await CONVERSATIONS.read(scene.services, "status") == ["open", "open"]

    await screen.go("/inbox/open")
    await page.get_by_role("link", name="Two").click()
    await screen.heading(OTHER_SHOWN).wait_for()
    await page.keyboard.down("e")
    await screen.heading(SHOWN).wait_for()
    for _ in range(3):
        await page.keyboard.down("e")
    await page.keyboard.up("e")
    await page.evaluate(QUIET)
    await screen.heading(SHOWN).wait_for()
    assert sorted(await CONVERSATIONS.read(scene.services, "status")) == ["closed", "open"]


async def test_the_list_shows_a_slow_answer_before_it_is_loaded_again(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("One")
    screen = await windows.owner(account)
    await screen.open("/inbox/open")
    await screen.page.get_by_role("link", name="One").wait_for()
    asked, permitted = list[str](), anyio.Event()

    async def hold(route: Route) -> None:
        query = orjson.loads(route.request.post_data or "{}")["operationName"]
        asked.append(query)
        if query == "Inbox" and not permitted.is_set():
            await within("the first answer", permitted.wait())
        await route.continue_()

    await screen.page.route("**/graphql", hold)
    for text in ("Two", "Three"):
        seen = asked.count("InboxCounts")
        await scene.receive(text)
        await until(lambda seen=seen: asked.count("InboxCounts") > seen)
    assert asked.count("Inbox") == 1
    permitted.set()
    await screen.page.get_by_role("link", name="Three").wait_for()


async def test_a_colleague_who_answered_first_is_shown_before_a_text_is_sent(
    windows: Windows, scene: Scene, account: Opened
):
    await add_colleague(scene, account)
    await scene.receive("Do you bake bread?")
    ann, ben = await windows.owner(account), await windows.sign_in(BEN, account.password, NARROW)
    await open_thread(ann, "Do you bake bread?")
    await open_thread(ben, "Do you bake bread?")

    await ann.fill(FIELD, "Yes, every day.")
    await ben.fill(FIELD, "Only on Friday.")
    await ben.press("Send")
    await ben.page.get_by_role("log").get_by_text("Waiting").wait_for()
    await scene.dispatch()
    log = ann.page.get_by_role("log")
    await log.get_by_text("Only on Friday.").wait_for()
    await log.get_by_text("Ben Ray").first.wait_for()
    await ann.page.get_by_label(FIELD).press("Control+Enter")
    await ann.page.get_by_role("alert").get_by_text("Ben Ray has answered since you began").wait_for()
    sent_before = await sent(scene)
    await ann.page.get_by_label(FIELD).press("Control+Enter")
    await log.get_by_text("Yes, every day.").wait_for()
    await until(lambda: has_sent(scene, 2))

    assert sent_before == ["Only on Friday."]
    assert await sent(scene) == ["Only on Friday.", "Yes, every day."]


async def has_sent(scene: Scene, count: int) -> bool:
    """Tell whether so many texts were sent."""
    return len(await sent(scene)) == count


async def test_rows_keep_their_places_under_the_pointer_until_they_are_asked_to_move(
    windows: Windows, scene: Scene, account: Opened
):
    await receive_from_other(scene, account, "First")
    await scene.receive("Second")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="Second").hover()
    assert await names(screen) == [SHOWN, OTHER_SHOWN]

    await receive_from_other(scene, account, "Third")
    await screen.page.get_by_role("button", name="1 new").wait_for()
    await screen.page.get_by_role("link", name="Third").wait_for()
    assert await names(screen) == [SHOWN, OTHER_SHOWN]
    await screen.press("1 new")
    await expect(screen.page.get_by_role("button", name="1 new")).to_have_count(0)

    assert await names(screen) == [OTHER_SHOWN, SHOWN]


async def test_number_order_and_search_of_the_inbox_stay_in_the_address(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await receive_from_other(scene, account, "I came first")
    await scene.receive("I came second")
    screen = await windows.owner(account)
    await screen.open("/inbox")
    await screen.page.get_by_role("link", name="I came second").wait_for()
    assert await names(screen) == [SHOWN, OTHER_SHOWN]

    await screen.press("Number and order")
    await screen.page.get_by_label("Longest waiting first").check()
    await expect(screen.page.get_by_role("button", name="Number and order: changed")).to_have_count(1)
    await screen.check(pictures, "inbox-filters")
    await screen.page.keyboard.press("Escape")
    await until(lambda: is_order(screen, [OTHER_SHOWN, SHOWN]))
    await screen.page.reload()
    await until(lambda: is_order(screen, [OTHER_SHOWN, SHOWN]))
    await screen.fill("Search conversations", OTHER[-4:])
    await until(lambda: is_order(screen, [OTHER_SHOWN]))
    await screen.page.get_by_role("link", name="I came first").click()
    await screen.heading(OTHER_SHOWN).wait_for()

    assert screen.page.url.endswith("?search=0177&sort=oldest_waiting")
    await screen.fill("Search conversations", "nobody")
    await screen.sees("No conversation with a contact of this name, phone or e-mail address.")


async def is_order(screen: Screen, expected: list[str]) -> bool:
    """Tell whether the conversations are listed in this order."""
    return await names(screen) == expected


async def test_stage_and_tags_of_a_contact_are_changed_beside_the_conversation(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Call me")
    screen = await windows.owner(account)
    await open_thread(screen, "Call me")
    await screen.keep_toasts()
    panel = screen.page.get_by_role("complementary", name="Contact")

    await panel.get_by_role("combobox", name="Stage").click()
    await screen.page.get_by_role("option", name="Qualified").click()
    await panel.get_by_role("combobox", name="Tags").fill("vip")
    await screen.page.keyboard.press("Enter")
    await until(lambda: contact_of(scene, "tags", ["vip"]))
    await until(lambda: contact_of(scene, "pipeline_stage", "qualified"))
    await screen.page.get_by_role("alert").filter(has_text="Tagged vip").wait_for()
    await screen.check()
    await undo(screen, "Tagged vip")
    await until(lambda: contact_of(scene, "tags", []))
    await undo(screen, "Stage: Qualified")
    await until(lambda: contact_of(scene, "pipeline_stage", "new_lead"))
    await panel.get_by_role("link", name=SHOWN).click()

    await screen.heading(SHOWN).wait_for()
    await screen.sees("Why this score")


async def test_an_assignment_is_taken_back_in_the_inbox_and_on_the_page_of_the_contact(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Call me")
    colleague = await add_user(scene.services, account.account_id, "bo@example.com", first_name="Bo")
    screen = await windows.owner(account)
    await open_thread(screen, "Call me")
    await screen.keep_toasts()
    await screen.page.get_by_role("combobox", name="Assigned to").click()
    await screen.page.get_by_role("option", name="Bo").click()
    await until(lambda: conversation_of(scene, "assignee_id", colleague))
    await undo(screen, "Assigned to Bo")
    await until(lambda: conversation_of(scene, "assignee_id", None))

    await screen.page.get_by_role("complementary", name="Contact").get_by_role("link", name=SHOWN).click()
    await screen.sees("Why this score")
    await screen.page.get_by_role("combobox", name="Assigned to").click()
    await screen.page.get_by_role("option", name="Bo").click()
    await until(lambda: contact_of(scene, "assignee_id", colleague))
    await undo(screen, "Assigned to Bo")
    await until(lambda: contact_of(scene, "assignee_id", None))


async def undo(screen: Screen, done: str) -> None:
    """Take an act back by its toast, and wait until the toast has gone."""
    toast = screen.page.get_by_role("alert").filter(has_text=done)
    await toast.get_by_role("button", name="Undo").click()
    await toast.wait_for(state="detached")


async def conversation_of(scene: Scene, column: str, value: object) -> bool:
    """Tell whether the only conversation has this value."""
    return await CONVERSATIONS.only(scene.services, column) == value


async def contact_of(scene: Scene, column: str, value: object) -> bool:
    """Tell whether the only contact has this value."""
    return await CONTACTS.only(scene.services, column) == value


async def test_the_next_conversation_opens_after_one_is_closed_and_the_list_on_a_phone(
    windows: Windows, scene: Scene, account: Opened
):
    await receive_from_other(scene, account, "First")
    await scene.receive("Second")
    screen, narrow = await windows.owner(account), await windows.owner(account, NARROW)
    await open_thread(screen, "Second")
    await screen.page.keyboard.press("e")
    await screen.heading(OTHER_SHOWN).wait_for()
    await narrow.open("/inbox")
    await narrow.page.get_by_role("link", name="First").click()
    await narrow.page.get_by_role("link", name="About this person").wait_for()
    await narrow.press("Close")
    await narrow.sees("No open conversation.")

    assert await CONVERSATIONS.read(scene.services, "status") == ["closed", "closed"]


async def test_a_thread_begins_at_its_unread_texts_which_are_read_when_the_last_one_was_in_view(
    windows: Windows, scene: Scene, account: Opened
):
    for number in range(25):
        await scene.receive(f"Line {number}\n" * 3)
    ids = await MESSAGES.read(scene.services, "id")
    await CONVERSATIONS.change(scene.services, read_up_to=ids[9], unread_count=15)
    screen = await windows.owner(account)
    await open_thread(screen, "Line 24")
    log = screen.page.get_by_role("log")
    await expect(log.get_by_text("New", exact=True)).to_be_in_viewport()
    await expect(log.get_by_text(re.compile("^Line 10"))).to_be_in_viewport()
    await expect(log.get_by_text(re.compile("^Line 24"))).not_to_be_in_viewport()
    await log.evaluate("log => { log.scrollTop = log.scrollHeight }")
    await until(lambda: is_read(scene, account))


@pytest.mark.parametrize(("count", "first"), [(33, 2), (35, 0)], ids=["beyond the first page", "from the first text"])
async def test_a_thread_begins_at_its_first_unread_text_however_far_back_that_is(
    windows: Windows, scene: Scene, account: Opened, count: int, first: int
):
    for number in range(35):
        await scene.receive(f"Line {number}\n" * 3)
    ids = await MESSAGES.read(scene.services, "id")
    await CONVERSATIONS.change(scene.services, read_up_to=ids[first - 1] if first else None, unread_count=count)
    screen = await windows.owner(account)
    await open_thread(screen, "Line 34")
    log = screen.page.get_by_role("log")
    await expect(log.get_by_text("New", exact=True)).to_be_in_viewport()
    await expect(log.get_by_text(re.compile(f"^Line {first}\n"))).to_be_in_viewport()
    await expect(log.get_by_text(re.compile("^Line 34"))).not_to_be_in_viewport()
    assert await CONVERSATIONS.only(scene.services, "unread_count") == count
    await log.evaluate("log => { log.scrollTop = log.scrollHeight }")
    await until(lambda: is_read(scene, account))


async def test_a_text_that_the_service_cannot_take_yet_holds_no_other_conversation_up_and_is_discarded(
    windows: Windows, scene: Scene, account: Opened
):
    await receive_from_other(scene, account, "First")
    await scene.receive("Second")
    screen = await windows.owner(account)

    async def fail(route: Route) -> None:
        if "Trouble" in (route.request.post_data or ""):
            await route.fulfill(status=500, content_type="application/json", body=FAILED)
        else:
            await route.continue_()

    await open_thread(screen, "Second")
    await screen.page.route("**/graphql", fail)
    await screen.fill(FIELD, "Trouble")
    await screen.page.keyboard.press("Control+Enter")
    await screen.page.get_by_role("log").get_by_text("Not confirmed").wait_for()
    await screen.page.get_by_role("link", name="First").click()
    await screen.heading(OTHER_SHOWN).wait_for()
    await screen.fill(f"Text to {OTHER_SHOWN}", "We are open.")
    await screen.page.keyboard.press("Control+Enter")
    await until(lambda: has_sent(scene, 1))
    await screen.page.get_by_role("link", name=SHOWN).click()
    await screen.press("Discard it")
    await expect(screen.page.get_by_text("Not confirmed")).to_have_count(0)

    assert await sent(scene) == ["We are open."]
