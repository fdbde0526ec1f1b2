"""Retries of deliveries: their times and their end."""

from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from tests.domain.webhooks.receivers import Post, status
from tests.domain.webhooks.stages import Stage
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def next_attempt_at(stage: Stage) -> datetime:
    return await WEBHOOK_DELIVERIES.only(stage.pool, "next_attempt_at")


async def has_attempts(stage: Stage, count: int) -> bool:
    return await WEBHOOK_ATTEMPTS.count(stage.pool) == count and await stage.is_at_rest()


async def test_a_delivery_fails_when_its_schedule_is_used_up(stage: Stage) -> None:
    stage.pace(waits=(0.01, 0.01), breaker_failures=100)
    stage.receiver.respond = status(500)
    subscription = await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: stage.are_all("failed"))
        await until(stage.is_at_rest)

    assert await stage.states() == [("failed", 3)]
    assert [post.attempt for post in stage.receiver.posts] == [1, 2, 3]
    row = await stage.subscription(subscription.id)
    assert (row["wake_at"], row["failures"]) == (None, 3)
    numbers = await WEBHOOK_ATTEMPTS.read(stage.pool, "number", "status", "error")
    assert [tuple(each) for each in numbers] == [(1, 500, ""), (2, 500, ""), (3, 500, "")]


async def test_a_retry_waits_as_long_as_the_schedule_says_and_up_to_a_fifth_longer(stage: Stage) -> None:
    stage.pace(waits=(100,))
    stage.receiver.respond = status(500)
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: has_attempts(stage, 1))

    [at] = await WEBHOOK_ATTEMPTS.read(stage.pool, "attempted_at")
    assert 100 <= (await next_attempt_at(stage) - at).total_seconds() <= 125


@pytest.mark.parametrize("code", [429, 503])
async def test_retry_after_is_honoured(stage: Stage, code: int) -> None:
    stage.pace(waits=(0.01,))
    stage.receiver.respond = status(code, **{"retry-after": "500"})
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: has_attempts(stage, 1))

    assert 490 <= (await next_attempt_at(stage) - stage.services.clock.now()).total_seconds() <= 500


async def test_retry_after_may_be_a_date_and_counts_for_ten_hours_at_most(stage: Stage) -> None:
    stage.pace(waits=(0.01,))
    far = format_datetime(stage.services.clock.now() + timedelta(days=2), usegmt=True)
    stage.receiver.respond = status(429, **{"retry-after": far})
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: has_attempts(stage, 1))

    wait = (await next_attempt_at(stage) - stage.services.clock.now()).total_seconds()
    assert 35_900 <= wait <= 36_000


@pytest.mark.parametrize(("code", "retry_after"), [(429, "1"), (500, "9999"), (429, "soon")])
async def test_retry_after_shortens_no_wait_and_counts_for_no_other_status(
    stage: Stage, code: int, retry_after: str
) -> None:
    stage.pace(waits=(100,))
    stage.receiver.respond = status(code, **{"retry-after": retry_after})
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: has_attempts(stage, 1))

    assert 90 <= (await next_attempt_at(stage) - stage.services.clock.now()).total_seconds() <= 120


async def test_410_removes_the_subscription_at_once_cancels_what_waits_and_is_told_once(stage: Stage) -> None:
    stage.receiver.respond = status(410)
    subscription = await stage.subscribe()
    for contact in range(30):
        await stage.tell("won", contact_id=contact)
    async with stage.at_work():
        await until(lambda: stage.are_all("canceled"))
        await until(stage.is_at_rest)
        await stage.tell("lost")
        await until(lambda: is_dispatched(stage))

    assert (await stage.subscription(subscription.id))["status"] == "removed"
    assert len(stage.receiver.posts) <= 8
    assert await stage.notices() == [("removed", f"{stage.receiver.url}/hook answered 410 Gone and was removed.")]
    assert len(await stage.states()) == 30


async def is_dispatched(stage: Stage) -> bool:
    return not await stage.dispatcher.due()


async def test_410_of_an_address_that_was_changed_meanwhile_removes_nothing(stage: Stage) -> None:
    async def gone(post: Post) -> web.Response:
        await stage.update(subscription.id, target_url=f"{stage.receiver.url}/new")
        stage.receiver.respond = status(200)
        return web.Response(status=410)

    subscription = await stage.subscribe()
    stage.receiver.respond = gone
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: stage.are_all("delivered"))

    assert [post.path for post in stage.receiver.posts] == ["/hook", "/new"]
    assert (await stage.subscription(subscription.id))["status"] == "active"
    assert await stage.notices() == []


async def test_a_subscriber_that_cannot_be_reached_is_tried_again(stage: Stage) -> None:
    stage.pace(breaker_failures=100)
    subscription = await stage.subscribe()
    await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, target_url="http://127.0.0.1:1/")
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: has_some_attempts(stage, 2))
        await stage.update(subscription.id, target_url=f"{stage.receiver.url}/hook")
        await until(lambda: stage.are_all("delivered"))

    first, second, *_ = await WEBHOOK_ATTEMPTS.read(stage.pool, "status", "error")
    assert first == second == (None, "connect")


async def has_some_attempts(stage: Stage, least: int) -> bool:
    return await WEBHOOK_ATTEMPTS.count(stage.pool) >= least
