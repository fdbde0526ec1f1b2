"""Results of campaigns: live progress, pauses, the people by state and reason, groups, the diagnosis."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from app.domain.campaigns import service
from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.browser.sending import Sending
from tests.browser.test_late_answers import hold_first
from tests.factories.accounts import ACCOUNTS
from tests.factories.campaigns import CAMPAIGNS, add_people, states
from tests.factories.contacts import CONTACTS, add_contacts
from tests.graphql.live import Scene
from tests.waiting import within

pytestmark = pytest.mark.anyio

PEOPLE = {
    "+15005550101": "landline",
    "+15005550102": "unreachable",
    "+15005550104": "filtered",
    "+15005550401": "STOP",
    "+15005550404": "YES",
    "+15005550205": "no receipt",
}
"""Phones of the sandbox with special outcomes."""


@pytest.fixture
def sending(scene: Scene, work: Callable[[], Awaitable[None]]) -> Sending:
    """Give the campaigns of the account, with what a worker does for them."""
    return Sending(scene, work)


async def see_states(screen: Screen, *texts: str) -> None:
    """Wait until the legend shows people in states, such as 3Delivered."""
    legend = screen.page.get_by_role("list", name="People by state")
    for text in texts:
        await legend.get_by_role("listitem").filter(has_text=text).wait_for()


async def send_to_all_kinds(scene: Scene, sending: Sending) -> int:
    """Send a campaign to people whose texts arrive, fail, or are answered, and to one who gets none; return its id."""
    await add_people(scene.services, 12)
    await add_contacts(scene.services, scene.account.account_id, list(PEOPLE))
    await CONTACTS.where(phone="+12022000000").change(scene.services, dnd_sms=True)
    id = await sending.draft("Spring", "Hi {first_name}, fresh bread today.")
    await sending.send(id)
    await sending.finish()
    return id


async def test_a_campaign_is_watched_from_its_start_to_its_end(
    windows: Windows, scene: Scene, account: Opened, sending: Sending, pictures: Path
):
    await add_people(scene.services, 40)
    id = await sending.draft()
    screen = await windows.owner(account)
    await screen.open("/campaigns")
    watching = await windows.owner(account)
    await watching.open(f"/campaigns/{id}")
    await sending.send(id)
    await sending.step()
    await see_states(watching, "40Waiting")
    await screen.page.get_by_role("cell", name="0% done").wait_for()
    await sending.step()
    await see_states(watching, "40Accepted")
    await watching.sees("0% done: 40 of 40 texts have not left yet.")
    await watching.check(pictures, "campaign-sending")

    await sending.finish()
    await see_states(watching, "40Delivered")
    await watching.sees("Every text has left, and every report is in.")
    await watching.page.get_by_role("figure", name="Texts by hour").get_by_text("100% of 40 texts").wait_for()
    await watching.sees("Completed")
    assert await states(scene.services) == {"delivered": 40}
    await screen.page.get_by_role("row").filter(has_text="Completed").get_by_role("cell", name="40").first.wait_for()


async def test_a_campaign_is_paused_resumed_and_canceled_with_the_effect_shown(
    windows: Windows, scene: Scene, account: Opened, sending: Sending, pictures: Path
):
    await add_people(scene.services, 250)
    id = await sending.draft()
    await sending.send(id)
    await sending.step()
    await sending.step()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    await screen.press("Pause")
    await screen.sees("Nobody gets a text twice when it goes on.")
    assert await CAMPAIGNS.only(scene.services, "status", "reason") == ("paused", "requested")
    await screen.check(pictures, "campaign-paused")
    await screen.press("Resume")
    await page.get_by_role("button", name="Pause").wait_for()
    assert await CAMPAIGNS.only(scene.services, "status", "reason") == ("sending", "")

    await screen.press("Cancel the campaign")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("250 texts of 250 have not left").wait_for()
    await screen.check(pictures, "campaign-cancel")
    await dialog.get_by_role("button", name="Cancel 250 texts").click()
    await screen.sees("250 people got no text; 0 texts had left.")
    await sending.finish()
    await see_states(screen, "250Canceled")
    assert await states(scene.services) == {"canceled": 250}
    await screen.press("Delete")
    await dialog.get_by_text("with those of 250 people").wait_for()
    await screen.press("Delete Sale")
    await screen.heading("Campaigns").wait_for()
    assert await CAMPAIGNS.where(deleted_at=None).count(scene.services) == 0


async def test_a_pause_names_its_cause_and_a_dearer_campaign_goes_on_for_more(
    windows: Windows, scene: Scene, account: Opened, sending: Sending, pictures: Path
):
    await add_people(scene.services, 5)
    id = await sending.draft()
    await sending.send(id, max_credits=3)
    await sending.step()
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}")
    await screen.sees("It would cost more than was allowed.")
    await screen.press("Resume")
    await screen.check(pictures, "campaign-resume")
    await screen.press("Send for at most 5 credits")
    await screen.page.get_by_role("button", name="Pause").wait_for()
    assert await CAMPAIGNS.only(scene.services, "status", "max_credits") == ("sending", 5)

    await ACCOUNTS.change(scene.services, balance=0)
    await sending.step()
    await screen.sees("It goes on by itself after a top-up.")
    assert await screen.page.get_by_role("link", name="Add credits").first.get_attribute("href") == "/app/billing"


async def test_results_show_states_reasons_groups_and_a_diagnosis(
    windows: Windows, scene: Scene, account: Opened, sending: Sending, pictures: Path
):
    id = await send_to_all_kinds(scene, sending)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    await see_states(screen, "13Delivered", "1Sent", "3Failed")
    reasons = page.get_by_role("list", name="Reasons")
    await reasons.get_by_text("Ask the contact for a mobile number.").first.wait_for()
    await page.get_by_role("region", name="Diagnosis").get_by_text("does not say how to opt out").wait_for()
    await page.get_by_role("link", name="opted out").wait_for()
    await page.get_by_text("Parts", exact=True).click()
    await page.get_by_role("figure", name="Texts by parts of a text").get_by_role("button").click()
    await page.get_by_role("columnheader", name="Failed").wait_for()
    assert "by=segments" in page.url
    await screen.check(pictures, "campaign-results")
    await screen.narrow(f"/campaigns/{id}")
    await see_states(screen, "13Delivered")
    await screen.check(pictures, "campaign-results-narrow")


async def test_figures_lead_to_the_people_concerned(
    windows: Windows, scene: Scene, account: Opened, sending: Sending, pictures: Path
):
    id = await send_to_all_kinds(scene, sending)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}")
    reasons = page.get_by_role("list", name="Reasons")
    await reasons.get_by_role("link", name="Failed: landline").click()
    await screen.heading("Recipients").wait_for()
    await page.get_by_role("cell", name="+1 500-555-0101").first.wait_for()
    assert await page.get_by_role("row").count() == 2
    await page.get_by_role("cell", name=re.compile("^Failed [A-Z][a-z]{2} ")).wait_for()
    await screen.check(pictures, "campaign-recipients")
    await page.get_by_role("link", name="Replied").click()
    await page.get_by_role("cell", name="Replied").wait_for()
    await page.get_by_role("link", name="Left out 1").click()
    await screen.sees("Turn that off for the contact to include it.")
    await page.reload()
    await screen.sees("Turn that off for the contact to include it.")
    await page.go_back()
    await page.get_by_role("cell", name="Replied").wait_for()
    await page.get_by_role("link", name="Spring").click()
    await screen.heading("Spring").wait_for()

    await screen.narrow(f"/campaigns/{id}/recipients?state=failed")
    await screen.page.get_by_role("cell", name="+1 500-555-0101").first.wait_for()
    await screen.check(pictures, "campaign-recipients-narrow")


async def test_many_recipients_are_shown_page_by_page(
    windows: Windows, scene: Scene, account: Opened, sending: Sending
):
    await add_people(scene.services, 60)
    id = await sending.draft()
    await sending.send(id)
    await sending.step()
    screen = await windows.owner(account)
    await screen.open(f"/campaigns/{id}/recipients?state=queued")
    rows = screen.page.get_by_role("region", name="Recipients").get_by_role("row")
    await rows.nth(50).wait_for()
    assert await rows.count() == 51
    await screen.press("Show more")
    await rows.nth(60).wait_for()
    assert await rows.count() == 61
    async with scene.unit() as unit:
        await service.cancel(unit, id)


async def test_another_grouping_shows_its_own_rows_alone_while_its_answer_is_late(
    windows: Windows, scene: Scene, account: Opened, sending: Sending
):
    id = await send_to_all_kinds(scene, sending)
    held, permitted = anyio.Event(), anyio.Event()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/campaigns/{id}?by=number")
    await page.get_by_role("figure", name="Texts by sending number").wait_for()
    await hold_first(page, "CampaignBreakdown", held, permitted)
    await page.get_by_text("Hour", exact=True).click()
    await within("the answer", held.wait())
    await page.get_by_role("status", name="Loading").wait_for()
    permitted.set()
    await page.get_by_role("figure", name="Texts by hour").wait_for()

    assert not screen.complaints
