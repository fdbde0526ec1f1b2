"""The frame of the dashboard: who opens it, what it loads, what it looks like."""

import gzip
import re
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from app.domain.onboarding.service import Opened
from tests.browser.chromium import ROOT
from tests.browser.screen import NARROW, Windows
from tests.graphql.live import Served

pytestmark = pytest.mark.anyio

MOST_SCRIPT, MOST_STYLE, MOST_PLOT = 250_000, 40_000, 25_000
ENTRIES = ("index.html", "docs.html")
USED = re.compile(r"\bm_[0-9a-f]{6,}\b")
"""The classes of Mantine's components, which stand in their scripts and in their styles."""
IMPORTED = re.compile(r"@mantine/core/(styles/.+\.css)")
COMPONENTS = ROOT / "dashboard" / "src" / "theme" / "components.css"
PACKAGES = ROOT / "dashboard" / "node_modules"
FILES = "[...document.querySelectorAll('script[src], link[rel=stylesheet]')].map(each => each.src || each.href)"


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_first_load_fits_its_budget_and_each_page_is_a_chunk_of_its_own(built: Path, entry: str):
    manifest = orjson.loads((built / "manifest.json").read_bytes())
    pages = [name for name in manifest[entry]["dynamicImports"] if name.endswith("Page.tsx")]
    for page in pages:
        chunks = [manifest[name] for name in loaded(manifest, entry) | loaded(manifest, page)]
        assert manifest[page]["isDynamicEntry"]
        assert size(built, {chunk["file"] for chunk in chunks}) < MOST_SCRIPT
        assert size(built, {name for chunk in chunks for name in chunk.get("css", [])}) < MOST_STYLE
    assert len(pages) > 2


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_scripts_of_a_page_have_no_nonce_so_that_a_reload_takes_them_compiled(built: Path, entry: str):
    page = (built / entry).read_text()

    assert re.findall(r"<(\w+)[^>]* nonce=", page) == ["meta"]


def test_the_drawing_of_charts_is_a_chunk_of_its_own_within_its_budget(built: Path):
    manifest = orjson.loads((built / "manifest.json").read_bytes())
    plot = manifest["src/ui/Plot.tsx"]
    assert plot["isDynamicEntry"]
    assert size(built, {plot["file"]}) < MOST_PLOT


def test_the_styles_of_all_components_in_use_are_loaded_and_no_others(built: Path):
    folder = PACKAGES / "@mantine" / "core"
    styles = {name: USED.findall((folder / name).read_text()) for name in IMPORTED.findall(COMPONENTS.read_text())}
    known = set(USED.findall((folder / "styles.css").read_text()))
    scripts = [path.read_text() for path in (built / "assets").glob("*.js")]
    used = known & {each for script in scripts for each in USED.findall(script)}

    assert used - set().union(*styles.values()) == set()
    assert [name for name, classes in styles.items() if classes and used.isdisjoint(classes)] == []


def loaded(manifest: dict[str, Any], name: str) -> set[str]:
    """Return the chunks that load with one: itself, and what it imports at once."""
    return {name}.union(*(loaded(manifest, each) for each in manifest[name].get("imports", [])))


def size(built: Path, names: set[str]) -> int:
    """Return the bytes of compressed files."""
    return sum(len(gzip.compress((built / name).read_bytes())) for name in names)


async def test_the_files_are_kept_for_ever_and_the_page_never(served: Served, windows: Windows, account: Opened):
    screen = await windows.owner(account, is_new=True)
    await screen.open("/")
    paths = await screen.page.evaluate(
        "[...document.querySelectorAll('script[src], link[rel=stylesheet]')].map(each => each.src || each.href)"
    )
    async with httpx2.AsyncClient() as client:
        answers = [await client.get(path, headers={"Accept-Encoding": "gzip"}) for path in paths]
        stranger = await client.get(f"{served.base_url}/app/contacts?search=ana", headers={"Accept": "text/html"})
        missing = await client.get(f"{served.base_url}/app/assets/none.js")
    page = await screen.page.context.request.get(f"{served.base_url}/app/contacts")

    assert len(answers) > 1
    assert {(answer.status_code, answer.headers["cache-control"]) for answer in answers} == {
        (200, "public, max-age=31536000, immutable")
    }
    assert {answer.headers["content-encoding"] for answer in answers} == {"gzip"}
    assert page.headers["cache-control"] == "no-store"
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert (stranger.status_code, stranger.headers["location"]) == (303, "/login?next=%2Fapp%2Fcontacts%3Fsearch%3Dana")
    assert missing.status_code == 404


async def test_a_person_signs_in_finds_home_and_signs_out(windows: Windows, account: Opened, pictures: Path):
    screen = await windows.stranger(is_new=True)
    await screen.page.goto(f"{screen.base}/app")
    await screen.fill("E-mail address", account.email)
    await screen.fill("Password", account.password)
    await screen.press("Sign in")
    await screen.sees("1,000")
    await screen.sees("Set-up")
    await screen.check(pictures, "home")

    await screen.page.keyboard.press("?")
    await screen.page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.open("/nowhere")
    await screen.heading("Not found").wait_for()

    await screen.page.get_by_role("button", name=account.email).click()
    await screen.page.get_by_role("menuitem", name="Sign out").click()
    await screen.sees("You are signed out.")

    narrow = await windows.owner(account, NARROW)
    await narrow.open("/")
    await narrow.sees("Set-up")
    await narrow.check(pictures, "home-narrow")
    await narrow.press("Pages")
    await narrow.page.get_by_role("link", name="Home").last.wait_for()
