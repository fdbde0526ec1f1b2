"""Dear requests under a rate limit, which count as several; and refusals, which come late."""

import asyncio
import time
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest

from app.domain.kernel.unit_of_work import Actor
from app.providers import rate_limits
from app.providers.rate_limits import Policy, Rates
from app.settings import Settings
from tests.shared import wait_for_valkey

pytestmark = pytest.mark.anyio

ONE, OTHER = Actor(10**9, frozenset(), "key:1"), Actor(10**9, frozenset(), "key:2")


@pytest.fixture
async def counted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Rates]:
    """Give a counter whose quotas come back in weeks."""
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 1_000_000)
    assert settings.redis_url
    counted = Rates(settings.redis_url)
    wait_for_valkey(counted)
    yield counted
    await counted.close()


def policy(quota: int) -> Policy:
    return Policy(f"units-{uuid4()}", quota)


async def left(counted: Rates, policy: Policy, actor: Actor, units: int) -> tuple[int, int] | None:
    """Count a request; return what is left, or None where it is refused."""
    standing = await counted.take(policy, actor, units)
    assert standing
    return None if standing.wait else standing.remaining


async def test_a_dear_request_counts_as_several(counted: Rates) -> None:
    large = policy(100)

    assert await left(counted, large, ONE, 30) == (70, 370)
    assert await left(counted, large, ONE, 1) == (69, 369)
    assert await left(counted, large, OTHER, 30) == (70, 339)


async def test_a_request_that_costs_more_than_the_remaining_units_takes_none(counted: Rates) -> None:
    large = policy(100)
    await counted.take(large, ONE, 60)

    refused = await counted.take(large, ONE, 60)

    assert refused
    assert refused.wait == 200_000  # until twenty more units have come back
    assert await left(counted, large, ONE, 40) == (0, 300)


async def test_a_request_dearer_than_the_quota_takes_all_of_it(counted: Rates) -> None:
    small = policy(3)

    assert await left(counted, small, ONE, 50) == (0, 9)
    assert await left(counted, small, ONE, 1) is None


async def test_dear_requests_that_arrive_together_are_counted_one_by_one(counted: Rates) -> None:
    large = policy(100)

    granted = await asyncio.gather(*(left(counted, large, ONE, 30) for _ in range(5)))

    assert sorted(each for each in granted if each) == [(10, 310), (40, 340), (70, 370)]
    assert await left(counted, large, ONE, 10) == (0, 300)


async def test_units_claimed_ahead_serve_expensive_requests_too(counted: Rates) -> None:
    large = policy(20_000)

    assert await left(counted, large, ONE, 1) == (19_999, 79_999)
    assert await left(counted, large, ONE, 10) == (19_989, 79_989)
    assert await left(counted, large, ONE, 100) == (19_889, 79_889)
    assert await left(counted, large, ONE, 1) == (19_888, 79_888)


async def test_a_refusal_comes_late(counted: Rates) -> None:
    small = policy(1)
    await counted.take(small, ONE)
    begun = time.monotonic()

    await counted.take(small, ONE)

    # A timer of the loop may end early by the resolution of its clock.
    assert time.monotonic() - begun >= 0.9 * rate_limits.REFUSAL_SECONDS


async def test_only_so_many_refusals_are_held_back(counted: Rates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "REFUSAL_SECONDS", 60)
    monkeypatch.setattr(rate_limits, "MAX_DELAYED", 2)
    small = policy(1)
    await counted.take(small, ONE)

    waiting = [asyncio.create_task(counted.take(small, ONE)) for _ in range(3)]
    done, held = await asyncio.wait(waiting, timeout=30, return_when=asyncio.FIRST_COMPLETED)

    assert (len(done), len(held)) == (1, 2)
    for task in held:
        task.cancel()
