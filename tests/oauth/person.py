"""A person who signs in on the pages of a service."""

from dataclasses import dataclass

import httpx2

from app.domain.onboarding.service import Opened
from tests.oauth.browsing import Browsing, Forms


@dataclass(frozen=True)
class Person:
    """A user who opens an application's authorization URL, signs in, and allows it."""

    account: Opened

    async def allow(self, url: str) -> str:
        """Return the redirect address."""
        async with httpx2.AsyncClient(base_url=url.split("/automation", 1)[0]) as client:
            page = await client.get(url)
            assert page.status_code == 200, page.text
            [form] = Forms(page.text, url).found
            answer = await Browsing(client).send(
                form, email=self.account.email, password=self.account.password, decision="allow"
            )
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]
