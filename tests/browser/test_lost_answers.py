"""Records whose creation gets no answer: a person who tries again makes one record, not two."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import orjson
import pytest
from playwright.async_api import Route

from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.browser.test_automations import fill_in
from tests.browser.test_inbox_team import open_thread
from tests.factories.accounts import API_KEYS
from tests.factories.agents import AGENTS
from tests.factories.automations import AUTOMATIONS
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.conversations import CONVERSATION_ENTRIES
from tests.factories.segments import SEGMENTS
from tests.factories.tables import Rows
from tests.factories.templates import TEMPLATES
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

UNANSWERED = "The service did not answer. Check the connection, then try again."


class Form(NamedTuple):
    """A form that makes a record: its operation, how it is filled in and sent, what is shown then, and the rows."""

    operation: str
    fill: Callable[[Screen], Awaitable[None]]
    button: str
    shown: str
    rows: Rows


async def write_template(screen: Screen) -> None:
    await screen.open("/templates/new")
    await screen.fill("Name", "Hours")
    await screen.fill("Text", "We open at 8.")


async def write_segment(screen: Screen) -> None:
    await screen.open("/segments/new?tag=vip")
    await screen.fill("Name", "VIPs")


async def write_automation(screen: Screen) -> None:
    await screen.open("/automations/new")
    await fill_in(screen)


async def write_agent(screen: Screen) -> None:
    await screen.open("/agents")
    await screen.press("New agent")
    await screen.fill("Name", "Front desk")
    await screen.fill("Instructions", "You answer for a hair salon.")


async def write_campaign(screen: Screen) -> None:
    await screen.open("/campaigns")
    await screen.press("New campaign")
    await screen.fill("Name", "Spring")


async def write_key(screen: Screen) -> None:
    await screen.open("/settings/keys")
    await screen.press("New key")
    await screen.fill("Name", "Shop")


async def write_webhook(screen: Screen) -> None:
    await screen.open("/settings/keys")
    await screen.press("New webhook")
    await screen.fill("Address", "http://127.0.0.1:9/hook")
    await screen.page.get_by_role("combobox", name="Events").click()
    await screen.page.get_by_role("option", name="message.inbound").click()
    await screen.page.keyboard.press("Escape")


async def write_note(screen: Screen) -> None:
    await open_thread(screen, "Hello?")
    await screen.page.keyboard.press("n")
    await screen.fill("Internal note", "Call back at noon.")


FORMS = [
    Form("TemplatesCreate", write_template, "Save the template", "Delete", TEMPLATES),
    Form("SegmentsCreate", write_segment, "Save the segment", "Delete", SEGMENTS),
    Form("AutomationsCreate", write_automation, "Create it, paused", "Activate", AUTOMATIONS),
    Form("AgentsCreate", write_agent, "Create the agent", "Activate", AGENTS),
    Form("CampaignsCreate", write_campaign, "Create the campaign", "Duplicate", CAMPAIGNS),
    Form("KeysCreate", write_key, "Create the key", "I stored it", API_KEYS.where(name="Shop")),
    Form("WebhooksCreate", write_webhook, "Create the webhook", "I stored it", WEBHOOK_SUBSCRIPTIONS),
    Form("InboxAddNote", write_note, "Add the note", "", CONVERSATION_ENTRIES),
]


async def lose_first_answer(screen: Screen, operation: str) -> None:
    """Have the service carry out an operation, and lose its first answer."""
    lost = []

    async def lose(route: Route) -> None:
        if lost or orjson.loads(route.request.post_data or "{}").get("operationName") != operation:
            await route.continue_()
            return
        lost.append(await route.fetch())
        await route.abort()

    await screen.page.route("**/graphql", lose)


@pytest.mark.parametrize("form", [pytest.param(each, id=each.operation) for each in FORMS])
async def test_a_record_whose_answer_was_lost_is_made_once_when_a_person_tries_again(
    windows: Windows, scene: Scene, account: Opened, form: Form
):
    await scene.receive("Hello?")
    screen = await windows.owner(account)
    await form.fill(screen)
    await lose_first_answer(screen, form.operation)

    await screen.press(form.button)
    await screen.sees(UNANSWERED)
    assert await form.rows.count(scene.services) == 1
    await screen.press(form.button)

    if form.shown:
        await screen.page.get_by_role("button", name=form.shown, exact=True).wait_for()
    else:
        await screen.page.get_by_role("log").get_by_text("Call back at noon.").wait_for()
    assert await form.rows.count(scene.services) == 1
