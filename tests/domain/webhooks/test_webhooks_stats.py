"""The figures of a webhook: how many of its last attempts succeeded, and how long their answers took."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import Engine, event

from app.domain.accounts.scopes import ALL
from app.domain.kernel import retention
from app.domain.kernel.clock import Clock
from app.domain.webhooks import service, stats
from app.domain.webhooks.poster import Reply
from app.domain.webhooks.retention import make_rules
from app.domain.webhooks.stats import AttemptCounts, WebhookStats
from tests.domain.conftest import NOON
from tests.domain.webhooks.endpoints import has
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.accounts import API_KEYS
from tests.factories.clocks import At
from tests.factories.traps import locked, until_blocked
from tests.factories.webhooks import WEBHOOK_HOURS, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def figures(harness: Harness, id: int, clock: Clock | None = None) -> WebhookStats:
    async with harness.act() as unit:
        unit.clock = clock or unit.clock
        return (await stats.find_stats(unit, [id]))[id]


async def count(harness: Harness, id: int, *replies: Reply, clock: Clock | None = None) -> None:
    counts = AttemptCounts(harness.pool, clock or harness.services.clock)
    for reply in replies:
        counts.note(id, reply)
    await counts.close()


async def test_each_attempt_counts_once_and_a_test_does_not(harness: Harness) -> None:
    harness.pace(waits=(), breaker_failures=100)
    subscription = await harness.subscribe()
    async with harness.at_work():
        await harness.tell("contacted", "won")
        await until(lambda: has(harness, "delivered", 2))
        harness.receiver.respond = status(503)
        await harness.tell("lost")
        async with harness.act() as unit:
            await service.send_test(unit, subscription.id)
        await until(lambda: has(harness, "failed", 2))

    found = await figures(harness, subscription.id)

    assert (found.attempts, found.successes, found.success_share) == (3, 2, 2 / 3)
    assert found.p95_seconds is not None


async def test_a_webhook_without_attempts_has_no_share_and_no_time(harness: Harness) -> None:
    subscription = await harness.subscribe()

    found = await figures(harness, subscription.id)

    assert (found.attempts, found.success_share, found.p95_seconds) == (0, None, None)


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 0.001, 0.0012, 0.31, 0.999, 14.9])
def test_an_answer_time_is_known_to_within_a_fifth(seconds: float) -> None:
    shown = stats.longest(stats.bucket_of(Reply(200, duration=seconds)))

    assert max(seconds, 0.001) <= shown * 1.000001
    assert shown <= max(seconds, 0.001) * stats.GROWTH * 1.000001


async def test_the_time_is_that_of_the_answers_without_the_slowest_twentieth(harness: Harness) -> None:
    id = (await harness.subscribe()).id
    quick, slow, silent = Reply(200, duration=0.1), Reply(500, duration=10), Reply(error="timeout", duration=15)

    await count(harness, id, *[quick] * 95, *[slow] * 5, *[silent] * 100)
    found = await figures(harness, id)
    await count(harness, id, slow, slow)
    slower = await figures(harness, id)

    assert (found.attempts, found.successes, found.success_share) == (200, 95, 0.475)
    assert found.p95_seconds == stats.longest(stats.bucket_of(quick))
    assert slower.p95_seconds == stats.longest(stats.bucket_of(slow))


async def test_processes_add_to_the_same_counts_and_those_of_a_deleted_webhook_are_dropped(harness: Harness) -> None:
    id = (await harness.subscribe()).id

    await count(harness, id, Reply(200), clock=At(NOON))
    await count(harness, id, Reply(200), Reply(500), clock=At(NOON))
    await count(harness, id + 1, Reply(200), clock=At(NOON))

    assert await WEBHOOK_HOURS.read(harness.pool, "subscription_id", "attempts", "successes") == [(id, 3, 2)]


async def test_the_counts_of_a_webhook_that_is_being_deleted_wait_for_it_and_are_dropped(harness: Harness) -> None:
    gone, kept = (await harness.subscribe("/1")).id, (await harness.subscribe("/2")).id
    counts = AttemptCounts(harness.pool, harness.services.clock)
    for id in (gone, kept):
        counts.note(id, Reply(200))

    async with locked(harness.pool, WEBHOOK_SUBSCRIPTIONS.where(id=gone)) as deleting:
        adding = asyncio.create_task(counts.flush())
        await until_blocked(harness.pool)
        await WEBHOOK_SUBSCRIPTIONS.where(id=gone).delete(deleting)
    await adding

    assert await WEBHOOK_HOURS.read(harness.pool, "subscription_id", "attempts") == [(kept, 1)]


async def test_attempts_of_a_day_ago_are_left_out_and_deleted_on_the_next_day(harness: Harness) -> None:
    id = (await harness.subscribe()).id
    for hours in (stats.HOURS - 1, stats.HOURS, 49):
        await count(harness, id, Reply(200), clock=At(NOON - timedelta(hours=hours)))

    found = await figures(harness, id, At(NOON))
    await retention.apply(make_rules(timedelta(90)), harness.pool, NOON)

    assert found.attempts == 1
    assert await WEBHOOK_HOURS.count(harness.pool) == 2


async def test_a_list_of_webhooks_shows_the_figures_of_each_by_one_statement(
    harness: Harness, api: httpx2.AsyncClient
) -> None:
    await API_KEYS.change(harness.pool, scopes=sorted(ALL))
    webhooks = [await harness.subscribe(f"/{number}") for number in range(3)]
    await count(harness, webhooks[1].id, Reply(200), Reply(error="dns"))
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    query = "{ webhooks { stats { attempts successes success_share p95_seconds } } }"
    shown = (await api.post("/graphql", json={"query": query})).json()["data"]["webhooks"]
    event.remove(Engine, "before_cursor_execute", note)

    none = {"attempts": 0, "successes": 0, "success_share": None, "p95_seconds": None}
    half = {"attempts": 2, "successes": 1, "success_share": 0.5, "p95_seconds": 0.001}
    assert [each["stats"] for each in shown] == [none, half, none]
    assert sum("webhook_hours" in statement for statement in found) == 1
