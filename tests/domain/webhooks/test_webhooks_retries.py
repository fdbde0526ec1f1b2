"""Retries of deliveries: their times and their end."""

from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post, status
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def next_attempt_at(harness: Harness) -> datetime:
    return await WEBHOOK_DELIVERIES.only(harness.pool, "next_attempt_at")


async def has_attempts(harness: Harness, count: int) -> bool:
    return await WEBHOOK_ATTEMPTS.count(harness.pool) == count and await harness.is_at_rest()


async def test_a_delivery_fails_when_its_schedule_is_used_up(harness: Harness) -> None:
    harness.pace(waits=(0.01, 0.01), breaker_failures=100)
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: harness.are_all("failed"))
        await until(harness.is_at_rest)

    assert await harness.states() == [("failed", 3)]
    assert [post.attempt for post in harness.receiver.posts] == [1, 2, 3]
    row = await harness.subscription(subscription.id)
    assert (row["wake_at"], row["failures"]) == (None, 3)
    numbers = await WEBHOOK_ATTEMPTS.read(harness.pool, "number", "status", "error")
    assert [tuple(each) for each in numbers] == [(1, 500, ""), (2, 500, ""), (3, 500, "")]


async def test_a_retry_waits_as_long_as_the_schedule_says_and_up_to_a_fifth_longer(harness: Harness) -> None:
    harness.pace(waits=(100,))
    harness.receiver.respond = status(500)
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_attempts(harness, 1))

    [at] = await WEBHOOK_ATTEMPTS.read(harness.pool, "attempted_at")
    assert 100 <= (await next_attempt_at(harness) - at).total_seconds() <= 125


@pytest.mark.parametrize("code", [429, 503])
async def test_retry_after_is_honoured(harness: Harness, code: int) -> None:
    harness.pace(waits=(0.01,))
    harness.receiver.respond = status(code, **{"retry-after": "500"})
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_attempts(harness, 1))

    [at] = await WEBHOOK_ATTEMPTS.read(harness.pool, "attempted_at")
    assert 500 <= (await next_attempt_at(harness) - at).total_seconds() <= 560


async def test_retry_after_may_be_a_date_and_counts_for_ten_hours_at_most(harness: Harness) -> None:
    harness.pace(waits=(0.01,))
    far = format_datetime(harness.services.clock.now() + timedelta(days=2), usegmt=True)
    harness.receiver.respond = status(429, **{"retry-after": far})
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_attempts(harness, 1))

    wait = (await next_attempt_at(harness) - harness.services.clock.now()).total_seconds()
    assert 35_900 <= wait <= 36_000


@pytest.mark.parametrize(("code", "retry_after"), [(429, "1"), (500, "9999"), (429, "soon")])
async def test_retry_after_shortens_no_wait_and_counts_for_no_other_status(
    harness: Harness, code: int, retry_after: str
) -> None:
    harness.pace(waits=(100,))
    harness.receiver.respond = status(code, **{"retry-after": retry_after})
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_attempts(harness, 1))

    [at] = await WEBHOOK_ATTEMPTS.read(harness.pool, "attempted_at")
    assert 100 <= (await next_attempt_at(harness) - at).total_seconds() <= 150


async def test_410_removes_the_subscription_cancels_waiting_deliveries_and_is_reported_once(harness: Harness) -> None:
    harness.receiver.respond = status(410)
    subscription = await harness.subscribe()
    for contact in range(30):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await until(lambda: harness.are_all("canceled"))
        await until(harness.is_at_rest)
        await harness.tell("lost")
        await until(lambda: is_dispatched(harness))

    assert (await harness.subscription(subscription.id))["status"] == "removed"
    assert len(harness.receiver.posts) <= 8
    assert await harness.notices() == [("removed", f"{harness.receiver.url}/hook answered 410 Gone and was removed.")]
    assert len(await harness.states()) == 30


async def is_dispatched(harness: Harness) -> bool:
    return not await harness.dispatcher.due()


async def test_410_of_a_former_address_does_not_remove_the_subscription(harness: Harness) -> None:
    async def gone(post: Post) -> web.Response:
        await harness.update(subscription.id, target_url=f"{harness.receiver.url}/new")
        harness.receiver.respond = status(200)
        return web.Response(status=410)

    subscription = await harness.subscribe()
    harness.receiver.respond = gone
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: harness.are_all("delivered"))

    assert [post.path for post in harness.receiver.posts] == ["/hook", "/new"]
    assert (await harness.subscription(subscription.id))["status"] == "active"
    assert await harness.notices() == []


async def test_a_subscriber_that_cannot_be_reached_is_tried_again(harness: Harness) -> None:
    harness.pace(breaker_failures=100)
    subscription = await harness.subscribe()
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, target_url="http://127.0.0.1:1/")
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_some_attempts(harness, 2))
        await harness.update(subscription.id, target_url=f"{harness.receiver.url}/hook")
        await until(lambda: harness.are_all("delivered"))

    first, second, *_ = await WEBHOOK_ATTEMPTS.read(harness.pool, "status", "error")
    assert first == second == (None, "connect")


async def has_some_attempts(harness: Harness, least: int) -> bool:
    return await WEBHOOK_ATTEMPTS.count(harness.pool) >= least
