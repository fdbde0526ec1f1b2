"""The dashboard in Chromium: a person who signs in, opens pages and uses them."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, ViewportSize

from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in.authentication import Authentication
from app.domain.onboarding.service import Opened
from tests.e2e.processes import free_port, is_free

Role = Literal["button", "checkbox", "combobox", "link", "radio", "switch", "textbox"]
WIDE, NARROW = 1280, 390
HEIGHT = 844
WRITES_PICTURES = "MESSAGING_WRITE_PICTURES" in os.environ
AXE_RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],
}
AXE_COLOR_RULES = AXE_RULES | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""The rules whose result depends on colors; that of all others depends on the elements alone."""

PATIENCE_MS = 60_000
"""The timeout of each wait; busy machines are slow."""
FARTHEST = 80
"""The most presses of a key on the way to a control."""
VIOLATIONS = """
async ([isAgain, all, within, colors]) => {
  const elements = document.body.outerHTML;
  const isKnown = isAgain && elements === window.examined;
  window.examined = elements;
  const { violations } = await (isKnown ? axe.run(within, colors) : axe.run('html', all));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html.slice(0, 160), (failureSummary ?? '').slice(0, 200)]));
}
"""
"""Returns what axe found: of colors within an element where the last run saw the same elements, otherwise everything.

Its whole answer would take three times as long, for all that passes is in it.
"""

GO = "address => __TSR_ROUTER__.navigate({ href: address })"
QUIET = """async () => {
  const isLoading = () => document.querySelector('[aria-busy=true], [role=status][aria-label=Loading]');
  const frame = () => new Promise(requestAnimationFrame);
  for (let still = 0; still < 8; still = isLoading() ? 0 : still + 1) await frame();
}"""
"""Waits until nothing has been loading for some frames."""

KEEP_TOASTS = """() => {
  const set = window.setTimeout;
  window.setTimeout = (act, pause, ...rest) => pause >= 8000 ? 0 : set(act, pause, ...rest);
}"""
"""Lets no toast of this page end by itself; `ui/undo.tsx` shows one for eight seconds."""
VISITOR = Visitor("127.0.0.1", "Chromium")
NOWHERE = "/nowhere"
TIMERS = "new Promise(done => setTimeout(done, 0))"
"""Waits for the timers of what was done: that of an opened choice begins the arrows at the present value again."""


def shown(phone: str) -> str:
    """Return a phone of North America as the dashboard shows it."""
    return f"+1 {phone[2:5]}-{phone[5:8]}-{phone[8:]}"


@dataclass
class Screen:
    """A window of the browser, and what it complained of."""

    page: Page
    base: str
    axe: str = field(repr=False)
    complaints: list[str] = field(default_factory=list)
    is_altered: bool = False

    def listen(self) -> None:
        """Note what the window complains of from now on."""
        self.page.on("console", self._note)
        self.page.on("pageerror", self._note_error)

    def stop_listening(self) -> None:
        """Note no more complaints."""
        self.page.remove_listener("console", self._note)
        self.page.remove_listener("pageerror", self._note_error)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _note_error(self, error: Error) -> None:
        self.complaints.append(str(error))

    async def begin_with(self, script: str) -> None:
        """Run a script at the start of each page; no later test uses this window."""
        self.is_altered = True
        await self.page.add_init_script(script)

    async def open(self, path: str) -> None:
        """Open a page of the dashboard."""
        await self.page.goto(f"{self.base}/app{path}")
        await self.heading().wait_for()

    async def go(self, path: str) -> None:
        """Go to a page as a link of the dashboard does, without loading that again; wait until nothing is loading."""
        await self.page.evaluate(GO, path)
        await self.page.evaluate(QUIET)

    async def keep_toasts(self) -> None:
        """Keep the toasts of the page until they are closed or pressed, however slow the machine is."""
        await self.page.evaluate(KEEP_TOASTS)

    async def narrow(self, path: str) -> None:
        """Make the window as narrow as a phone, and come to a page from another one."""
        await self.page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        await self.page.evaluate(GO, NOWHERE)
        await self.heading("Not found").wait_for()
        await self.go(path)

    async def read(self, path: str) -> None:
        """Open a page for developers."""
        await self.page.goto(f"{self.base}{path}")
        await self.heading().wait_for()

    def heading(self, name: str | re.Pattern[str] | None = None) -> Locator:
        """Find the heading of the page."""
        return self.page.get_by_role("heading", level=1, name=name) if name else self.page.locator("h1")

    async def press(self, name: str | re.Pattern[str]) -> None:
        """Press the button with a name."""
        await self.page.get_by_role("button", name=name, exact=isinstance(name, str)).click()

    async def fill(self, label: str, value: str) -> None:
        """Fill in the field with a label."""
        await self.page.get_by_label(label, exact=True).fill(value)

    async def reach(self, role: Role, name: str, within: Locator | None = None) -> Locator:
        """Go by Tab to a control, within a part of the page, as a person without a pointer does; return it."""
        control = (within or self.page).get_by_role(role, name=name, exact=True).first
        await control.wait_for(state="attached")
        for _ in range(FARTHEST):
            if await control.evaluate("each => each === document.activeElement"):
                return control
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"{role} {name} is not reached by Tab")

    async def enter(self, name: str, role: Role = "button") -> None:
        """Go to a control by Tab, and press Enter on it."""
        await self.reach(role, name)
        await self.page.keyboard.press("Enter")

    async def type(self, label: str, text: str) -> None:
        """Go to a field by Tab, and type a text into it."""
        await self.reach("textbox", label)
        await self.page.keyboard.type(text)

    async def choose(self, label: str, option: str) -> None:
        """Go to a choice by Tab, and choose an option by the arrows."""
        await self.enter(label, "combobox")
        wanted = self.page.get_by_role("option", name=option, exact=True)
        await wanted.wait_for()
        await self.page.evaluate(TIMERS)
        for _ in range(FARTHEST):
            if await wanted.get_attribute("data-combobox-selected"):
                return await self.page.keyboard.press("Enter")
            await self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"{option} is not reached by the arrows")

    async def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text is shown."""
        await self.page.get_by_text(text).first.wait_for()

    async def check(self, folder: Path | None = None, name: str = "", within: str = "html") -> None:
        """Assert in both themes that axe finds nothing, nothing overflows and nothing was complained of.

        With `MESSAGING_WRITE_PICTURES` in the environment, save a picture of each theme in the folder. Colors are
        examined within an element, by default all of them.
        """
        await self._load_axe()
        for is_again, theme in enumerate(("light", "dark")):
            await self.page.emulate_media(color_scheme=theme)
            await self.page.wait_for_function(
                "theme => document.documentElement.dataset.mantineColorScheme === theme", arg=theme
            )
            if folder and WRITES_PICTURES:
                await self.page.screenshot(path=folder / f"{name}-{theme}.png")
            found = await self.page.evaluate(VIOLATIONS, [is_again, AXE_RULES, within, AXE_COLOR_RULES])
            assert not found, "\n".join(map(str, found))
        assert await self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not self.complaints, self.complaints

    async def _load_axe(self) -> None:
        """Define axe in the page; the browser compiles a script that it has seen before in half the time."""
        if not await self.page.evaluate("'axe' in window"):
            session = await self.page.context.new_cdp_session(self.page)
            loaded = await session.send("Runtime.evaluate", {"expression": self.axe})
            await session.detach()
            assert "exceptionDetails" not in loaded, loaded


@dataclass
class Shelf:
    """Windows of one browser that later tests use again: the dashboard is in their memory, loaded and compiled."""

    browser: Browser
    _free: list[Page] = field(default_factory=list)
    _port: int = field(default_factory=free_port)

    def port(self) -> int:
        """Return the port of the dashboard: that of the last test, because caches belong to it, unless it is taken."""
        if not is_free(self._port):
            self._port = free_port()
        return self._port

    async def take(self, width: int, is_new: bool) -> Page:
        """Return a window that knows nobody; a new one has loaded nothing yet either."""
        size: ViewportSize = {"width": width, "height": HEIGHT}
        if not is_new and self._free:
            page = self._free.pop()
            await page.set_viewport_size(size)
            return page
        context = await self.browser.new_context(
            viewport=size,
            locale="en-US",
            timezone_id="America/Chicago",
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        return await context.new_page()

    async def give_back(self, screen: "Screen") -> None:
        """Forget the person and all that a test did to the window; close one that cannot be as it was."""
        try:
            await self._clean(screen)
        except Error:
            await screen.page.context.close()
        else:
            self._free.append(screen.page)

    async def _clean(self, screen: "Screen") -> None:
        page, context = screen.page, screen.page.context
        if screen.is_altered or page.is_closed():
            raise Error("The window has a script of the test, or is closed.")
        for other in context.pages:
            if other is not page:
                await other.close()
        await page.unroute_all()
        await context.set_offline(False)
        await context.clear_permissions()
        await page.goto(f"{screen.base}/healthz")
        await page.evaluate("localStorage.clear(); sessionStorage.clear()")
        await context.clear_cookies()
        await page.mouse.move(-1, -1)
        await page.emulate_media(color_scheme="null")
        screen.stop_listening()


@dataclass
class Windows:
    """Opens windows of one browser, each of a person of their own."""

    shelf: Shelf
    base: str
    axe: str = field(repr=False)
    authentication: Authentication = field(repr=False)
    opened: list[Screen] = field(default_factory=list)

    async def stranger(self, width: int = WIDE, *, is_new: bool = False) -> Screen:
        """Open a window of a person who is not signed in."""
        screen = Screen(await self.shelf.take(width, is_new), self.base, self.axe)
        self.opened.append(screen)
        screen.listen()
        return screen

    async def close(self) -> None:
        """Close all windows."""
        for screen in self.opened:
            await self.shelf.give_back(screen)

    async def sign_in(self, email: str, password: str, width: int = WIDE, *, is_new: bool = False) -> Screen:
        """Sign a person in without the page, in a window of their own that shows no page of the dashboard yet."""
        screen = await self.stranger(width, is_new=is_new)
        _, token = await self.authentication.enter(email, password, VISITOR)
        await screen.page.context.add_cookies([{"name": "session", "value": token, "url": self.base, "httpOnly": True}])
        return screen

    async def owner(self, account: Opened, width: int = WIDE, *, is_new: bool = False) -> Screen:
        """Sign the owner of an account in; the window shows no page of the dashboard yet."""
        return await self.sign_in(account.email, account.password, width, is_new=is_new)
