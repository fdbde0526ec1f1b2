"""Texts without an answer, at a carrier that lists its messages only some time after their calls."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Ambiguous, Answer, OutboundMessage
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import after, hand_over, reconcile, through
from tests.factories.messages import OUTGOING, states


class Lagging(SandboxCarrier):
    """A carrier that lists messages two minutes after their calls, answers for none, and takes none in this test."""

    capabilities = replace(SandboxCarrier.capabilities, lists_within=timedelta(minutes=2))

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.calls = 0

    async def send(self, message: OutboundMessage) -> Answer:
        self.calls += 1
        return Ambiguous()


@pytest.fixture
def lagging(pool: Pool) -> Lagging:
    return Lagging(pool)


@pytest.fixture
def waiting(handoff: Handoff, lagging: Lagging) -> Handoff:
    return replace(through(handoff, lagging), pace=replace(handoff.pace, ambiguous_wait=5))


async def calls_after(waiting: Handoff, lagging: Lagging, seconds: float) -> int:
    """Ask for texts some time later, and hand over those that are due then; return the number of all calls."""
    await reconcile(after(waiting, seconds=seconds))
    await hand_over(after(waiting, seconds=seconds + 10))
    return lagging.calls


async def test_a_text_is_not_sent_again_before_its_carrier_would_list_it(
    send: Callable[..., Any], waiting: Handoff, lagging: Lagging, pool: Pool
) -> None:
    await send()
    await hand_over(waiting)

    calls = [await calls_after(waiting, lagging, seconds) for seconds in (15, 30, 60, 110)]
    later = await calls_after(waiting, lagging, 230)

    assert (calls, later) == ([1, 1, 1, 1], 2)
    assert await states(pool) == [("pending", None)]


async def test_a_text_that_was_sent_again_is_not_sent_a_third_time_before_its_carrier_would_list_the_second_call(
    send: Callable[..., Any], waiting: Handoff, lagging: Lagging
) -> None:
    await send()
    await hand_over(waiting)
    second = await calls_after(waiting, lagging, 130)

    calls = [await calls_after(waiting, lagging, seconds) for seconds in (160, 200, 240)]
    third = await calls_after(waiting, lagging, 900)

    assert (second, calls, third) == (2, [2, 2, 2], 3)


async def test_a_text_whose_carrier_may_not_list_its_last_call_is_not_given_up_after_an_hour(
    send: Callable[..., Any], waiting: Handoff, lagging: Lagging, pool: Pool
) -> None:
    await send()
    await hand_over(waiting)
    await calls_after(waiting, lagging, 3500)

    await reconcile(after(waiting, seconds=3620))
    before = await states(pool)
    await reconcile(after(waiting, seconds=4000))

    assert before == [("pending", None)]
    assert await states(pool) == [("failed", "expired")]


@pytest.mark.parametrize("unanswered", [None, timedelta(minutes=10)])
async def test_a_text_whose_worker_died_is_not_sent_again_before_its_carrier_would_list_it(
    send: Callable[..., Any], waiting: Handoff, lagging: Lagging, pool: Pool, unanswered: timedelta | None
) -> None:
    await send()
    now = waiting.clock.now()
    since = now - unanswered if unanswered else None
    await OUTGOING.change(pool, claimed_until=now, unanswered_since=since, attempts=1)

    calls = [await calls_after(waiting, lagging, seconds) for seconds in (1, 30, 60, 110)]
    later = await calls_after(waiting, lagging, 800)

    assert (calls, later) == ([0, 0, 0, 0], 1)
    assert await states(pool) == [("pending", None)]
