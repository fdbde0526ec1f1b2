"""Home: what became of the texts, what needs a person, and what is left to set up."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.browser.screen import NARROW, Screen, Windows
from tests.factories.accounts import ACCOUNTS
from tests.factories.campaigns import NUMBER_HOURS
from tests.factories.webhooks import add_subscription
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

CANVAS = "[...document.querySelectorAll('figure canvas')].every(each => each.closest('[aria-hidden=true]'))"
INK = """() => {
  const canvas = document.querySelector('figure canvas');
  if (!canvas) return false;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some(value => value > 0) && canvas.getBoundingClientRect().width;
}"""


async def add_hour(services: Services, account: Opened, days: int, sent: int, failed: int, replies: int = 0) -> None:
    """Add the texts of one hour, some days ago."""
    await NUMBER_HOURS.insert(
        services,
        account_id=account.account_id,
        number=account.phone_number,
        hour=(datetime.now(UTC) - timedelta(days=days)).replace(minute=0, second=0, microsecond=0),
        carrier="sandbox",
        region="1",
        segments=1,
        sent=sent,
        delivered=sent - failed,
        failed=failed,
        replies=replies,
    )


async def drawn(screen: Screen) -> float:
    """Wait for the drawing of the chart, and return its width."""
    width = await (await screen.page.wait_for_function(INK)).json_value()
    assert await screen.page.evaluate(CANVAS)
    return width


async def test_the_texts_of_a_week_are_a_chart_with_its_finding_and_a_table(
    windows: Windows, services: Services, account: Opened, pictures: Path
):
    for days, sent, failed in ((1, 8, 0), (2, 40, 4), (3, 25, 1), (4, 31, 0), (9, 36, 3), (10, 16, 0)):
        await add_hour(services, account, days, sent, failed, replies=sent // 5)
    screen = await windows.owner(account)
    await screen.open("/")
    await screen.sees("104 texts were sent in the last 7 days, 100% more than in the 7 days before.")
    assert await drawn(screen) > 600
    await screen.check(pictures, "home-chart")

    await screen.press("Failure rate 4.8% before: 5.8%")
    await screen.sees("4.8% of the texts with a final result failed in the last 7 days, 5.8% in the 7 days before.")
    await screen.page.get_by_text("30 days", exact=True).click()
    await screen.sees("5.1% of the texts with a final result failed in the last 30 days.")
    assert screen.page.url.endswith("?period=month&metric=failure_rate")
    await screen.page.reload()
    await screen.press("Sent 156 before: 0")
    await screen.page.get_by_text("Show as table").click()
    await screen.page.get_by_role("cell", name="40", exact=True).wait_for()
    assert await screen.page.get_by_role("row").count() == 31
    await screen.page.get_by_text("Today", exact=True).click()
    await screen.sees("Show as table")
    await drawn(screen)
    await screen.check()

    await screen.narrow("/")
    await screen.sees("104 texts were sent")
    assert 250 < await drawn(screen) < NARROW
    await screen.check(pictures, "home-chart-narrow")
    await screen.page.set_viewport_size({"width": 700, "height": 844})
    await screen.page.wait_for_function(f"() => ({INK})() > 500")


async def test_items_that_need_attention_are_listed_with_links(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    await scene.receive("STOP what time is the showing")
    await ACCOUNTS.where(id=account.account_id).change(scene.services, balance=0)
    failing = {"target_url": "https://example.com/hook", "failing_since": datetime.now(UTC)}
    await add_subscription(scene.services, account.account_id, kind="endpoint", **failing)
    screen = await windows.owner(account)
    await screen.open("/")
    needed = screen.page.get_by_role("region", name="Needs attention")
    await needed.get_by_role("link", name="https://example.com/hook does not accept its events").click()
    await screen.heading("example.com").wait_for()
    await screen.page.go_back()
    await needed.get_by_role("link", name="0 credits left: add credits before texts are refused").wait_for()
    await screen.check(pictures, "home-attention")
    await needed.get_by_role("link", name="1 reply may be an opt-out").click()
    await screen.page.wait_for_url("**/inbox/possible-opt-out")
