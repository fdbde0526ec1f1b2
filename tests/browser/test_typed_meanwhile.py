"""Text that is typed while an answer is under way stays, and a key that is pressed twice acts once."""

from collections.abc import Awaitable, Callable

import anyio
import pytest
from playwright.async_api import Page, Route, expect

from app.domain.integrations import service as integrations
from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.browser.test_inbox_team import FIELD, open_thread
from tests.factories.agents import FAQ, KNOWLEDGE, add_agent
from tests.factories.conversations import CONVERSATION_ENTRIES
from tests.factories.messages import MESSAGES
from tests.graphql.live import Scene
from tests.waiting import within

pytestmark = pytest.mark.anyio

QUESTION = "When are you open?"


async def meanwhile(
    page: Page, operation: str, act: Callable[[], Awaitable[None]], type_more: Callable[[], Awaitable[None]]
) -> int:
    """Type while the answer to a mutation is held; return the number of its requests."""
    begun, permitted, bodies = anyio.Event(), anyio.Event(), list[str]()

    async def hold(route: Route) -> None:
        if f"mutation {operation}" in (body := route.request.post_data or ""):
            bodies.append(body)
            begun.set()
            await within("the typing", permitted.wait())
        await route.continue_()

    await page.route("**/graphql", hold)
    async with page.expect_response(lambda answer: f"mutation {operation}" in (answer.request.post_data or "")):
        await act()
        await within("the request", begun.wait())
        await type_more()
        permitted.set()
    await page.unroute("**/graphql", hold)
    return len(bodies)


async def test_a_reply_that_is_typed_while_one_is_suggested_or_put_off_stays(
    windows: Windows, scene: Scene, account: Opened
):
    async with scene.unit() as unit:
        await add_agent(unit, {"mode": "approve"})
    await scene.receive(QUESTION)
    screen = await windows.owner(account)
    field = screen.page.get_by_label(FIELD)
    await open_thread(screen, QUESTION)

    await meanwhile(screen.page, "InboxSuggestReply", lambda: screen.press("Suggest"), lambda: field.fill("Hello! "))
    await expect(field).to_have_value(f"Hello! {FAQ[QUESTION]}")

    async def send_later() -> None:
        await screen.press("Send later")
        await screen.page.get_by_role("menuitem", name="Tomorrow at 9").click()

    await field.fill("We open at 8.")
    await meanwhile(screen.page, "InboxReplyLater", send_later, lambda: field.fill("We open at 8. Or at 9."))
    await screen.sees("Leaves")
    await expect(field).to_have_value("We open at 8. Or at 9.")
    assert await MESSAGES.where(direction="outbound").read(scene.services, "body") == ["We open at 8."]


async def test_a_note_is_kept_like_a_reply_and_added_once(windows: Windows, scene: Scene, account: Opened):
    await scene.receive(QUESTION)
    screen = await windows.owner(account)
    page = screen.page
    note = page.get_by_label("Internal note").and_(page.get_by_role("textbox"))
    await open_thread(screen, QUESTION)

    async def hold_keys() -> None:
        await page.keyboard.down("Control")
        for _ in range(3):
            await page.keyboard.down("Enter")
        await page.keyboard.up("Enter")
        await page.keyboard.up("Control")

    await page.keyboard.press("n")
    await note.fill("No nuts.")
    count = await meanwhile(page, "InboxAddNote", hold_keys, lambda: note.fill("No nuts. No milk."))
    await page.get_by_role("note", name="Internal note").wait_for()
    await expect(note).to_have_value("No nuts. No milk.")
    await page.get_by_text("Reply", exact=True).click()
    await page.get_by_label(FIELD).wait_for()
    await screen.go("/inbox/open")
    await page.get_by_role("link", name=QUESTION).click()
    await page.get_by_label(FIELD).wait_for()
    await page.keyboard.press("n")
    await expect(note).to_have_value("No nuts. No milk.")
    assert count == 1
    assert await CONVERSATION_ENTRIES.where(kind="note").read(scene.services, "body") == ["No nuts."]


async def test_texts_typed_while_an_agent_answers_learns_or_is_saved_stay(
    windows: Windows, scene: Scene, account: Opened
):
    async with scene.unit() as unit:
        id = await add_agent(unit, {"mode": "approve"})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/agents/{id}")
    chat = page.get_by_label("Text of a contact")

    async def ask_twice() -> None:
        for _ in range(2):
            await chat.press("Enter")

    await chat.fill(QUESTION)
    count = await meanwhile(page, "AgentsTry", ask_twice, lambda: chat.fill(" "))
    await page.get_by_role("log", name="Test chat").get_by_text(FAQ[QUESTION]).wait_for()
    await chat.press("Enter")
    await expect(chat).to_have_value(" ")
    await expect(page.get_by_role("button", name="Ask")).not_to_have_attribute("data-loading", "true")
    assert count == 1

    await screen.go(f"/agents/{id}?tab=knowledge")
    await screen.fill("Question", "Where are you?")
    await screen.fill("Answer", "In Main Street.")
    add = "Add the question"
    await meanwhile(page, "AgentsTeach", lambda: screen.press(add), lambda: screen.fill("Question", "Who?"))
    await expect(page.get_by_label("Answer", exact=True)).to_have_value("")
    await expect(page.get_by_label("Question", exact=True)).to_have_value("Who?")
    assert await KNOWLEDGE.where(title="Where are you?").read(scene.services, "body") == ["In Main Street."]

    await screen.go(f"/agents/{id}?tab=settings")
    await screen.fill("Goals", "Book a visit.")
    told = page.get_by_role("region", name="Instructions")
    save = told.get_by_role("button", name="Save", exact=True)
    await meanwhile(page, "AgentsUpdate", save.click, lambda: screen.fill("Persona", "Robin"))
    await expect(save).to_be_enabled()
    await expect(page.get_by_label("Persona", exact=True)).to_have_value("Robin")


async def test_the_wording_of_a_booking_text_that_is_changed_while_it_is_saved_stays(
    windows: Windows, scene: Scene, account: Opened
):
    async with scene.unit("contacts:write", "messages:send") as unit:
        tool = await integrations.add(unit, scene.services.intake.ports, "calcom", "the secret", {"name": "Visits"})
    screen = await windows.owner(account)
    await screen.open(f"/settings/integrations/{tool.id}")
    wording = screen.page.get_by_label("Reminder, an hour before")
    await wording.fill("Soon.")
    save = "Save the texts"
    await meanwhile(
        screen.page, "IntegrationsUpdate(", lambda: screen.press(save), lambda: wording.fill("See you soon.")
    )
    await expect(screen.page.get_by_role("button", name=save)).not_to_have_attribute("data-loading", "true")
    await expect(wording).to_have_value("See you soon.")
    await expect(screen.page.get_by_role("status").get_by_text("Saved")).to_have_count(0)
    await screen.page.get_by_role("link", name="Home").click()
    await screen.page.get_by_role("dialog", name="Leave without saving?").wait_for()
