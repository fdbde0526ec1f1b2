"""Drafts of campaigns: saved while they are typed, never over the change of another person."""

import anyio
import pytest
from playwright.async_api import Route, expect

from app.domain.campaigns import service as campaigns
from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.browser.sending import Sending
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.messages import OUTBOUND
from tests.graphql.live import Scene
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def hold_saving(screen: Screen) -> tuple[anyio.Event, anyio.Event]:
    """Hold each save of a draft; return the event of the first one, and the event that permits them."""
    begun, permitted = anyio.Event(), anyio.Event()

    async def hold(route: Route) -> None:
        if "mutation CampaignsUpdate" in (route.request.post_data or ""):
            begun.set()
            await within("the test to permit the save", permitted.wait())
        await route.continue_()

    await screen.page.route("**/graphql", hold)
    return begun, permitted


async def test_a_draft_is_saved_while_it_is_typed_and_a_refused_text_stays(
    windows: Windows, scene: Scene, account: Opened
):
    id = await Sending(scene, scene.dispatch).draft()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?step=message")
    await screen.fill("Name", "Winter")
    await screen.heading("Winter").wait_for()
    await expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    assert await CAMPAIGNS.only(scene.services, "name") == "Winter"
    await screen.fill("Text", "Hi {firstname}, bread.")
    await screen.sees("Not saved")
    steps = page.get_by_role("navigation", name="Steps")
    await steps.get_by_role("button", name="Audience").click()
    await page.get_by_role("alert").get_by_text("Did you mean {first_name}?").wait_for()
    await steps.get_by_role("button", name="Message").click()
    await page.get_by_role("link", name="Contacts").click()
    await page.get_by_role("dialog", name="Leave without saving?").get_by_role("button", name="Stay here").click()
    assert await page.get_by_role("textbox", name="Text").input_value() == "Hi {firstname}, bread."
    await screen.fill("Text", "Hi {first_name}, bread.")
    await page.get_by_role("link", name="Contacts").click()
    await screen.heading("Contacts").wait_for()
    assert await CAMPAIGNS.only(scene.services, "body") == "Hi {first_name}, bread."
    await page.go_back()
    await screen.heading("Winter").wait_for()
    assert await page.get_by_role("textbox", name="Text").input_value() == "Hi {first_name}, bread."


async def test_a_draft_that_another_person_changed_is_not_overwritten(windows: Windows, scene: Scene, account: Opened):
    id = await Sending(scene, scene.dispatch).draft("Autumn sale")
    screen = await windows.owner(account)
    text = screen.page.get_by_role("textbox", name="Text")
    await screen.open(f"/campaigns/{id}?step=message")
    await screen.heading("Autumn sale").wait_for()

    async with scene.unit() as unit:
        await campaigns.update(unit, id, {"body": "Bread is cheap."})
    await screen.fill("Name", "Winter")
    await screen.sees("The campaign has version 2, not 1: it was changed. Read it again.")
    assert await CAMPAIGNS.only(scene.services, "name", "body") == ("Autumn sale", "Bread is cheap.")
    await screen.press("Show what is saved")
    await expect(text).to_have_value("Bread is cheap.")

    await screen.fill("Name", "Winter")
    await screen.heading("Winter").wait_for()
    assert await CAMPAIGNS.only(scene.services, "name", "body", "version") == ("Winter", "Bread is cheap.", 3)


async def test_a_page_is_left_without_a_question_once_its_draft_that_is_being_saved_is_saved(
    windows: Windows, scene: Scene, account: Opened
):
    id = await Sending(scene, scene.dispatch).draft()
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}?step=message")
    begun, permitted = await hold_saving(screen)
    await screen.fill("Text", "Bread. Reply STOP to opt out.")
    await within("the draft to be saved", begun.wait())
    await screen.page.get_by_role("link", name="Contacts").click()
    permitted.set()
    await screen.heading("Contacts").wait_for()

    assert await CAMPAIGNS.only(scene.services, "body") == "Bread. Reply STOP to opt out."


async def test_a_test_is_sent_with_what_was_typed_while_an_older_change_was_being_saved(
    windows: Windows, scene: Scene, account: Opened
):
    id = await Sending(scene, scene.dispatch).draft()
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}?step=message")
    begun, permitted = await hold_saving(screen)
    await screen.fill("Text", "Bread. Reply STOP to opt out.")
    await within("the draft to be saved", begun.wait())
    await screen.fill("Text", "Fresh bread. Reply STOP to opt out.")
    await screen.fill("Phone", "+12025550143")
    await screen.press("Send the test")
    permitted.set()
    await screen.sees("Sent to +12025550143")

    assert await CAMPAIGNS.only(scene.services, "body") == "Fresh bread. Reply STOP to opt out."
    assert await OUTBOUND.only(scene.services, "body") == "Fresh bread. Reply STOP to opt out."
