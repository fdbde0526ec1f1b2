"""Times that are typed, offered and grouped on the clock of the person's profile, in a browser of another zone."""

import subprocess
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from app.domain.onboarding.service import Opened
from tests.browser.chromium import ROOT
from tests.browser.screen import Windows
from tests.browser.test_inbox_team import FIELD, open_thread
from tests.factories.accounts import USERS
from tests.factories.tables import Rows
from tests.graphql.live import Scene
from tests.node import NODE

pytestmark = pytest.mark.anyio

SCHEDULED = Rows("scheduled_texts")
CONVERT = """
const { instantIn, localIn } = await import(process.argv[1]);
const times = process.argv.slice(2).map((each) => each.split(' '));
const back = (zone, time) => Number.isNaN(time.getTime()) ? [null, ''] : [time, localIn(zone, time)];
console.log(JSON.stringify(times.map(([zone, local]) => back(zone, instantIn(zone, local)))));
"""
NEW_YORK, BERLIN, HAVANA, KOLKATA = "America/New_York", "Europe/Berlin", "America/Havana", "Asia/Kolkata"
TIMES = [
    (NEW_YORK, "2026-11-27T09:00", "2026-11-27T14:00", "2026-11-27T09:00"),
    (NEW_YORK, "2026-03-08T01:59", "2026-03-08T06:59", "2026-03-08T01:59"),
    (NEW_YORK, "2026-03-08T02:30", "2026-03-08T07:30", "2026-03-08T03:30"),
    (NEW_YORK, "2026-03-08T03:00", "2026-03-08T07:00", "2026-03-08T03:00"),
    (NEW_YORK, "2026-11-01T01:30", "2026-11-01T05:30", "2026-11-01T01:30"),
    (NEW_YORK, "2026-11-01T02:00", "2026-11-01T07:00", "2026-11-01T02:00"),
    (BERLIN, "2026-03-29T02:30", "2026-03-29T01:30", "2026-03-29T03:30"),
    (BERLIN, "2026-10-25T02:30", "2026-10-25T00:30", "2026-10-25T02:30"),
    (HAVANA, "2026-03-08T00:00", "2026-03-08T05:00", "2026-03-08T01:00"),
    (KOLKATA, "2026-11-27T09:00", "2026-11-27T03:30", "2026-11-27T09:00"),
]
"""A zone, a time on its clock, the instant in UTC, and what the clock of the zone shows then."""


def test_a_time_on_the_clock_of_a_zone_is_an_instant_also_where_the_clock_changes():
    given = [*(f"{zone} {local}" for zone, local, _, _ in TIMES), "Europe/Berlin 2026-02-30T25:00", "Europe/Berlin "]

    module = ROOT / "dashboard" / "src" / "ui" / "zone.ts"
    program = [NODE, "--input-type=module", "--eval", CONVERT, module, *given]
    done = subprocess.run(program, capture_output=True, check=True, timeout=30)

    expected = [[f"{instant}:00.000Z", shown] for _, _, instant, shown in TIMES]
    assert orjson.loads(done.stdout) == [*expected, [None, ""], [None, ""]]


async def test_a_time_is_meant_on_the_clock_of_the_profile(windows: Windows, scene: Scene, account: Opened):
    await USERS.change(scene.services, time_zone="Asia/Tokyo")
    await scene.receive("When do you open?")
    screen = await windows.owner(account)
    await open_thread(screen, "When do you open?")
    await screen.fill(FIELD, "We open at 8.")
    wanted = (datetime.now(UTC) + timedelta(days=2)).replace(hour=0, minute=0, second=0, microsecond=0)
    await screen.press("Send later")
    await screen.page.get_by_role("menuitem", name="At another time…").click()
    await screen.fill("Time", f"{wanted:%Y-%m-%d}T09:00")
    await screen.press("Send at this time")
    await screen.sees("Leaves")
    at = await SCHEDULED.only(scene.services, "send_at")
    await screen.press("Snooze")
    offered = await screen.page.get_by_role("menuitem", name="Tomorrow at 9").get_attribute("title")

    assert at == wanted
    assert offered
    assert "9:00:00" in offered
    assert "T00:00:00.000Z" in offered
