"""Answers that tell the state before a change, and arrive after its update."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from operator import itemgetter

import anyio
import orjson
import pytest
from playwright.async_api import Page, Route, WebSocket, WebSocketRoute, expect

from app.domain.conversations import notes
from app.domain.onboarding.service import Opened
from tests.browser.screen import Role, Screen, Windows
from tests.factories.conversations import CONVERSATIONS
from tests.graphql.live import Scene
from tests.waiting import until, within

pytestmark = pytest.mark.anyio

CASES: list[tuple[str, str, str, Role, str]] = [
    ("/", "NoticesUnread", "NoticeUpdate", "button", "Notices, 1 unread"),
    ("/", "HomeConversations", "NewMessageUpdate", "link", "Unread 1 with new texts"),
    ("/inbox/open", "Inbox", "NewMessageUpdate", "link", "Do you deliver?"),
    ("/inbox/open", "InboxCounts", "NewMessageUpdate", "link", "Unread 1"),
]
"""Pages, their queries, the updates that change the answers, and the elements that show the change."""


SHORT_WAITS = """() => {
  const set = window.setTimeout;
  window.setTimeout = (act, pause, ...rest) => set(act, pause >= 8000 ? pause / 10 : pause, ...rest);
}"""
"""Shortens the long waits of the page, such as that for an answer to a ping."""


@dataclass
class Line:
    """The way from the browser to the service: while it is dead, nothing arrives, and neither side is told."""

    is_dead: bool = False
    attempts: int = 0

    def join(self, browser: WebSocketRoute) -> None:
        """Connect the browser with the service."""
        self.attempts += 1
        if self.is_dead:
            return
        service = browser.connect_to_server()
        browser.on_message(lambda message: None if self.is_dead else service.send(message))
        service.on_message(lambda message: None if self.is_dead else browser.send(message))


async def hold_first(page: Page, query: str, held: anyio.Event, permitted: anyio.Event) -> None:
    """Hold the answer to the first request with a query."""

    async def hold(route: Route) -> None:
        operation = orjson.loads(route.request.post_data or "{}").get("operationName")
        if operation == query and not held.is_set():
            answer = await route.fetch()
            held.set()
            await within("the update", permitted.wait())
            await route.fulfill(response=answer)
        else:
            await route.continue_()

    await page.route("**/graphql", hold)


def note(page: Page, update: str, arrived: anyio.Event) -> None:
    """Set an event when an update of a kind arrives."""

    def look(frame: str | bytes) -> None:
        if f'"{update}"' in str(frame):
            arrived.set()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", look)

    page.on("websocket", listen)


async def open_page(screen: Screen, path: str, query: str, update: str, change: Callable[[], Awaitable[None]]) -> None:
    """Open a page, change something, and let the first answer to a query arrive after the update about that."""
    held, permitted, arrived = anyio.Event(), anyio.Event(), anyio.Event()
    note(screen.page, update, arrived)
    await hold_first(screen.page, query, held, permitted)
    await screen.page.goto(f"{screen.base}/app{path}")
    await within("the answer", held.wait())
    await change()
    await within("the update", arrived.wait())
    permitted.set()


@pytest.mark.parametrize("case", CASES, ids=itemgetter(1))
async def test_an_answer_that_is_older_than_an_update_does_not_hide_the_change(
    windows: Windows, scene: Scene, account: Opened, case: tuple[str, str, str, Role, str]
):
    path, query, update, role, name = case
    screen = await windows.owner(account)

    async def receive() -> None:
        await scene.receive("Do you deliver?")
        await scene.dispatch()

    await open_page(screen, path, query, update, receive)

    await screen.page.get_by_role(role, name=name).wait_for()


async def test_an_answer_that_is_older_than_a_note_does_not_hide_it(windows: Windows, scene: Scene, account: Opened):
    await scene.receive("Do you deliver?")
    id = await CONVERSATIONS.only(scene.services, "id")
    screen = await windows.owner(account)

    async def add_note() -> None:
        async with scene.unit() as unit:
            await notes.add(unit, id, "An old friend")
        await scene.dispatch()

    await open_page(screen, f"/inbox/open/{id}", "InboxEntries", "NoteUpdate", add_note)

    await screen.page.get_by_role("note", name="Internal note").get_by_text("An old friend").wait_for()


async def test_a_connection_that_ends_without_a_sign_is_noticed_and_made_again(
    windows: Windows, scene: Scene, account: Opened
):
    screen = await windows.owner(account)
    await screen.begin_with(f"({SHORT_WAITS})()")
    line = Line()
    await screen.page.route_web_socket("**/graphql", line.join)
    await screen.open("/inbox")
    await scene.receive("Do you deliver?")
    await screen.page.get_by_role("link", name="Do you deliver?").wait_for()
    line.is_dead = True
    await scene.receive("Hello?")
    await screen.sees("The connection is lost.")
    attempts = line.attempts
    await until(lambda: line.attempts > attempts)
    await screen.sees("The connection is lost.")
    line.is_dead = False
    await screen.page.get_by_role("link", name="Hello?").wait_for()

    await expect(screen.page.get_by_text("The connection is lost.")).to_have_count(0)
