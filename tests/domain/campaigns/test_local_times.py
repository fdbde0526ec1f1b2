"""Campaigns for a time on the clock of each recipient."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.campaigns import previews, service
from app.domain.campaigns.previews import Start
from app.domain.campaigns.runner import CampaignRunner
from app.domain.campaigns.service import Order
from app.domain.kernel.errors import InvalidInput
from app.domain.messages.acceptor import SendAcceptor
from app.graphql.campaigns import read_local_time
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people, audit_counts, states
from tests.factories.clocks import At
from tests.factories.messages import OUTBOUND
from tests.factories.quiet_hours import obey_the_law

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]

WALL = datetime.fromisoformat
TEN = WALL("2030-01-15T10:00")
DAY_BEFORE = datetime(2030, 1, 14, 12, tzinfo=UTC)
NEW_YORK, DENVER, LOS_ANGELES = (TEN.replace(hour=hour, tzinfo=UTC) for hour in (15, 17, 18))
AT_TEN = Order(consent_attested=True, local_at=TEN)


@pytest.fixture
def clock() -> At:
    """Provide the clock of the caller and of the runner, a day before the time of the texts."""
    return At(DAY_BEFORE)


@pytest.fixture
def schedule(make: Make, act: Act, clock: At) -> Callable[[Order], Awaitable[int]]:
    """Provide a function that sends a campaign by the clock."""

    async def schedule(order: Order) -> int:
        campaign = await make(body="Hi")
        async with act() as unit:
            unit.clock = clock
            return (await service.send(unit, campaign.id, order)).id

    return schedule


@pytest.fixture
def work_at(services: Services, runner: CampaignRunner, clock: At) -> Callable[[datetime], Awaitable[int]]:
    """Provide a function that takes steps at a time until none is due, and returns the number of texts then."""
    acceptor = SendAcceptor(services.database.pool, clock, services.notify, services.connections)
    runner = replace(runner, clock=clock, acceptor=acceptor)

    async def work_at(instant: datetime) -> int:
        clock.instant = instant
        for _ in range(5):
            await runner.run()
            await CAMPAIGNS.where(status="sending").change(runner.database.pool, due_at=clock.instant)
        return await OUTBOUND.count(runner.database.pool)

    return work_at


async def test_each_recipient_is_texted_when_the_clock_there_shows_the_time(
    pool: Pool, add: Add, schedule: Callable[[Order], Awaitable[int]], work_at: Callable[[datetime], Awaitable[int]]
) -> None:
    await add("+12025550140")
    await add("+14155550141")
    await add("+12025550142", time_zone="America/Denver")
    await schedule(AT_TEN)
    scheduled = await CAMPAIGNS.only(pool, "status", "scheduled_at", "local_at")

    early = await work_at(datetime(2030, 1, 14, 19, 59, tzinfo=UTC)), await CAMPAIGN_RECIPIENTS.count(pool)
    started = await work_at(datetime(2030, 1, 14, 20, tzinfo=UTC)), await states(pool)
    due = await CAMPAIGN_RECIPIENTS.read(pool, "phone", "due_at")
    minute = timedelta(minutes=1)
    counts = [await work_at(at) for at in (NEW_YORK - minute, NEW_YORK, DENVER - minute, DENVER, LOS_ANGELES)]

    assert scheduled == ("scheduled", datetime(2030, 1, 14, 20, tzinfo=UTC), TEN)
    assert (early, started) == ((0, 0), (0, {"deferred": 3}))
    assert dict(due) == {"+12025550140": NEW_YORK, "+12025550142": DENVER, "+14155550141": LOS_ANGELES}
    assert counts == [0, 1, 1, 2, 3]
    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "due_at") == [("claimed", None)] * 3
    await audit_counts(pool)


async def test_a_campaign_looks_again_when_its_next_text_is_due(
    pool: Pool, add: Add, schedule: Callable[[Order], Awaitable[int]], runner: CampaignRunner, clock: At
) -> None:
    await add("+12025550140")
    await schedule(AT_TEN)
    clock.instant = NEW_YORK - timedelta(hours=3)

    for _ in range(3):
        await replace(runner, clock=clock).run()

    assert await CAMPAIGNS.only(pool, "status", "due_at") == ("sending", NEW_YORK)


async def test_a_text_is_due_at_once_where_the_time_is_past_and_obeys_quiet_hours(
    pool: Pool, add: Add, schedule: Callable[[Order], Awaitable[int]], work_at: Callable[[datetime], Awaitable[int]]
) -> None:
    await obey_the_law(pool)
    await add("+12025550140", time_zone="Asia/Tokyo")
    await add("+12025550141", time_zone="America/Denver")
    night = Order(consent_attested=True, local_at=TEN.replace(hour=23))
    await schedule(night)

    assert await work_at(TEN.replace(hour=20, tzinfo=UTC)) == 1
    assert await work_at(datetime(2030, 1, 16, 6, tzinfo=UTC)) == 2

    opened = dict(await OUTBOUND.read(pool, "to_number", "deferred_until"))
    assert datetime(2030, 1, 15, 23, tzinfo=UTC) <= opened["+12025550140"] < datetime(2030, 1, 15, 23, 20, tzinfo=UTC)
    assert datetime(2030, 1, 16, 15, tzinfo=UTC) <= opened["+12025550141"] < datetime(2030, 1, 16, 15, 20, tzinfo=UTC)


async def test_a_preview_shows_when_the_texts_for_a_local_time_leave(
    pool: Pool, add: Add, make: Make, act: Act, clock: At
) -> None:
    await obey_the_law(pool)
    await add("+12025550140")
    await add("+12025550141", time_zone="America/Denver")
    campaign = await make()

    async with act() as unit:
        unit.clock = clock
        at_ten = await previews.preview(unit, pool, campaign.id, 10, Start(local_at=TEN))
        at_night = await previews.preview(unit, pool, campaign.id, 10, Start(local_at=TEN.replace(hour=22)))

    assert [each.opens_at for each in at_ten.zones] == [DENVER, NEW_YORK]
    assert [each.opens_at for each in at_night.zones] == [
        datetime(2030, 1, 16, 15, tzinfo=UTC),
        datetime(2030, 1, 16, 13, tzinfo=UTC),
    ]


async def test_texts_that_wait_for_their_local_time_are_canceled_at_no_cost(
    pool: Pool,
    schedule: Callable[[Order], Awaitable[int]],
    work_at: Callable[[datetime], Awaitable[int]],
    act: Act,
    run: Run,
) -> None:
    await add_people(pool, 3)
    campaign_id = await schedule(AT_TEN)
    await work_at(NEW_YORK - timedelta(hours=3))

    async with act() as unit:
        done = await service.cancel(unit, campaign_id)
    await CAMPAIGNS.change(pool, due_at=datetime(2026, 1, 1, tzinfo=UTC))
    await run()

    assert (done.canceled, done.left, done.in_flight) == (3, 0, 0)
    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "credits", "due_at") == [("canceled", 0, None)] * 3
    assert await OUTBOUND.count(pool) == 0
    await audit_counts(pool)


async def test_a_campaign_without_credits_for_its_next_deferred_text_stays_paused(
    pool: Pool,
    schedule: Callable[[Order], Awaitable[int]],
    work_at: Callable[[datetime], Awaitable[int]],
    act: Act,
) -> None:
    await add_people(pool, 2)
    await schedule(AT_TEN)
    async with act() as unit:
        await billing.grant(unit, -1000, "taken")

    await work_at(NEW_YORK)
    for _ in range(2):
        await CAMPAIGNS.change(pool, due_at=NEW_YORK)
        assert await work_at(NEW_YORK) == 0

        assert await CAMPAIGNS.only(pool, "status", "reason") == ("paused", "insufficient_credits")


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (Order(consent_attested=True, local_at=WALL("2030-01-14")), "local_at"),
        (Order(consent_attested=True, local_at=WALL("2031-01-16")), "local_at"),
        (Order(consent_attested=True, local_at=WALL("0001-01-01")), "local_at"),
        (Order(consent_attested=True, local_at=TEN, at=NEW_YORK), "at"),
    ],
)
async def test_a_local_time_that_is_past_everywhere_or_too_far_is_refused(
    pool: Pool, schedule: Callable[[Order], Awaitable[int]], order: Order, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await schedule(order)

    assert refused.value.field == field
    assert await CAMPAIGNS.only(pool, "status", "local_at") == ("draft", None)


@pytest.mark.parametrize("written", ["", "ten", "2026-11-27T10:00Z", "2026-11-27T10:00+02:00", "10:00"])
def test_a_local_time_is_a_date_and_a_time_without_a_zone(written: str) -> None:
    with pytest.raises(InvalidInput, match="without a zone"):
        read_local_time(written)

    assert read_local_time("2026-11-27T10:00") == WALL("2026-11-27T10:00")
