"""A test browser: keeps cookies, reads the forms of pages, and submits them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx2

from app.domain.onboarding.service import Opened

OURS = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
"""Chromium's headers for a form of our pages, whose origin is `null` because they send no referrer."""


@dataclass
class Form:
    """A form of a page, with its prefilled fields."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._url = url
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", self._url)))
        elif given.get("type") == "checkbox" and "checked" not in given:
            return
        elif tag == "input" and self.found and "value" in given:
            self.found[-1].fields[given["name"]] = given["value"]


@dataclass
class Browsing:
    """A browser with its cookies."""

    client: httpx2.AsyncClient

    async def get(self, path: str) -> httpx2.Response:
        """Load a page."""
        return await self.client.get(path)

    async def form(self, path: str, action: str = "") -> Form:
        """Load a page; return its form, or the one with the given action."""
        page = await self.get(path)
        forms = Forms(page.text, path).found
        assert forms, page.text
        return next(form for form in forms if form.action == (action or forms[0].action))

    async def send(self, form: Form, headers: dict[str, str] | None = None, **fields: str) -> httpx2.Response:
        """Fill in a form and send it."""
        given = OURS if headers is None else headers
        return await self.client.post(form.action, data={**form.fields, **fields}, headers=given)

    async def sign_in(self, email: str, password: str, path: str = "/login") -> httpx2.Response:
        """Sign in through the page."""
        return await self.send(await self.form(path), email=email, password=password)

    async def enter(self, account: Opened) -> None:
        """Sign in as the owner of an account."""
        answer = await self.sign_in(account.email, account.password)
        assert answer.status_code == 303, answer.text
