"""Going from one record to another of its kind: the page shows the other one, whose answer comes later."""

import pytest
from playwright.async_api import expect

from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows
from tests.browser.sending import Sending
from tests.browser.test_segments import add_segment
from tests.browser.test_templates import add_template
from tests.factories.numbers import add_number
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio


async def add_records(scene: Scene, name: str, phone: str) -> dict[str, int]:
    """Add a record of each kind with a name; return the ids by the paths of their pages."""
    return {
        "/segments": await add_segment(scene, name),
        "/templates": await add_template(scene, name, "We open at 8."),
        "/campaigns": await Sending(scene, scene.dispatch).draft(name),
        "/numbers": await add_number(scene.services, scene.account.account_id, phone, name),
    }


async def test_the_editor_of_a_record_begins_with_its_own_values_after_another_record(
    windows: Windows, scene: Scene, account: Opened
):
    first = await add_records(scene, "First", "+12025550198")
    second = await add_records(scene, "Second", "+12025550199")
    screen = await windows.owner(account)
    await screen.open("/")
    for path, id in first.items():
        field = screen.page.get_by_label("Label" if path == "/numbers" else "Name", exact=True)
        await screen.go(f"{path}/{id}")
        await expect(field).to_have_value("First")
        await screen.go(f"{path}/{second[path]}")
        await expect(field).to_have_value("Second")
