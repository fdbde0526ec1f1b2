"""Pages whose data is refused, that have no connection, and that are opened by a role without their scope.

The pages are those of the router, as in `test_every_page`.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import orjson
import pytest
from playwright.async_api import Error, Locator, Route, expect

from app.domain.campaigns.audience import Audience
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.browser.population import populate
from tests.browser.screen import QUIET, Screen, Windows
from tests.browser.test_every_page import ROUTES, addresses
from tests.browser.test_inbox_team import BEN, add_colleague
from tests.browser.test_integrations import add_webhook
from tests.factories.campaigns import CAMPAIGNS
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

FORMS = {
    "/automations/new",
    "/segments/new",
    "/sequences/new",
    "/settings/profile",
    "/templates/new",
}
"""Pages that show no data of the account: they are whole without an answer."""

FAILED = orjson.dumps(
    {"errors": [{"message": "Something failed here.", "extensions": {"code": "internal_error", "request_id": "r-7"}}]}
)
UNANSWERED = "The service did not answer. Check the connection, then try again."
UNLOADED = "This page is not loaded yet, and the service did not answer."
ALERTS = "main [role=alert]"
SCOPE = "path => __TSR_ROUTER__.routesByPath[path]?.options.staticData?.scope"
OWN = {"account:write", "billing:write"}
"""The scopes that a member lacks."""

REQUESTED = "() => performance.getEntriesByType('resource').some(({ name }) => name.includes('ComposeForm'))"

IDLE = "() => new Promise(done => requestIdleCallback(() => requestIdleCallback(done)))"
"""Waits until the browser was idle twice; parts of pages are loaded ahead the first time."""

ACTS: tuple[tuple[str, str, dict[str, str], str], ...] = (
    ("/agents", "New agent", {"Name": "Robin", "Instructions": "Be brief."}, "Create the agent"),
    ("/campaigns", "New campaign", {"Name": "Autumn"}, "Create the campaign"),
    ("/contacts", "New contact", {"Phone": "+12025550143"}, "Add the contact"),
    ("/keywords", "New keyword", {"Keyword": "menu"}, "Watch the keyword"),
    ("/sequences/new", "", {"Name": "Welcome", "Text 1": "Welcome!"}, "Create the sequence"),
    ("/settings/company", "", {"Company name": "Red Door"}, "Save the company"),
    ("/settings/keys", "New key", {"Name": "Shop"}, "Create the key"),
    ("/settings/profile", "", {"First name": "Ana"}, "Save the name"),
    ("/templates/new", "", {"Name": "Hello", "Text": "Hello!"}, "Save the template"),
)
"""Acts with their page, the button that opens their form, what is typed, and their own button."""


@pytest.mark.parametrize("sentence", ["Something failed here.", UNANSWERED], ids=["refused", "unanswered"])
async def test_every_page_says_that_its_data_is_missing_and_loads_it_on_request(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]], sentence: str
):
    ids = await populate(scene, work)
    screen = await windows.owner(account)
    await screen.open("/settings/profile")
    wrong = dict[str, Any]()
    for path, address in (await pages_of(screen, ids)).items():
        await screen.page.route("**/graphql", cut if sentence == UNANSWERED else refuse)
        await screen.go(address)
        if path not in FORMS and not await shows(screen.page.locator(ALERTS).filter(has_text=sentence)):
            wrong[path] = (await screen.page.locator("main").inner_text())[:300]
        if await screen.heading().count() != 1:
            wrong[f"{path} without a heading"] = (await screen.page.locator("main").inner_text())[:300]
        await screen.page.unroute("**/graphql")
        if left := await retry(screen):
            wrong[f"{path} after it was tried again"] = left
    assert not wrong, wrong


async def test_every_page_that_is_opened_without_a_connection_says_so_and_opens_after_it(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]]
):
    ids = await populate(scene, work)
    screen = await windows.owner(account, is_new=True)
    await screen.open("/settings/profile")
    wrong = dict[str, str]()
    pages = await pages_of(screen, ids)
    await screen.page.context.set_offline(True)
    for path, address in pages.items():
        await screen.go(address)
        main = screen.page.locator("main")
        if path not in FORMS and not await shows(main.get_by_text(UNANSWERED).or_(main.get_by_text(UNLOADED))):
            wrong[path] = (await main.inner_text())[:300]
    assert not wrong, wrong

    await screen.press("Try again")
    await screen.page.get_by_role("navigation", name="Pages").first.wait_for()
    await screen.page.context.set_offline(False)
    await screen.press("Try again")
    await screen.heading("New template").wait_for()


async def test_a_dialog_opens_without_a_connection_and_the_typed_text_stays_when_its_code_could_not_be_loaded(
    windows: Windows, account: Opened
):
    screen = await windows.owner(account, is_new=True)
    page = screen.page
    for is_lost in (False, True):
        if is_lost:
            await page.route("**/ComposeForm-*.js", cut)
        await screen.open("/templates/new")
        await page.wait_for_function(REQUESTED)
        text = page.get_by_role("textbox", name="Text", exact=True)
        await text.fill("Hello!")
        await page.context.set_offline(True)
        await screen.press("Write with AI")
        dialog = page.get_by_role("dialog")
        await (dialog.get_by_role("alert") if is_lost else dialog.get_by_label("Goal", exact=True)).wait_for()
        await page.keyboard.press("Escape")
        await dialog.wait_for(state="hidden")
        assert await text.input_value() == "Hello!"
        await page.context.set_offline(False)


async def test_a_part_that_was_not_loaded_ahead_without_a_connection_opens_when_there_is_one_again(
    windows: Windows, account: Opened
):
    screen = await windows.owner(account, is_new=True)
    page, asked = screen.page, list[str]()
    page.on("request", lambda request: asked.append(request.url))
    await screen.begin_with("Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false })")
    await page.route("**/ComposeForm-*.js", cut)
    await screen.open("/templates/new")
    await page.evaluate(IDLE)
    assert [url for url in asked if "ComposeForm" in url] == []
    await page.unroute("**/ComposeForm-*.js")
    await screen.press("Write with AI")
    await page.get_by_role("dialog").get_by_label("Goal", exact=True).wait_for()


@pytest.mark.parametrize(("key", "name"), [("Control+k", "Palette"), ("?", "KeysHelp")])
async def test_a_dialog_of_the_shell_that_could_not_be_loaded_says_so_until_it_is_closed(
    windows: Windows, account: Opened, key: str, name: str
):
    screen = await windows.owner(account, is_new=True)
    page = screen.page
    await page.route(f"**/{name}-*.js", cut)
    await screen.open("/settings/profile")
    alert = page.get_by_role("alert").filter(has_text="The code of this part of the page could not be loaded.")
    await page.keyboard.press(key)
    await alert.wait_for()
    await page.keyboard.press("Escape")
    await alert.wait_for(state="detached")

    await page.unroute(f"**/{name}-*.js")
    await page.keyboard.press(key)
    async with page.expect_event("load"):
        await screen.press("Load the page again")
    await screen.heading().wait_for()
    await page.keyboard.press(key)
    await page.get_by_role("dialog").wait_for()
    assert await alert.count() == 0


@pytest.mark.parametrize(("status", "name"), [("draft", "Editor"), ("completed", "Results")])
async def test_a_page_whose_content_could_not_be_loaded_opens_when_it_is_tried_again(
    windows: Windows, services: Services, account: Opened, status: str, name: str
):
    kept = {"account_id": account.account_id, "name": "Autumn", "body": "", "created_by": "", "status": status}
    id = await CAMPAIGNS.insert(services, audience=Audience(everyone=True).to_json(), **kept)
    screen = await windows.owner(account, is_new=True)
    page = screen.page
    await page.route(f"**/{name}-*.js", cut)
    await screen.open("/settings/profile")
    await screen.go(f"/campaigns/{id}")
    await screen.heading("This page failed").wait_for()
    await page.unroute(f"**/{name}-*.js")
    await screen.press("Try again")
    await screen.heading("Autumn").wait_for()
    await page.evaluate(QUIET)
    assert await page.locator(ALERTS).count() == 0


async def test_an_unanswered_action_says_so_keeps_the_typed_text_and_succeeds_when_repeated(
    windows: Windows, account: Opened
):
    screen = await windows.owner(account)
    page = screen.page
    for path, opener, fields, act in ACTS:
        await screen.open(path)
        await page.evaluate(QUIET)
        if opener:
            await screen.press(opener)
        for label, value in fields.items():
            await page.get_by_role("textbox", name=label, exact=True).fill(value)
        await page.route("**/graphql", cut)
        await screen.press(act)
        alert = page.get_by_role("alert").filter(has_text=UNANSWERED)
        await alert.wait_for()
        typed = [await page.get_by_role("textbox", name=label, exact=True).input_value() for label in fields]
        assert typed == [*fields.values()]
        await page.unroute("**/graphql")
        await screen.press(act)
        await alert.wait_for(state="detached")


async def test_a_member_is_told_which_scope_a_page_needs_and_meets_no_refusal_on_the_others(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]]
):
    ids = await populate(scene, work)
    await add_colleague(scene, account)
    screen = await windows.sign_in(BEN, account.password)
    await screen.open("/settings/profile")
    wrong = dict[str, Any]()
    for path, address in (await pages_of(screen, ids)).items():
        await screen.go(address)
        scope = await screen.page.evaluate(SCOPE, path.partition(" ")[0])
        main = screen.page.locator("main")
        if scope in OWN:
            await shows(main.get_by_text("Not for your role"))
        text = await main.inner_text()
        if (scope in OWN) != ("Not for your role" in text and f"the scope {scope}" in text):
            wrong[path] = text[:300]
        if refused := await screen.page.locator(ALERTS).all_inner_texts():
            wrong[f"{path} is refused"] = refused
    assert not wrong, wrong
    await screen.go("/settings/company")
    await screen.page.get_by_role("link", name="Go to the first page").click()
    await screen.heading("Hello, Ben").wait_for()


async def test_a_member_is_told_who_can_open_a_page(windows: Windows, scene: Scene, account: Opened):
    await add_colleague(scene, account)
    screen = await windows.sign_in(BEN, account.password)
    await screen.open("/settings/company")
    await screen.sees("An owner of the account can open it, or change your role.")
    await screen.sees(f"Owners: {account.email}.")


async def pages_of(screen: Screen, ids: Mapping[str, int]) -> Mapping[str, str]:
    """Return the addresses of all pages, in their order."""
    return dict(sorted(addresses(await screen.page.evaluate(ROUTES), ids).items()))


async def retry(screen: Screen) -> list[str]:
    """Press all buttons that load again, at once; return what is still refused."""
    alerts = screen.page.locator(ALERTS)
    await alerts.get_by_role("button", name="Try again").evaluate_all("found => found.forEach(each => each.click())")
    await screen.page.evaluate(QUIET)
    return [] if await shows(alerts, "hidden") else await alerts.all_inner_texts()


async def shows(found: Locator, state: Literal["visible", "hidden"] = "visible") -> bool:
    """Return whether the first element that is found comes to a state; a slow machine shows it late."""
    try:
        await found.first.wait_for(state=state)
    except Error:
        return False
    return True


async def refuse(route: Route) -> None:
    """Answer as the service does when it has failed."""
    await route.fulfill(status=500, content_type="application/json", body=FAILED)


async def cut(route: Route) -> None:
    """End the connection without an answer."""
    await route.abort()


async def test_a_page_and_the_text_typed_in_it_stay_when_a_later_load_fails(windows: Windows, account: Opened):
    screen = await windows.owner(account)
    await add_webhook(screen)
    await screen.fill("JSON that a sender would post", "typed")
    await screen.page.route("**/graphql", refuse)
    await screen.press("Refresh")
    await screen.page.get_by_role("alert").get_by_text("Something failed here.").wait_for()
    await expect(screen.page.get_by_label("JSON that a sender would post")).to_have_value("typed")
    await screen.page.unroute_all()
    await screen.press("Try again")
    await screen.sees("No event came yet.")

    await expect(screen.page.get_by_label("JSON that a sender would post")).to_have_value("typed")
