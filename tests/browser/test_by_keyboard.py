"""Main tasks by the keyboard alone: each control is reached by Tab, never focused by the test."""

import anyio
import pytest
from playwright.async_api import Route

from app.domain.onboarding.service import Opened
from tests.browser.screen import GO, Windows, shown
from tests.factories.accounts import API_KEYS
from tests.factories.automations import AUTOMATIONS
from tests.factories.contacts import CONTACTS, add_contacts
from tests.factories.sequences import SEQUENCE_STEPS
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.live import PHONE, Scene
from tests.waiting import within

pytestmark = pytest.mark.anyio

LISTS = (
    ("/segments", "SegmentsPage", "New segment", "link"),
    ("/templates", "TemplatesPage", "New template", "link"),
    ("/sequences", "SequencesPage", "New sequence", "link"),
    ("/campaigns", "CampaignsPage", "New campaign", "button"),
    ("/agents", "AgentsPage", "New agent", "button"),
    ("/keywords", "KeywordsPage", "New keyword", "button"),
)
"""Each list with the query of its page and the control that adds to it."""

NAMES = "found => found.map(each => each.ariaLabel)"


async def test_an_api_key_and_a_webhook_are_made_by_keyboard_alone(windows: Windows, scene: Scene, account: Opened):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/settings/keys")
    await screen.enter("New key")
    await screen.type("Name", "Shop")
    await screen.reach("checkbox", "contacts:read")
    await page.keyboard.press("Space")
    await screen.enter("Create the key")
    await page.get_by_role("region", name="The key Shop").wait_for()
    await screen.enter("I stored it")
    assert await API_KEYS.where(name="Shop").only(scene.services, "scopes") == ["contacts:read"]

    await screen.enter("New webhook")
    await screen.type("Address", "http://127.0.0.1:9/hook")
    await screen.choose("Events", "message.inbound")
    await page.keyboard.press("Escape")
    await screen.enter("Create the webhook")
    await screen.sees("whsec_")
    assert await WEBHOOK_SUBSCRIPTIONS.only(scene.services, "target_url") == "http://127.0.0.1:9/hook"


async def test_a_sequence_an_automation_and_a_merge_are_done_by_keyboard_alone(
    windows: Windows, scene: Scene, account: Opened
):
    for phone, name in ((PHONE, "Ana"), ("+12025550144", "Anna")):
        values = {"phone": phone, "first_name": name, "email": "ana@example.com"}
        await CONTACTS.insert(scene.services, account_id=account.account_id, **values)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/sequences")
    await screen.enter("New sequence", "link")
    await screen.heading("New sequence").wait_for()
    await screen.type("Name", "Welcome")
    await screen.type("Text 1", "Welcome! Reply STOP to opt out.")
    await screen.enter("Create the sequence")
    await screen.heading("Welcome").wait_for()
    assert await SEQUENCE_STEPS.read(scene.services, "body") == ["Welcome! Reply STOP to opt out."]

    await screen.go("/automations/new")
    await screen.type("Name", "Greet")
    await screen.choose("Action 1", "Add a tag")
    await screen.type("Tag", "new")
    await screen.enter("Create it, paused")
    await screen.heading("Greet").wait_for()
    await screen.enter("Activate")
    await screen.enter("Activate Greet")
    await page.get_by_role("button", name="Pause").wait_for()
    assert await AUTOMATIONS.only(scene.services, "name", "status") == ("Greet", "active")

    await screen.go("/contacts/duplicates")
    await screen.enter("Merge +1 202-555-0144 into +1 202-555-0143")
    await page.get_by_role("dialog").get_by_role("cell", name="Anna", exact=True).wait_for()
    await screen.enter("Merge, and delete Anna")
    await screen.sees("No two contacts have this in common.")
    assert await CONTACTS.read(scene.services, "phone") == [PHONE]


async def test_a_control_reached_while_a_list_loads_keeps_the_focus_when_the_list_is_empty(
    windows: Windows, account: Opened
):
    screen = await windows.owner(account)
    await screen.open("/settings/profile")
    for path, query, name, role in LISTS:
        permitted = anyio.Event()

        async def hold(route: Route, query: str = query, permitted: anyio.Event = permitted) -> None:
            if f"query {query}" in (route.request.post_data or ""):
                await within("the control that has the focus", permitted.wait())
            await route.continue_()

        await screen.page.route("**/graphql", hold)
        await screen.page.evaluate(GO, path)
        control = await screen.reach(role, name)
        permitted.set()
        await screen.page.locator("main [class*=empty]").wait_for()
        assert await control.evaluate("each => each === document.activeElement"), name
        await screen.page.unroute("**/graphql", hold)


async def test_contacts_are_chosen_by_keys_and_single_keys_can_be_turned_off(
    windows: Windows, scene: Scene, account: Opened
):
    phones = [f"+1202555{number}" for number in range(1000, 1040)]
    await add_contacts(scene.services, account.account_id, phones)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/contacts?sort=name_asc")
    await screen.reach("link", shown(phones[0]))
    for key in ("ArrowDown", "x"):
        await page.keyboard.press(key)
    await screen.sees("1 contact chosen")
    for _ in range(3):
        await page.keyboard.press("Shift+ArrowDown")
    await screen.sees("4 contacts chosen")
    await page.keyboard.press("x")
    await screen.sees("3 contacts chosen")
    chosen = await page.get_by_role("grid").get_by_role("checkbox", checked=True).evaluate_all(NAMES)
    assert chosen == [f"Choose {shown(phone)}" for phone in phones[1:4]]

    row = await page.evaluate_handle("document.activeElement")
    await page.keyboard.press("?")
    await screen.reach("switch", "Keys without Ctrl, ⌘ or Alt")
    await page.keyboard.press("Space")
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog").wait_for(state="hidden")
    await page.wait_for_function("row => row === document.activeElement", arg=row)
    for key in ("x", "?", "g", "i"):
        await page.keyboard.press(key)
    await screen.sees("3 contacts chosen")
    await page.keyboard.press("Enter")
    await screen.heading(shown(phones[4])).wait_for()
