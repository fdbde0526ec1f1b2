"""The filters of lists within a page stay in its address."""

from typing import Any

import pytest
from playwright.async_api import expect

from app.domain.automations import service as automations
from app.domain.integrations import service as integrations
from app.domain.onboarding.service import Opened
from tests.browser.screen import QUIET, Windows
from tests.factories.agents import add_agent
from tests.factories.numbers import PHONE_NUMBERS
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

AUTOMATION: Any = {
    "name": "Late",
    "trigger": {"kind": "missed_reply", "hours": 4},
    "actions": [{"kind": "add_tag", "tag": "waits"}],
}


async def test_the_filter_of_a_list_survives_a_reload(windows: Windows, scene: Scene, account: Opened):
    async with scene.unit("contacts:write", "messages:send") as unit:
        automation = await automations.create(unit, AUTOMATION)
        agent_id = await add_agent(unit, {"mode": "approve"})
        tool = await integrations.add(unit, scene.services.intake.ports, "calcom", "the secret", {"name": "Visits"})
    number_id = await PHONE_NUMBERS.where(account_id=account.account_id).only(scene.services, "id")
    screen = await windows.owner(account)
    page = screen.page
    for path, name in (
        (f"/automations/{automation.id}", "State"),
        (f"/agents/{agent_id}?tab=runs", "Result"),
        (f"/settings/integrations/{tool.id}", "Status of events"),
        (f"/numbers/{number_id}", "Group"),
    ):
        await screen.open(path)
        choice = page.get_by_role("combobox", name=name, exact=True)
        await choice.click()
        option = page.get_by_role("option").last
        chosen = await option.inner_text()
        await option.click()
        await expect(choice).to_have_value(chosen)
        await page.evaluate(QUIET)
        await page.reload()
        await expect(choice, path).to_have_value(chosen)
