"""Lists that are loaded again, or change, after more than their first page was loaded."""

import pytest
from playwright.async_api import expect

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import service as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.conversations.service import Reading
from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.factories.conversations import CONVERSATIONS
from tests.factories.webhooks import WEBHOOK_DELIVERIES, add_delivery, add_subscription
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

SCROLLED_TO = """text => {
  const list = document.querySelector('[class*=rows]');
  list.scrollTop = list.scrollHeight;
  return list.textContent.includes(text);
}"""
"""Scrolls to the end of the list, until a text is shown there."""


async def test_a_list_that_is_loaded_again_keeps_its_later_pages_and_shows_their_changes(
    windows: Windows, scene: Scene, account: Opened
):
    webhook = await add_subscription(scene.services, account.account_id, kind="endpoint")
    facts = {"event": "message.inbound", "status": "failed", "attempts": 11}
    oldest = await add_delivery(scene.services, account.account_id, webhook, **facts)
    for _ in range(34):
        await add_delivery(scene.services, account.account_id, webhook, **facts)
    await add_delivery(scene.services, account.account_id, webhook, **facts | {"status": "pending"})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/settings/keys/webhooks/{webhook}")
    await screen.press("Earlier deliveries")
    await page.get_by_label(f"Choose delivery {oldest}", exact=True).wait_for()

    await WEBHOOK_DELIVERIES.where(id=oldest).change(scene.services, status="skipped")
    await page.get_by_role("button", name="Skipped message.inbound").wait_for()
    await expect(page.get_by_label("Choose delivery")).to_have_count(36)


async def test_a_conversation_far_down_the_inbox_is_shown_as_it_is_and_leaves_when_it_is_closed(
    windows: Windows, scene: Scene, account: Opened
):
    for number in range(45):
        inbound = InboundMessage(f"in-{number}", f"+1202555{1000 + number}", account.phone_number, f"Text {number}.")
        await scene.services.inbox.receive("sandbox", inbound)
    await scene.dispatch()
    oldest, next_to_it = (await CONVERSATIONS.read(scene.services, "id"))[:2]
    screen = await windows.owner(account)
    await screen.open("/inbox")
    listed = screen.page.get_by_role("region", name="Conversations")
    await listed.get_by_role("link", name="Text 44.").wait_for()
    await screen.page.wait_for_function(SCROLLED_TO, arg="Text 0.")
    first, second = [listed.get_by_role("link", name=f"Text {number}.") for number in range(2)]
    await expect(second.get_by_role("img", name="1 unread")).to_have_count(1)

    async with scene.unit() as unit:
        await conversations.update(unit, next_to_it, {}, Reading(read_up_to=2**62, unread_count=0))
        await conversations.update(unit, oldest, {"status": ConversationStatus.closed})
    await scene.dispatch()

    await expect(first).to_have_count(0)
    await second.wait_for()
    await expect(second.get_by_role("img")).to_have_count(0)
