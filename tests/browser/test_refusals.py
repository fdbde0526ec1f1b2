"""Acts that the service refuses: each says so, also where its page is not shown any more."""

from collections.abc import Awaitable, Callable

import orjson
import pytest
from playwright.async_api import Page, Route

from app.domain.onboarding.service import Opened
from app.domain.segments import service as segments
from tests.browser.screen import Screen, Windows
from tests.browser.test_inbox_team import open_thread
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

REFUSED = orjson.dumps({"errors": [{"message": "Not this time.", "extensions": {"code": "conflict"}}]})


async def refuse(page: Page, operation: str) -> None:
    """Have an operation refused."""

    async def answer(route: Route) -> None:
        if orjson.loads(route.request.post_data or "{}").get("operationName") == operation:
            await route.fulfill(content_type="application/json", body=REFUSED)
        else:
            await route.continue_()

    await page.route("**/graphql", answer)


async def told(screen: Screen) -> None:
    """Wait until the refusal is shown."""
    await screen.page.get_by_role("alert").get_by_text("Not this time.").wait_for()


async def snooze(screen: Screen) -> None:
    """Put the open conversation off."""
    await screen.press("Snooze")
    await screen.page.get_by_role("menuitem", name="In 3 hours").click()


async def leave_unread(screen: Screen) -> None:
    """Mark the open conversation as unread, by its key."""
    await screen.page.keyboard.press("u")


@pytest.mark.parametrize(
    ("operation", "act"), [("InboxSnooze", snooze), ("InboxMarkUnread", leave_unread)], ids=["snooze", "unread"]
)
async def test_a_refused_change_of_a_conversation_says_so(
    windows: Windows, scene: Scene, account: Opened, operation: str, act: Callable[[Screen], Awaitable[None]]
):
    await scene.receive("Hello?")
    screen = await windows.owner(account)
    await open_thread(screen, "Hello?")
    await refuse(screen.page, operation)
    await act(screen)
    await told(screen)

    assert await CONVERSATIONS.only(scene.services, "status") == "open"


async def test_a_refused_undo_says_so_on_another_page(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Hello?")
    screen = await windows.owner(account)
    await open_thread(screen, "Hello?")
    await screen.keep_toasts()
    await screen.press("Close")
    await screen.sees("Closed: ")
    await screen.go("/contacts")
    await refuse(screen.page, "InboxSetStatus")
    await screen.press("Undo")
    await told(screen)

    assert await CONVERSATIONS.only(scene.services, "status") == "closed"


async def test_a_refused_page_of_consent_says_so(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Hello?")
    id = await CONTACTS.only(scene.services, "id")
    screen = await windows.owner(account)
    await screen.open(f"/contacts/{id}")
    await refuse(screen.page, "ContactsEvidence")
    await screen.press("Page to print")
    await told(screen)


async def test_a_part_that_was_refused_while_its_page_was_loaded_is_loaded_on_request(
    windows: Windows, scene: Scene, account: Opened
):
    await scene.receive("Hello?")
    async with scene.unit() as unit:
        segment = await segments.create(unit, "VIPs", {"field": "tags", "op": "has_none", "value": ["vip"]})
    contact_id = await CONTACTS.only(scene.services, "id")
    screen = await windows.owner(account)
    await screen.open("/settings/profile")
    for path, operation, loaded in (
        (f"/contacts/{contact_id}", "ContactExplained", "Passed:"),
        (f"/segments/{segment.id}", "SegmentPreviewed", "1 can be texted"),
    ):
        await refuse(screen.page, operation)
        await screen.go(path)
        await told(screen)
        await screen.page.unroute("**/graphql")
        await screen.press("Try again")
        await screen.sees(loaded)
