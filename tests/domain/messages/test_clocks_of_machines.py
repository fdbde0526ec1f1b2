"""Claims of processes whose machines have wrong clocks."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, Rejected
from app.domain.kernel.clock import Clock, SharedClock
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import Absorbed, reconcile, through
from tests.factories.billing import entries
from tests.factories.clocks import At, Later
from tests.factories.messages import OUTGOING, states
from tests.waiting import within

SECOND = timedelta(seconds=1)


def on_machine(handoff: Handoff, carrier: SandboxCarrier, ahead: timedelta) -> Handoff:
    """Return the hand-off on a machine whose clock is ahead."""
    clock = SharedClock(Later(ahead))
    handoff = replace(through(handoff, carrier), clock=clock)
    handoff.connections.clock = clock
    return handoff


@pytest.mark.parametrize(("of_first", "of_second"), [(0, 60), (-60, 0), (-3600, 3600)])
async def test_a_claim_does_not_end_early_for_a_machine_with_another_clock(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, of_first: int, of_second: int
) -> None:
    await send()
    absorbed = Absorbed(pool)
    first = on_machine(handoff, absorbed, of_first * SECOND)
    second = on_machine(handoff, SandboxCarrier(pool, b"secret", 0, 10), of_second * SECOND)
    await first.run()
    await within("the carrier to be asked", absorbed.asked.wait())
    claimed = await OUTGOING.only(pool, "claimed_until")

    has_lapsed = await second.lapsed()
    await reconcile(second)
    kept = await OUTGOING.only(pool, "claimed_until")
    absorbed.answer.set_result(Rejected(FailureCode.invalid_number))
    await first.finish()

    assert not has_lapsed
    assert kept == claimed
    assert await states(pool) == [("failed", "invalid_number")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


@pytest.mark.parametrize(("wrong", "shown"), [(0.9, 0.9), (-0.9, -0.9), (5, 0), (-5, 0)])
def test_a_clock_follows_the_database_only_where_it_differs_by_more_than_a_second(wrong: float, shown: float) -> None:
    true = Clock().now()
    clock = SharedClock(At(true + wrong * SECOND))

    clock.compare(true, 0 * SECOND)

    assert clock.now() == true + shown * SECOND


def test_a_clock_that_was_set_right_is_followed_again() -> None:
    true = Clock().now()
    system = At(true + 60 * SECOND)
    clock = SharedClock(system)
    clock.compare(true, 0 * SECOND)

    system.instant = true
    clock.compare(true, 0 * SECOND)

    assert clock.now() == true


def test_a_slow_answer_of_the_database_moves_no_clock() -> None:
    true = Clock().now()
    clock = SharedClock(At(true))

    clock.compare(true - 10 * SECOND, 20 * SECOND)

    assert clock.now() == true
