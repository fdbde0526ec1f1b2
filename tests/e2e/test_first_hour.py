"""The first hour of a new owner, from the sign-in line to a webhook: docs/first-hour.md with its pictures.

`MESSAGING_WRITE_PICTURES=1` writes the pictures that the page shows.
"""

import os
import re
import shutil
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser.chromium import build_dashboard, install_packages, launch
from tests.browser.screen import WIDE, Screen, Shelf
from tests.e2e.conftest import Served
from tests.e2e.processes import await_ready, free_port, starting, until
from tests.node import BUILD
from tests.waiting import until as wait_until

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "first-hour.md"
PICTURES = PAGE.with_suffix("")
DAYTIME = {range(14, 24): "+1202555", range(10): "+1671555", range(10, 14): "+44790090"}
"""The beginning of phones in a place where promotional texts may be sent, by the hour of UTC."""


def begin_of_phones() -> str:
    """Return the beginning of phones that may be texted now: in Washington, on Guam, or in the United Kingdom."""
    hour = datetime.now(UTC).hour
    return next(begin for hours, begin in DAYTIME.items() if hour in hours)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `messaging serve` for the first time."""
    build_dashboard()
    folder = tmp_path_factory.mktemp("first-hour")
    with starting(folder) as start:
        port = free_port()
        served = Served(folder, port, start("serve", PORT=port, MESSAGING_DATA=folder / "data"), start)
        await_ready(served.url, served.process)
        served.welcome = until(lambda: served.process.output if "Paste the exports" in served.process.output else "")
        yield served


@pytest.fixture
async def browser() -> AsyncGenerator[Browser]:
    """Start Chromium."""
    install_packages()
    async with async_playwright() as playwright:
        yield await launch(playwright)


@pytest.fixture
def posted() -> Iterator[tuple[str, list[Any]]]:
    """Serve the address of a webhook; yield it, and the bodies that were posted."""
    bodies: list[Any] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(orjson.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = Thread(target=server.serve_forever, args=(0.1,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", bodies
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_new_owner_sends_imports_campaigns_and_connects_without_reading_a_document(
    first: Served, browser: Browser, posted: tuple[str, list[Any]], tmp_path: Path
):
    screen = await sign_in(first, browser)
    await screen.page.get_by_role("figure").first.wait_for()
    await keep(screen, "1-home")
    place = begin_of_phones()
    await send_first_text(screen, f"{place}0143")
    await keep(screen, "2-first-text")
    await import_contacts(screen, tmp_path, [f"{place}0181", f"{place}0182"])
    await keep(screen, "3-import")
    await preview_campaign(screen)
    await keep(screen, "4-campaign")
    credits = await send_campaign(screen)
    await keep(screen, "5-results")
    key = await make_key(screen)
    await keep(screen, "6-key")
    balance = first.ask("GET", "/billing/balance", key)
    await watch_webhook(screen, posted[0])
    await wait_until(lambda: posted[1])
    await keep(screen, "7-webhook")

    assert balance["data"]["balance"] == 1000 - credits // 2 - credits
    assert [sorted(each) for each in posted[1]] == [["data", "timestamp", "type"]]
    assert not screen.complaints, screen.complaints


def test_the_page_of_the_first_hour_shows_every_picture() -> None:
    shown = re.findall(r"\]\(first-hour/(.+?\.png)\)", PAGE.read_text())

    assert sorted(shown) == sorted(picture.name for picture in PICTURES.glob("*.png"))


async def keep(screen: Screen, name: str) -> None:
    """Save the picture of a step."""
    folder = BUILD / "pictures" / "first-hour"
    folder.mkdir(parents=True, exist_ok=True)
    await screen.page.screenshot(path=folder / f"{name}.png")
    if "MESSAGING_WRITE_PICTURES" in os.environ:
        PICTURES.mkdir(exist_ok=True)
        shutil.copy(folder / f"{name}.png", PICTURES)


async def sign_in(first: Served, browser: Browser) -> Screen:
    """Sign in with the line that the first start prints."""
    [address, email, password] = re.findall(r"^ *(?:sign in|owner|password) +(\S+)$", first.welcome, re.M)
    screen = Screen(await Shelf(browser).take(WIDE, is_new=True), first.url, "")
    screen.listen()
    await screen.page.goto(address)
    await screen.fill("E-mail address", email)
    await screen.fill("Password", password)
    await screen.press("Sign in")
    await screen.heading("Home").wait_for()
    await screen.sees("Set-up")
    return screen


async def send_first_text(screen: Screen, phone: str) -> None:
    """Send a text from the inbox, and see it delivered."""
    page = screen.page
    await page.get_by_role("link", name="Inbox", exact=True).click()
    await screen.press("New text")
    await screen.fill("Phone", phone)
    await page.get_by_role("textbox", name="Text", exact=True).fill("Your table is booked for 7 pm.")
    await page.get_by_label("This person agreed to be texted by us.").check()
    await screen.press("Send the text")
    await page.get_by_role("log").get_by_text("Delivered").wait_for()


async def import_contacts(screen: Screen, folder: Path, phones: list[str]) -> None:
    """Import two contacts from a file."""
    page = screen.page
    people = folder / "people.csv"
    people.write_text(f"Phone,First name,Tags\n{phones[0]},Ana,vip\n{phones[1]},Ben,vip\n")
    await page.get_by_role("link", name="Contacts", exact=True).click()
    await page.get_by_role("link", name="Import").click()
    async with page.expect_file_chooser() as chooser:
        await page.get_by_label("A CSV file or vCards").click()
    await (await chooser.value).set_files(people)
    await screen.press("Try it without changing anything")
    await page.get_by_role("region", name="Dry run").get_by_text("Done: 2 of 2").wait_for()
    await screen.press("Import the contacts")
    report = page.get_by_role("region", name="Import", exact=True)
    await report.get_by_text("Done: 2 of 2").wait_for()
    await report.scroll_into_view_if_needed()


async def preview_campaign(screen: Screen) -> None:
    """Write a campaign to the imported contacts, and look at what it will do."""
    page = screen.page
    await page.get_by_role("link", name="Campaigns", exact=True).click()
    await screen.press("New campaign")
    await screen.fill("Name", "Spring")
    await screen.press("Create the campaign")
    await page.get_by_role("combobox", name="With any of the tags").click()
    await page.get_by_role("option", name="vip").click()
    await page.keyboard.press("Escape")
    await screen.press("Next: Message")
    await screen.fill("Text", "Hi {first_name|there}, fresh bread at 7. Reply STOP to opt out.")
    await page.get_by_role("region", name="As a person reads it").get_by_text("fresh bread at 7.").wait_for()
    await page.get_by_role("status").get_by_text("Saved").wait_for()  # what is shown of the text moves the button
    await screen.press("Next: When")
    await screen.press("Next: Check")
    await screen.sees("Hi Ana, fresh bread at 7.")


async def send_campaign(screen: Screen) -> int:
    """Send the campaign, and see it end; return its credits."""
    send = screen.page.get_by_role("button", name=re.compile("Send to 2 people for at most"))
    [credits] = re.findall(r"at most (\d+) credits", await send.inner_text())
    await send.click()
    await screen.page.get_by_role("dialog").get_by_role("button", name="Send to 2 people").click()
    await screen.sees("Completed")
    await screen.page.get_by_role("link", name="Delivered").wait_for()
    await screen.page.reload()
    await screen.page.get_by_role("link", name="Delivered").wait_for()
    await screen.sees("Show as table")
    return int(credits)


async def make_key(screen: Screen) -> str:
    """Create an API key; return it."""
    page = screen.page
    await page.get_by_role("link", name="Settings", exact=True).click()
    await page.get_by_role("link", name=re.compile("API Keys")).click()
    await screen.press("New key")
    await screen.fill("Name", "Shop")
    await page.get_by_label("billing:read", exact=True).check()
    await screen.press("Create the key")
    return (await page.get_by_role("region", name="The key Shop").locator("code").text_content() or "").strip()


async def watch_webhook(screen: Screen, address: str) -> None:
    """Create a webhook, and send it a test event."""
    page = screen.page
    await screen.press("I stored it")
    await screen.press("New webhook")
    await screen.fill("Address", address)
    await page.get_by_role("combobox", name="Events").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.keyboard.press("Escape")
    await screen.press("Create the webhook")
    await page.get_by_role("link", name=address).click()
    await page.get_by_role("combobox", name="Send a test event").click()
    await page.get_by_role("option", name="message.inbound").click()
    await page.get_by_role("button", name="Delivered message.inbound Test").click()
    await screen.sees("Attempt 1: 204")
