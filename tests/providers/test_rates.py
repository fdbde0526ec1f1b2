"""Rate limits, counted in Valkey."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from redis.asyncio import Redis

from app.domain.kernel.unit_of_work import Actor
from app.providers import rate_limits
from app.providers.rate_limits import ACCOUNT_SHARE, Policy, Rates, Standing
from app.settings import Settings
from app.telemetry.metrics import RATE_LIMITS
from tests.shared import wait_for_valkey

pytestmark = pytest.mark.anyio

# One request an hour is given back by so little in a second that a slow test counts the same.
SLOW = Policy("requests", 3)
ACCOUNT = 10**9
"""No account of the other tests."""

ONE, OTHER = Actor(ACCOUNT, frozenset(), "key:1"), Actor(ACCOUNT, frozenset(), "key:2")


@pytest.fixture
async def counted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Rates]:
    """Give a counter that has counted nothing, with a window of an hour."""
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 3600)
    assert settings.redis_url
    redis = Redis.from_url(settings.redis_url)
    await redis.flushdb()
    await redis.aclose()
    counted = Rates(settings.redis_url)
    wait_for_valkey(counted)
    yield counted
    await counted.close()


def remaining(standing: Standing | None) -> tuple[int, int]:
    assert standing
    assert standing.wait == 0
    return standing.remaining


async def test_requests_pass_until_the_quota_is_used_up(counted: Rates) -> None:
    passed = [remaining(await counted.take(SLOW, ONE)) for _ in range(3)]

    refused = await counted.take(SLOW, ONE)

    assert passed == [(2, 11), (1, 10), (0, 9)]
    assert refused
    assert 1100 < refused.wait <= 1200


async def test_a_refused_request_does_not_count(counted: Rates) -> None:
    for _ in range(3):
        await counted.take(SLOW, ONE)
    first = await counted.take(SLOW, ONE)

    for _ in range(20):
        await counted.take(SLOW, ONE)

    last = await counted.take(SLOW, ONE)
    assert first
    assert last
    assert 0 < last.wait <= first.wait
    assert remaining(await counted.take(SLOW, OTHER)) == (2, 8)


async def test_each_key_has_its_own_quota_and_all_share_the_accounts(counted: Rates) -> None:
    keys = [Actor(ACCOUNT, frozenset(), f"key:{number}") for number in range(ACCOUNT_SHARE + 1)]
    for key in keys[:-1]:
        for _ in range(3):
            remaining(await counted.take(SLOW, key))

    refused = await counted.take(SLOW, keys[-1])
    elsewhere = await counted.take(SLOW, Actor(ACCOUNT + 1, frozenset(), keys[-1].label))

    assert refused
    assert 0 < refused.wait <= 300
    assert remaining(elsewhere) == (2, 11)


async def test_the_policies_are_counted_apart(counted: Rates) -> None:
    for _ in range(3):
        await counted.take(SLOW, ONE)

    assert remaining(await counted.take(Policy("sends", 2), ONE)) == (1, 7)


async def test_concurrent_requests_are_counted_one_by_one(counted: Rates) -> None:
    standings = await asyncio.gather(*(counted.take(Policy("requests", 100), ONE) for _ in range(150)))

    assert sum(standing is not None and standing.wait == 0 for standing in standings) == 100


async def test_the_quota_comes_back_with_time(counted: Rates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 1)
    once = Policy("requests", 1)
    remaining(await counted.take(once, ONE))

    await asyncio.sleep(1.1)

    assert remaining(await counted.take(once, ONE)) == (0, 3)


async def test_a_limit_of_a_part_of_a_window_comes_back_in_that_part(
    counted: Rates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 3_600_000)
    short = Policy("documents", 10, parts=36)
    for _ in range(10):
        remaining(await counted.take(short, ONE))

    refused = await counted.take(short, ONE)

    assert refused
    assert 9_900 < refused.wait <= 10_000
    assert 99_900 < refused.reset[0] <= 100_000
    assert 24_900 < refused.reset[1] <= 25_000
    assert short.header == '"documents";q=10;w=100000, "documents-account";q=40;w=100000'


async def test_most_requests_under_a_large_quota_do_not_ask_valkey(counted: Rates) -> None:
    large = Policy("requests", 3000)
    first = remaining(await counted.take(large, ONE))

    await counted._redis.flushdb()

    assert [remaining(await counted.take(large, ONE)) for _ in range(3)] == [
        (2998, 11998),
        (2997, 11997),
        (2999, 11999),
    ]
    assert first == (2999, 11999)


async def test_requests_claimed_ahead_are_lost_after_a_tenth_of_the_window(
    counted: Rates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 3_600_000)
    large = Policy("requests", 3000)
    await counted.take(large, ONE)
    [held] = counted._held.values()
    assert held.left == 2

    monkeypatch.setattr(held, "until", 0.0)

    assert remaining(await counted.take(large, ONE)) == (2996, 11996)


async def test_a_claim_that_is_granted_in_part_serves_as_many_as_it_can(
    counted: Rates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 1_000_000)
    large = Policy("requests", 2000)
    passed = 0
    while (standing := await counted.take(large, ONE)) and not standing.wait:
        passed += 1

    assert passed == 2000


def test_the_headers_are_those_of_the_draft() -> None:
    policy = Policy("requests", 600)

    assert policy.header == '"requests";q=600;w=60, "requests-account";q=2400;w=60'
    assert Standing(policy, 0, (599, 2399), (1, 1)).header == '"requests";r=599;t=1, "requests-account";r=2399;t=1'


async def test_while_valkey_is_away_each_process_grants_the_quota_and_no_more() -> None:
    away = Rates("redis://127.0.0.1:1/0")
    away._buckets._clock = lambda: 1000.0

    standings = [await away.take(Policy("requests", 3), ONE) for _ in range(4)]
    dear = await away.take(Policy("sends", 10), ONE, 11)
    other = await away.take(Policy("sends", 10), ONE)

    assert [standing.wait if standing else None for standing in standings] == [None, None, None, 20]
    assert (dear, other.wait if other else None) == (None, 6)
    await away.close()


async def test_requests_that_valkey_does_not_count_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def unchecked() -> float:
        return RATE_LIMITS.labels("requests", "unchecked")._value.get()

    before = unchecked()
    away = Rates("redis://127.0.0.1:1/0")

    assert [await away.take(Policy("requests", 3), ONE) for _ in range(3)] == [None, None, None]
    assert unchecked() == before + 3
    await away.close()
