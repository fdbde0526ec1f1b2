"""The pages for developers: read without a sign-in, tried with a key or a session."""

import asyncio
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import TimeoutError as PlaywrightTimeout
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import NARROW, WIDE, Screen, Windows
from tests.factories.contacts import CONTACTS, add_contacts
from tests.graphql.live import Scene, Served
from tests.node import NODE
from tests.waiting import until

pytestmark = pytest.mark.anyio

PAGES = ("", "/rest", "/webhooks", "/tools")
RUNNERS: dict[str, list[str]] = {
    "curl": ["sh", "-c"],
    "Python": [sys.executable, "-c"],
    "JavaScript": [str(NODE), "--input-type=module", "-e"],
}
SECONDS = 30


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_the_pages_are_read_without_a_sign_in(windows: Windows, width: int, pictures: Path):
    screen = await windows.stranger(width, is_new=True)
    asked: set[str] = set()
    screen.page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    for path in PAGES:
        await screen.read(f"/docs{path}")
        await expect(screen.page.get_by_role("status", name="Loading")).to_have_count(0)
        await screen.check(pictures, f"docs{path.replace('/', '-')}-{width}")

    assert asked == {urlsplit(windows.base).netloc}


async def test_the_examples_of_the_reference_run_as_they_stand(
    windows: Windows, scene: Scene, served: Served, account: Opened
):
    screen = await windows.stranger()
    await screen.read("/docs/rest#create_contact")
    answers = []
    for language, runner in RUNNERS.items():
        await screen.page.get_by_role("radiogroup").get_by_text(language, exact=True).click()
        example = screen.page.get_by_label(f"POST /contacts in {language}", exact=True)
        text = (await example.text_content() or "").replace("http://127.0.0.1:8000", served.base_url)
        answers.append(await run([*runner, text], account.svc_key))
        await CONTACTS.where(phone="+12025550143").delete(scene.services)

    assert [re.search(r"\+12025550143", answer) is not None for answer in answers] == [True, True, True], answers


async def run(command: list[str], key: str) -> str:
    """Run an example with a key; return what it printed."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "KEY": key}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(SECONDS):
        output, _ = await process.communicate()
    return output.decode()


async def test_a_tool_is_found_by_its_words(windows: Windows):
    screen = await windows.stranger()
    await screen.read("/docs/tools")
    await screen.page.get_by_label("Search the tools").fill("to one phone now")

    await expect(screen.page.get_by_role("region", name="Send SMS", exact=True)).to_be_visible()
    await expect(screen.page.get_by_role("heading", level=2)).to_have_count(1)


async def test_an_operation_is_completed_run_and_explained_by_keyboard(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_contacts(scene.services, account.account_id, ["+12025550143"])
    screen = await windows.owner(account)
    answer = await screen.page.request.get(f"{screen.base}/docs/graphql")
    await screen.read("/docs/graphql")
    await type_over(screen, "{ contacts(first: 1) { nodes { pho")
    await screen.page.locator(".suggest-widget.visible .monaco-list-row.focused", has_text="phone").first.wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".graphiql-editor .view-lines").get_by_text("phone").first.wait_for()
    await screen.page.locator(".suggest-widget.visible").wait_for(state="hidden")
    response = screen.page.locator(".graphiql-response").get_by_text("+12025550143")

    async def is_answered() -> bool:
        """Run the operation; a second press of the keys would stop one that is not answered yet."""
        await screen.page.keyboard.press("Control+Enter")
        with suppress(PlaywrightTimeout):
            await response.wait_for(timeout=40_000)
        return await response.count() > 0

    await until(is_answered, 120)

    assert "script-src 'self';" in answer.headers["content-security-policy"]
    await screen.page.get_by_role("button", name="Show Documentation Explorer").click()
    await screen.sees("A GraphQL schema provides a root type for each kind of operation.")
    await screen.check(pictures, "docs-graphql")


async def test_the_explorer_is_read_without_a_sign_in_on_a_phone(windows: Windows, pictures: Path):
    screen = await windows.stranger(NARROW)
    await screen.read("/docs/graphql")
    await screen.page.get_by_role("button", name="Show Documentation Explorer").click()
    await screen.sees("A GraphQL schema provides a root type for each kind of operation.")

    await screen.check(pictures, "docs-graphql-narrow")


async def type_over(screen: Screen, text: str) -> None:
    """Replace the operation in the editor, once that closes the brackets that are typed."""
    await screen.page.locator(".graphiql-editor .monaco-editor textarea").first.focus()
    shown = screen.page.locator(".graphiql-editor .view-lines").first

    async def closes_brackets() -> bool:
        for key in ("Control+a", "Delete", "{"):
            await screen.page.keyboard.press(key)
        with suppress(AssertionError):
            await expect(shown).to_have_text("{}", timeout=1_000)
        return await shown.text_content() == "{}"

    assert text.startswith("{")
    await until(closes_brackets)
    await screen.page.keyboard.type(text[1:])
