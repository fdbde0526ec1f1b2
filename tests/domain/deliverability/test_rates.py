"""Delivery rates and the health of numbers, from results that are summed up as they come."""

import operator
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode
from app.domain.deliverability import health, rates
from app.domain.deliverability.health import Figures, HealthState, ProblemCode, judge, state_of
from app.domain.deliverability.rates import RateGroup, wilson
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.messages import outcome
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.domain.conftest import NOON, SetClock
from tests.factories.campaigns import NUMBER_HOURS, add_people
from tests.factories.messages import MESSAGES, OUTBOUND, OUTGOING

pytestmark = pytest.mark.anyio

NOW = datetime.now(UTC)


async def sums(pool: Pool, keys: Sequence[str], counts: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the sums of counts by keys, because an hour may end during a test."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in await NUMBER_HOURS.read(pool, *keys, *counts):
        key, added = tuple(row)[: len(keys)], tuple(row)[len(keys) :]
        found[key] = list(map(operator.add, found.get(key, [0] * len(counts)), added))
    return sorted((*key, *summed) for key, summed in found.items())


def test_the_bounds_of_a_rate_are_those_of_wilson() -> None:
    found = wilson(81, 263)

    assert (round(found.lower, 4), round(found.upper, 4)) == (0.2553, 0.3662)
    assert wilson(0, 0) == rates.Interval(0.0, 1.0)
    assert round(wilson(10, 10).upper, 9) == 1.0


async def test_results_are_summed_up_by_number_hour_destination_and_parts(
    pool: Pool, account: Opened, act: Act, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add_people(pool, 3)
    await send()
    await run()
    await text("STOP", "+12022000000")
    await text("Great, thanks!", "+12022000001")
    await run()

    rows = await sums(
        pool,
        ["number", "carrier", "region", "segments"],
        ["sent", "delivered", "failed", "replies", "opt_outs"],
    )
    async with act() as unit:
        [rate] = await rates.find_rates(unit, 30)
        [by_number] = await rates.find_rates(unit, 30, RateGroup.number)
        found = await health.check(unit, account.phone_number_id)

    number = account.phone_number
    assert rows == [
        (number, "", "", 0, 0, 0, 0, 2, 1),
        (number, "sandbox", "1", 1, 4, 4, 0, 0, 0),
    ]
    assert (rate.delivered, rate.rate, rate.is_low_sample) == (4, 1.0, True)
    assert (found.recent.looked_at, found.recent.repeated) == (3, 1)
    assert by_number.key == number
    assert (found.score, found.state) == (100, HealthState.unknown)


@pytest.mark.parametrize(
    ("taken", "failed"), [({"sent_at": None}, 0), ({"provider_message_id": "77"}, 1), ({"sent_at": NOW}, 1)]
)
async def test_a_text_whose_time_was_over_before_a_carrier_took_it_counts_nowhere(
    services: Services, act: Act, add: Callable[..., Any], run: Run, taken: dict[str, Any], failed: int
) -> None:
    await add("+12025550143")
    wish = Send("+12025550143", "Hello", consent_attested=True)
    async with act() as unit:
        actor = unit.actor
    id = (await services.acceptor.accept(actor, wish)).message_id
    await OUTGOING.delete(services)
    await MESSAGES.where(id=id).change(services, **taken)
    async with act() as unit:
        assert await outcome.fail(unit, id, FailureCode.expired)
    await run()

    async with act() as unit:
        [rate] = await rates.find_rates(unit, 30)

    assert rate.failed == failed


async def test_an_opt_out_counts_against_its_number_within_24_hours_after_a_text(
    pool: Pool, account: Opened, act: Act, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add_people(pool, 2)
    await send()
    await run()
    await OUTBOUND.where(to_number="+12022000001").change(pool, sent_at=datetime.now(UTC) - timedelta(hours=25))
    await text("STOP", "+12022000000")
    await text("STOP", "+12022000001")
    await run()

    async with act() as unit:
        found = await health.check(unit, account.phone_number_id)

    assert await sums(pool, ["carrier"], ["opt_outs", "prompt_opt_outs"]) == [("", 2, 1), ("sandbox", 0, 0)]
    assert found.recent.opt_outs == 1


async def test_a_day_of_a_number_is_compared_with_the_median_of_its_days_before(
    pool: Pool, account: Opened, act: Act
) -> None:
    places = {"number": account.phone_number, "region": "1", "segments": 1, "account_id": account.account_id}
    today = NOON.replace(hour=0)
    sent = {(1, 0): 40, (7, 0): 150, (7, 23): 151, (8, 23): 50, (9, 0): 100, (10, 0): 100, (12, 0): 100, (13, 0): 5000}
    for (days, hour), texts in sent.items():
        at = today - timedelta(days=days) + timedelta(hours=hour)
        await NUMBER_HOURS.insert(pool, **places, hour=at, carrier="sandbox", sent=texts)

    async with act() as unit:
        unit.clock = SetClock(NOON)
        found = await health.check(unit, account.phone_number_id)

    assert [each.text for each in found.deductions] == [
        "301 texts on one of the last 7 days, after 100 on a usual day before."
    ]


async def test_an_unknown_number_and_a_wrong_period_are_refused(services: Services, act: Act) -> None:
    async with act() as unit:
        with pytest.raises(NotFound):
            await health.check(unit, 99)
        with pytest.raises(NotFound):
            await rates.find_rates(unit, 30, phone_number_id=99)
        with pytest.raises(InvalidInput):
            await rates.find_rates(unit, 0)


GOOD = Figures(sent=1000, delivered=980, failed=20, replies=20, opt_outs=5)
USUAL = Figures(sent=4000, delivered=3920, failed=80)


@pytest.mark.parametrize(
    ("recent", "before", "codes", "state"),
    [
        (GOOD, USUAL, [], HealthState.good),
        (Figures(sent=20, delivered=10, failed=10), USUAL, [], HealthState.unknown),
        (
            Figures(sent=1000, delivered=800, failed=200),
            USUAL,
            [ProblemCode.low_delivery_rate, ProblemCode.delivery_rate_dropped],
            HealthState.watch,
        ),
        (
            Figures(sent=1000, delivered=900, failed=100, filtered=80),
            Figures(),
            [ProblemCode.filtered],
            HealthState.watch,
        ),
        (Figures(sent=1000, delivered=990, failed=10, opt_outs=30), USUAL, [ProblemCode.opt_outs], HealthState.good),
        (Figures(sent=10, refused=60), Figures(), [ProblemCode.sender_refused], HealthState.watch),
        (
            Figures(sent=1000, delivered=1000, busiest_day=301),
            Figures(sent=2800, delivered=2800, median_day=100),
            [ProblemCode.volume_jump],
            HealthState.good,
        ),
        (
            Figures(sent=1000, delivered=1000, replies=20),
            Figures(sent=4000, delivered=4000, replies=400),
            [ProblemCode.reply_rate_dropped],
            HealthState.good,
        ),
        (Figures(busiest_day=300), Figures(median_day=100), [], HealthState.unknown),
        (Figures(busiest_day=29), Figures(median_day=1), [], HealthState.unknown),
        (Figures(busiest_day=1000), Figures(), [], HealthState.unknown),
        (Figures(sent=40, delivered=40, replies=1), Figures(sent=400, delivered=400, replies=22), [], HealthState.good),
        (Figures(delivered=100, looked_at=100, repeated=81), Figures(), [ProblemCode.repeated_text], HealthState.good),
        (Figures(delivered=100, looked_at=100, repeated=80), Figures(), [], HealthState.good),
        (Figures(delivered=99, looked_at=99, repeated=99), Figures(), [], HealthState.good),
    ],
)
def test_each_deduction_has_its_cause(
    recent: Figures, before: Figures, codes: list[ProblemCode], state: HealthState
) -> None:
    found = judge(recent, before)

    assert [each.code for each in found] == codes
    assert state_of(100 - sum(each.points for each in found), recent) == state
