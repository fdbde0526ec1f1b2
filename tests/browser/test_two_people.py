"""Two people who change one record: an editor begins with what is saved, and overwrites nothing that came later."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest
from playwright.async_api import Locator, expect

from app.domain.agents import service as agents
from app.domain.automations import service as automations
from app.domain.onboarding.service import Opened
from app.domain.segments import service as segments
from app.domain.templates import service as templates
from app.domain.webhooks import service as webhooks
from tests.browser.screen import Screen, Windows
from tests.browser.test_segments import add_segment
from tests.browser.test_templates import add_template
from tests.factories.agents import AGENTS, add_agent
from tests.factories.automations import AUTOMATIONS
from tests.factories.segments import SEGMENTS
from tests.factories.tables import Rows
from tests.factories.templates import TEMPLATES
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS, add_subscription
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def make_template(scene: Scene) -> int:
    return await add_template(scene, "First", "We open at 8.")


async def make_segment(scene: Scene) -> int:
    return await add_segment(scene, "First")


async def make_automation(scene: Scene) -> int:
    trigger: Any = {"kind": "missed_reply", "hours": 4}
    async with scene.unit("contacts:write") as unit:
        fields: Any = {"name": "First", "trigger": trigger, "actions": [{"kind": "add_tag", "tag": "waits"}]}
        return (await automations.create(unit, fields)).id


async def make_agent(scene: Scene) -> int:
    async with scene.unit() as unit:
        return await add_agent(unit, {"name": "First"})


async def make_webhook(scene: Scene) -> int:
    given = {"kind": "endpoint", "target_url": "https://hooks.example.com/", "events": ["new_message"]}
    return await add_subscription(scene.services, scene.account.account_id, description="First", **given)


def by(update: Callable[[Any, int, Any], Awaitable[Any]]) -> Callable[[Scene, int, Any], Awaitable[None]]:
    """Return a function that changes a record as another person does."""

    async def change(scene: Scene, id: int, fields: Any) -> None:
        async with scene.unit("contacts:write", "messages:send") as unit:
            await update(unit, id, fields)

    return change


async def change_webhook(scene: Scene, id: int, fields: Any) -> None:
    async with scene.unit() as unit:
        await webhooks.update_webhook(unit, scene.services.webhooks, id, fields)


class Record(NamedTuple):
    """A kind of record: its page, the column and the field that are changed, and how it is made, changed and saved."""

    kind: str
    page: str
    rows: Rows
    make: Callable[[Scene], Awaitable[int]]
    change: Callable[[Scene, int, Any], Awaitable[None]]
    button: str
    column: str = "name"
    label: str = "Name"
    opens: str = ""


RECORDS = [
    Record("template", "/templates/{}", TEMPLATES, make_template, by(templates.update), "Save the template"),
    Record("segment", "/segments/{}", SEGMENTS, make_segment, by(segments.update), "Save the segment"),
    Record(
        "automation",
        "/automations/{}?tab=edit",
        AUTOMATIONS,
        make_automation,
        by(automations.update_automation),
        "Save; runs under way keep their actions",
    ),
    Record("AI agent", "/agents/{}?tab=settings", AGENTS, make_agent, by(agents.update), "Save"),
    Record(
        "webhook",
        "/settings/keys/webhooks/{}",
        WEBHOOK_SUBSCRIPTIONS,
        make_webhook,
        change_webhook,
        "Save the webhook",
        "description",
        "Description",
        "Change",
    ),
]


async def open_editor(screen: Screen, record: Record, id: int) -> Locator:
    """Go to the editor of a record, as a link does; return its field."""
    await screen.go(record.page.format(id))
    if record.opens:
        await screen.press(record.opens)
    return screen.page.get_by_label(record.label, exact=True)


@pytest.mark.parametrize("record", [pytest.param(each, id=each.kind) for each in RECORDS])
async def test_an_editor_begins_with_what_another_person_saved_after_its_first_visit(
    windows: Windows, scene: Scene, account: Opened, record: Record
):
    id = await record.make(scene)
    screen = await windows.owner(account)
    await screen.open("/")
    await expect(await open_editor(screen, record, id)).to_have_value("First")
    await screen.page.keyboard.press("Escape")
    await screen.go("/billing")

    await record.change(scene, id, {record.column: "Second"})
    field = await open_editor(screen, record, id)

    await expect(field).to_have_value("Second")


@pytest.mark.parametrize("record", [pytest.param(each, id=each.kind) for each in RECORDS])
async def test_a_record_that_another_person_changed_is_not_overwritten(
    windows: Windows, scene: Scene, account: Opened, record: Record
):
    id = await record.make(scene)
    screen = await windows.owner(account)
    await screen.open("/")
    field = await open_editor(screen, record, id)
    await field.fill("Mine")

    await record.change(scene, id, {record.column: "Second"})
    await screen.page.get_by_role("button", name=record.button, exact=True).first.click()

    await screen.sees(f"The {record.kind} has version 2, not 1: it was changed. Read it again.")
    assert await record.rows.only(scene.services, record.column, "version") == ("Second", 2)
    await screen.press("Show what is saved")
    await expect(field).to_have_value("Second")


async def test_each_card_of_an_agent_is_saved_after_another_card(windows: Windows, scene: Scene, account: Opened):
    id = await make_agent(scene)
    screen = await windows.owner(account)
    await screen.open(f"/agents/{id}?tab=settings")
    told, limits = (screen.page.get_by_role("region", name=card) for card in ("Instructions", "Limits and hand-over"))
    await screen.fill("Goals", "Book a visit.")
    await screen.fill("Drafts a day", "7")

    await told.get_by_role("button", name="Save", exact=True).click()
    await told.get_by_role("button", name="Saved", exact=True).wait_for()
    await limits.get_by_role("button", name="Save", exact=True).click()
    await limits.get_by_role("button", name="Saved", exact=True).wait_for()

    assert await AGENTS.only(scene.services, "goals", "daily_limit", "version") == ("Book a visit.", 7, 3)
