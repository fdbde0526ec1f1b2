"""The dashboard in Chromium: the work of its main thread while long lists scroll, and when the page changes.

The browser's own trace is read: the tasks of the page's main thread are scripting, style, layout and paint, and a frame
ends when its layers are made. The thread's CPU time is counted, to which other work of the machine adds nothing. Pages
are changed with warm data: each was opened before.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

import asyncpg
import orjson
from playwright.async_api import Browser, Page, async_playwright

from app.cli.setup import create_demo
from app.settings import Settings
from benchmarks import contacts, harness
from benchmarks.accounts import CREDITS
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage
from tests.browser.chromium import build_dashboard, install_packages, launch

CONTACTS, CONVERSATIONS = 1_000_000, 10_000
FRAMES = 240
FRAME_MS, TASK_MS, CHANGE_MS = 8.0, 50.0, 100.0
PAGES = ("Inbox", "Contacts", "Campaigns", "Home")
SETTLED_MS = 1_500
WITHIN = Bar(1, is_most=True)

ADD_CONVERSATIONS = """
WITH person AS (
  SELECT id, phone, row_number() OVER (ORDER BY id) AS n FROM contacts WHERE account_id = $1 ORDER BY id LIMIT $2
), thread AS (
  INSERT INTO conversations (account_id, contact_id, last_message_at)
  SELECT $1, id, now() - n * interval '1 minute' FROM person RETURNING id, contact_id, last_message_at
)
INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
  segments, encoding, credits, cost, carrier, actor, created_at)
SELECT $1, person.id, thread.id, 'inbound', phone, '+15002000001', 'Is the table by the window free at ' || n || '?',
  'received', 1, 'GSM-7', 0, 0, 'sandbox', 'benchmark', thread.last_message_at
FROM thread JOIN person ON person.id = thread.contact_id
"""

SCROLL = """
async ([selector, frames]) => {
  const box = [...document.querySelectorAll(selector)].find(each => each.scrollHeight > each.clientHeight);
  const frame = () => new Promise(requestAnimationFrame);
  for (let n = 0; n < frames; n += 1) { box.scrollTop += 90; await frame(); }
  return box.scrollTop;
}
"""
LISTS = {
    f"inbox of {CONVERSATIONS:,}": ("/inbox/open", "section[aria-label=Conversations] div"),
    f"contacts of {CONTACTS:,}": ("/contacts", "[role=grid]"),
}
"""The address of each list, and the selector of the element that scrolls."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a page's main thread, in milliseconds: of each frame that had any, and of its longest task."""

    frames: Sequence[float]
    longest: float

    @property
    def total(self) -> float:
        """Return the work of all frames."""
        return sum(self.frames)

    @property
    def p95(self) -> float:
        """Return the work that 95 % of the frames do not exceed."""
        return quantiles(self.frames, n=20)[-1]


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Scroll both lists, and go through the pages twice, in each round."""
    build_dashboard()
    install_packages()
    async with on.database("dashboard") as settings:
        owner = await create_demo(settings, "Blue Door", "owner@example.com", CREDITS, "http://127.0.0.1/callback")
        await contacts.fill(settings, {owner.account_id: CONTACTS})
        await _add_conversations(settings, owner.account_id)
        with harness.product(settings) as product:
            async with async_playwright() as playwright:
                browser = await launch(playwright)
                page = await sign_in(browser, product.port, owner.email, owner.password)
                scrolled = {
                    name: [await _scroll(browser, page, *each) for _ in range(rounds)] for name, each in LISTS.items()
                }
                changed = [await _change_pages(browser, page) for _ in range(rounds + 1)][1:]
    return [*(each for name, works in scrolled.items() for each in _scrolling(name, works)), *_changes(changed)]


def _scrolling(name: str, works: Sequence[Work]) -> list[Comparison]:
    return [
        _within(f"dashboard, {name} scrolls: a frame's work", "p95", [work.p95 for work in works], FRAME_MS),
        _within(f"dashboard, {name} scrolls: longest task", "longest", [work.longest for work in works], TASK_MS),
    ]


def _changes(rounds: Sequence[dict[str, Work]]) -> list[Comparison]:
    return [
        _within(f"dashboard, {name} opens with warm data", "work", [each[name].total for each in rounds], CHANGE_MS)
        for name in PAGES
    ]


def _within(title: str, name: str, values: Sequence[float], limit: float) -> Comparison:
    return Comparison(title, "ms", Series(name, values), Series("budget", [limit] * len(values)), WITHIN)


async def _add_conversations(settings: Settings, account_id: int) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(ADD_CONVERSATIONS, account_id, CONVERSATIONS)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


async def sign_in(browser: Browser, port: int, email: str, password: str) -> Page:
    """Sign a person in, in a new window."""
    page = await browser.new_page(viewport={"width": 1280, "height": 844}, base_url=f"http://127.0.0.1:{port}")
    await page.goto("/login")
    await page.get_by_label("E-mail address", exact=True).fill(email)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.locator("h1").wait_for()
    return page


async def _scroll(browser: Browser, page: Page, path: str, selector: str) -> Work:
    """Open a list, and scroll it through as many frames; return the work that this took."""
    await page.goto(f"/app{path}")
    await page.locator("h1").first.wait_for()
    await page.wait_for_timeout(SETTLED_MS)
    await browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    reached = await page.evaluate(SCROLL, [selector, FRAMES])
    work = _read(await browser.stop_tracing())
    assert reached > FRAMES * 45, f"{path} stopped at {reached} px: its rows were not loaded while it scrolled"
    return work


async def _change_pages(browser: Browser, page: Page) -> dict[str, Work]:
    """Open one page after the other by the navigation; return the work of each."""
    found: dict[str, Work] = {}
    for name in PAGES:
        link = page.get_by_role("navigation").first.get_by_role("link", name=name, exact=True)
        await browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
        await link.click()
        await page.get_by_role("heading", level=1, name=name).wait_for()
        await page.wait_for_timeout(SETTLED_MS)
        found[name] = _read(await browser.stop_tracing())
    return found


def _read(trace: bytes) -> Work:
    """Read the tasks of the page's main thread from a trace, and assign each to the frame in which it began."""
    events = orjson.loads(trace)["traceEvents"]
    [thread] = {(each["pid"], each["tid"]) for each in events if each["args"].get("name") == "CrRendererMain"}
    own = [each for each in events if (each["pid"], each["tid"]) == thread and "ts" in each]
    ends = sorted(each["ts"] for each in own if each["name"] == "Layerize")
    tasks = [
        (each["ts"], each["tdur"] / 1_000) for each in own if each["name"].endswith("::RunTask") and "tdur" in each
    ]
    frames: Counter[int] = Counter()
    for begun, taken in tasks:
        frames[bisect_right(ends, begun)] += taken
    return Work(list(frames.values()), max(taken for _, taken in tasks))
