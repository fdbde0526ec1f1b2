"""Numbers: their health with every deduction, pauses, and connections to carriers."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.onboarding.service import Opened
from tests.browser.screen import Windows, shown
from tests.factories.accounts import USERS
from tests.factories.carriers import CONNECTIONS, add_connection, add_minute
from tests.factories.numbers import PHONE_NUMBERS, add_number
from tests.factories.tables import Rows
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

SECOND = "+12025550199"
RESULTS = {
    "sent": 100,
    "delivered": 80,
    "failed": 20,
    "filtered": 10,
    "unreachable": 10,
    "refused": 0,
    "prompt_opt_outs": 4,
}
DEDUCTIONS = ["−15", "−30", "−20"]
"""A rate ten points too low, one text of ten filtered, and four opt-outs after 80 delivered texts."""


async def add_results(scene: Scene, number: str) -> None:
    """Add the results of a hundred texts that left a number in this hour."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    key = {"account_id": scene.account.account_id, "number": number, "hour": hour}
    place = {"carrier": "sandbox", "region": "1", "segments": 1}
    await Rows("number_hours").insert(scene.services, **key, **place, **RESULTS)


async def test_a_number_shows_each_deduction_and_its_delivery_rate(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await add_number(scene.services, account.account_id, SECOND, "Shop")
    await add_results(scene, SECOND)
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/")
    await page.keyboard.press("g")
    await page.keyboard.press("n")
    await screen.heading("Numbers").wait_for()
    await screen.sees("35 · Poor")
    await screen.check(pictures, "numbers")
    await page.get_by_role("link", name=shown(SECOND)).focus()
    await page.keyboard.press("Enter")
    await screen.heading(shown(SECOND)).wait_for()

    deductions = page.get_by_role("list", name="Deductions")
    await screen.sees("80 of 100 texts were delivered.")
    assert [(await each.text_content() or "")[:3] for each in await deductions.get_by_role("listitem").all()] == (
        DEDUCTIONS
    )
    await screen.sees("Signs found")
    await screen.sees("80% delivered")
    await page.get_by_role("region", name="Delivery").get_by_role("cell", name="sandbox").wait_for()
    await screen.check(pictures, "number")


async def test_a_number_is_renamed_chosen_paused_and_released(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_number(scene.services, account.account_id, SECOND, "Shop")
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/numbers/{id}")
    await screen.fill("Label", "Shop floor")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Saved").first.wait_for()
    await screen.press("Make it the primary")
    await screen.sees("Active, primary")
    await screen.press("Pause")
    await page.get_by_role("button", name="Resume").wait_for()
    row = await PHONE_NUMBERS.where(id=id).only(scene.services, "label", "is_paused", "is_primary")
    assert row == ("Shop floor", True, False)

    await screen.press("Release")
    await screen.press(f"Release {shown(SECOND)}")
    await screen.heading("Numbers").wait_for()
    await page.get_by_role("link", name=shown(SECOND)).wait_for(state="hidden")

    await screen.narrow("/numbers")
    await screen.sees("Too few results")
    await screen.check(pictures, "numbers-narrow")


async def test_a_connection_shows_its_health_and_is_tested_paused_and_removed(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    id = await add_connection(scene.services, "second", name="Second carrier", account_id=account.account_id)
    await add_minute(scene.services, id, "accepted", count=9)
    await add_minute(scene.services, id, "rejected", "landline", carrier_error="30006")
    scene.services.connections.expire()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/numbers")
    await page.get_by_role("cell", name="90%").wait_for()
    await screen.sees("Rejected, landline")
    await screen.press("Test")
    await screen.sees("The carrier accepts it as")
    await screen.check(pictures, "connections")
    await screen.press("Pause")
    await page.get_by_role("button", name="Resume").wait_for()
    assert await CONNECTIONS.where(id=id).only(scene.services, "status") == "paused"

    await screen.press("Connect a carrier")
    await page.get_by_role("combobox", name="Carrier").click()
    await page.get_by_role("option", name="Twilio").click()
    await screen.check(pictures, "connect-carrier")
    await page.keyboard.press("Escape")
    await screen.press("Close without saving")
    await screen.press("Remove")
    await screen.press("Remove Second carrier")
    await screen.sees("Connect your own carrier")

    await screen.narrow(f"/numbers/{await PHONE_NUMBERS.only(scene.services, 'id')}")
    await screen.sees("Nothing is deducted.")
    await screen.check(pictures, "number-narrow")


async def test_a_member_may_change_numbers_and_an_unknown_one_is_not_found(
    windows: Windows, scene: Scene, account: Opened
):
    await USERS.where(email=account.email).change(scene.services, role="member")
    screen = await windows.owner(account)
    await screen.open("/numbers")
    await screen.page.get_by_role("button", name="Connect a carrier").wait_for()
    await screen.go("/numbers/999999999")
    await screen.sees("There is no such number, or it was released.")
