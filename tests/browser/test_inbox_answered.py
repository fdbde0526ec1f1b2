"""The question before a second answer: a colleague answered while a text was a draft, or waited in the browser."""

import pytest
from playwright.async_api import Locator, expect

from app.domain.conversations import service as conversations
from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, QUIET, Screen, Windows
from tests.browser.test_inbox import cut_replies
from tests.browser.test_inbox_order import has_sent, sent
from tests.browser.test_inbox_team import BEN, FIELD, add_colleague, open_thread
from tests.factories.conversations import CONVERSATIONS
from tests.graphql.live import Scene
from tests.waiting import until

pytestmark = pytest.mark.anyio

QUESTION, MINE, OTHERS = "Do you bake bread?", "Yes, every day.", "Only on Friday."
ASKED = "Ben Ray has answered since you began"


async def open_both(windows: Windows, scene: Scene, account: Opened) -> tuple[Screen, Screen]:
    """Open the only conversation for the owner, Ann, and for her colleague, Ben."""
    await add_colleague(scene, account)
    await scene.receive(QUESTION)
    ann, ben = await windows.owner(account), await windows.sign_in(BEN, account.password, NARROW)
    await open_thread(ann, QUESTION)
    await open_thread(ben, QUESTION)
    return ann, ben


async def answer(ben: Screen, scene: Scene) -> None:
    """Answer the conversation as Ben."""
    await ben.fill(FIELD, OTHERS)
    await ben.press("Send")
    await until(lambda: has_sent(scene, 1))
    await scene.dispatch()


def log_of(screen: Screen) -> Locator:
    """Find the messages of the shown conversation."""
    return screen.page.get_by_role("log")


async def test_a_draft_that_was_left_is_sent_only_after_a_question_if_a_colleague_answered_meanwhile(
    windows: Windows, scene: Scene, account: Opened
):
    ann, ben = await open_both(windows, scene, account)
    await ann.fill(FIELD, "Yes, every")
    await ann.go("/contacts")
    await answer(ben, scene)
    await open_thread(ann, OTHERS)
    await log_of(ann).get_by_text(OTHERS).wait_for()
    field = ann.page.get_by_label(FIELD)
    await expect(field).to_have_value("Yes, every")
    await field.press("End")
    await field.press_sequentially(" day.")
    await field.press("Control+Enter")
    await ann.page.get_by_role("alert").get_by_text(ASKED).wait_for()
    sent_before = await sent(scene)
    await field.press("Control+Enter")
    await until(lambda: has_sent(scene, 2))

    assert sent_before == [OTHERS]
    assert await sent(scene) == [OTHERS, MINE]


async def test_a_text_that_waited_for_a_connection_is_not_sent_after_the_answer_of_a_colleague_without_a_question(
    windows: Windows, scene: Scene, account: Opened
):
    ann, ben = await open_both(windows, scene, account)
    await ann.page.route("**/graphql", cut_replies)
    for text in (MINE, "And cakes."):
        await ann.fill(FIELD, text)
        await ann.page.keyboard.press("Control+Enter")
    await log_of(ann).get_by_text("Not confirmed").wait_for()
    await answer(ben, scene)
    await ann.page.unroute("**/graphql")

    first, second = (log_of(ann).get_by_role("alert").filter(has_text=ASKED).nth(place) for place in range(2))
    await first.wait_for()
    await second.wait_for()
    sent_before = await sent(scene)
    ann.complaints.clear()  # of the connections that the test ended
    await ann.check()
    await ann.page.get_by_role("button", name="Send it too").first.click()
    await until(lambda: has_sent(scene, 2))
    await ann.press("Edit it")
    await expect(ann.page.get_by_label(FIELD)).to_have_value("And cakes.")

    assert sent_before == [OTHERS]
    assert await sent(scene) == [OTHERS, MINE]


async def test_own_texts_and_an_assignment_need_no_question(windows: Windows, scene: Scene, account: Opened):
    ben_id = await add_colleague(scene, account)
    await scene.receive(QUESTION)
    id = await CONVERSATIONS.only(scene.services, "id")
    ann = await windows.owner(account)
    await open_thread(ann, QUESTION)
    await ann.page.route("**/graphql", cut_replies)
    for text in (MINE, "And cakes."):
        await ann.fill(FIELD, text)
        await ann.page.keyboard.press("Control+Enter")
    await log_of(ann).get_by_text("Not confirmed").wait_for()
    async with scene.unit() as unit:
        await conversations.assign(unit, id, ben_id)
    await ann.page.unroute("**/graphql")
    await until(lambda: has_sent(scene, 2))
    await ann.page.wait_for_function("() => Object.values(localStorage).every(text => !text.includes('cakes'))")
    await ann.page.evaluate(QUIET)

    assert await sent(scene) == [MINE, "And cakes."]
    await expect(log_of(ann).get_by_role("alert")).to_have_count(0)
