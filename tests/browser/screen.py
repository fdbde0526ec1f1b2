"""The dashboard in Chromium: a person who signs in, opens pages and uses them."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, Locator, Page

from app.domain.onboarding.service import Opened
from tests.oauth.browsing import Forms

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

PATIENCE_MS = 20_000
FARTHEST = 80
"""The most presses of a key on the way to a control."""
VIOLATIONS = """
async ([within, rules]) => (await axe.run(within, rules)).violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary }) => [id, html.slice(0, 160), (failureSummary ?? '').slice(0, 200)]))
"""
"""Returns what axe found. Its whole answer would take three times as long, for all that passes is in it."""

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

    async def open(self, path: str) -> None:
        """Open a page of the dashboard."""
        await self.page.goto(f"{self.base}/app{path}")
        await self.heading().wait_for()

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
        examined = ""
        for theme in ("light", "dark"):
            await self.page.emulate_media(color_scheme=theme)
            await self.page.wait_for_function(
                "theme => document.documentElement.dataset.mantineColorScheme === theme", arg=theme
            )
            if folder and WRITES_PICTURES:
                await self.page.screenshot(path=folder / f"{name}-{theme}.png")
            elements = await self.page.evaluate("document.body.outerHTML")
            is_known = elements == examined
            found = await self._violations(within if is_known else "html", AXE_COLOR_RULES if is_known else AXE_RULES)
            assert not found, "\n".join(map(str, found))
            examined = elements
        assert await self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not self.complaints, self.complaints

    async def _violations(self, within: str, rules: dict[str, Any]) -> list[Any]:
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(self.axe)
        return await self.page.evaluate(VIOLATIONS, [within, rules])


@dataclass
class Windows:
    """Opens windows of one browser, each of a person of their own."""

    browser: Browser
    base: str
    axe: str = field(repr=False)
    opened: list[BrowserContext] = field(default_factory=list)

    async def stranger(self, width: int = WIDE) -> Screen:
        """Open a window of a person who is not signed in."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            locale="en-US",
            timezone_id="America/Chicago",
            reduced_motion="reduce",
        )
        self.opened.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        screen = Screen(page, self.base, self.axe)
        page.on("console", lambda message: _note(screen, message.type, message.text))
        page.on("pageerror", lambda error: screen.complaints.append(str(error)))
        return screen

    async def sign_in(self, email: str, password: str, width: int = WIDE) -> Screen:
        """Sign a person in without the form, in a window of their own that shows no page yet."""
        screen = await self.stranger(width)
        http, address = screen.page.request, f"{self.base}/login"
        [form] = Forms(await (await http.get(address)).text(), address).found
        fields: dict[str, str | float | bool] = {**form.fields, "email": email, "password": password}
        answer = await http.post(address, form=fields, max_redirects=0)
        assert answer.status == 303, await answer.text()
        return screen

    async def owner(self, account: Opened, width: int = WIDE) -> Screen:
        """Sign the owner of an account in; the window shows no page yet."""
        return await self.sign_in(account.email, account.password, width)


def _note(screen: Screen, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        screen.complaints.append(text)
