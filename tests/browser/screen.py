"""The dashboard in Chromium: a person who signs in, opens pages and uses them."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Locator, Page

from app.domain.onboarding.service import Opened

WIDE, NARROW = 1280, 390
HEIGHT = 844
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
PATIENCE_MS = 20_000


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

    async def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text is shown."""
        await self.page.get_by_text(text).first.wait_for()

    async def check(self, folder: Path | None = None, name: str = "") -> None:
        """Assert in both themes that axe finds nothing, nothing overflows and nothing was complained of.

        In the folder, save a picture of each theme.
        """
        for theme in ("light", "dark"):
            await self.page.emulate_media(color_scheme=theme)
            await self.page.wait_for_function(
                "theme => document.documentElement.dataset.mantineColorScheme === theme", arg=theme
            )
            if folder:
                await self.page.screenshot(path=folder / f"{name}-{theme}.png")
            found = await self._violations()
            assert not found, "\n".join(map(str, found))
        assert await self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not self.complaints, self.complaints

    async def _violations(self) -> list[Any]:
        await self.page.evaluate(self.axe)
        found = await self.page.evaluate("rules => axe.run(document, rules)", AXE_RULES)
        return [
            (each["id"], node["html"][:160], node.get("failureSummary", "")[:200])
            for each in found["violations"]
            for node in each["nodes"]
        ]


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
        """Sign a person in, in a window of their own."""
        screen = await self.stranger(width)
        await screen.page.goto(f"{self.base}/login")
        await screen.fill("E-mail address", email)
        await screen.fill("Password", password)
        await screen.press("Sign in")
        await screen.heading().wait_for()
        return screen

    async def owner(self, account: Opened, width: int = WIDE) -> Screen:
        """Sign the owner of an account in."""
        return await self.sign_in(account.email, account.password, width)


def _note(screen: Screen, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        screen.complaints.append(text)
