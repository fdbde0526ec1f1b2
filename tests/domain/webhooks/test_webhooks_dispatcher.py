"""From events to deliveries."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.accounts.scopes import ALL
from app.domain.events import dispatcher as dispatching
from app.domain.events import pauses
from app.domain.events.erasure import hold_dispatch
from app.domain.events.reactions import Batch
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.domain.webhooks import service
from app.domain.webhooks.reactions import fan_out
from tests.conftest import unit_of
from tests.domain.webhooks.harness import EVENT, Harness
from tests.factories.accounts import ACCOUNTS
from tests.factories.events import EVENTS, OUTBOX, record
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until, within

DELIVERIES = """
SELECT subscription_id, payload ->> 'new_stage', status FROM webhook_deliveries d JOIN events e ON e.id = event_id
ORDER BY d.id
"""


async def deliveries(pool: Pool) -> list[tuple[int, str, str]]:
    stages = {id: payload["new_stage"] for id, payload in await EVENTS.read(pool, "id", "payload")}
    made = await WEBHOOK_DELIVERIES.read(pool, "subscription_id", "event_id", "status")
    return [(subscription, stages[event], status) for subscription, event, status in made if event in stages]


async def wake_at(pool: Pool, id: int) -> datetime | None:
    return await WEBHOOK_SUBSCRIPTIONS.where(id=id).only(pool, "wake_at")


async def test_each_event_becomes_one_delivery_for_each_subscription_in_order(harness: Harness) -> None:
    first, second, _ = (
        await harness.subscribe(),
        await harness.subscribe(),
        await harness.subscribe(event="new_contact"),
    )
    await harness.tell("contacted", "qualified")
    await harness.tell("won")

    await harness.dispatcher.run()
    await harness.dispatcher.run()

    assert await deliveries(harness.pool) == [
        (subscription.id, stage, "pending")
        for stage in ("contacted", "qualified", "won")
        for subscription in (first, second)
    ]
    assert not await harness.dispatcher.due()


async def test_dispatchers_side_by_side_dispatch_each_event_once(harness: Harness) -> None:
    subscription = await harness.subscribe()
    stages = [f"stage {number}" for number in range(20)]
    await harness.tell(*stages)

    await asyncio.gather(*(harness.dispatcher.run() for _ in range(4)))

    assert await deliveries(harness.pool) == [(subscription.id, stage, "pending") for stage in stages]


async def test_a_full_batch_says_that_there_may_be_more(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell(*["won"] * (dispatching.BATCH + 1))

    more = [await harness.dispatcher.run(), await harness.dispatcher.run()]

    assert more == [True, False]
    assert len(await deliveries(harness.pool)) == dispatching.BATCH + 1


async def test_a_subscription_receives_only_events_recorded_after_it(harness: Harness) -> None:
    await harness.tell("before")
    subscription = await harness.subscribe()
    await harness.tell("after")

    await harness.dispatcher.run()

    assert await deliveries(harness.pool) == [(subscription.id, "after", "pending")]


async def test_no_account_hears_of_another(harness: Harness, new_account: Callable[..., Any]) -> None:
    mine = await harness.subscribe()
    stranger: Opened = await new_account()
    async with unit_of(harness.services, Actor(stranger.account_id, ALL)) as unit:
        await service.subscribe(unit, harness.services.webhooks, EVENT, harness.receiver.url)
    await harness.tell("won")

    await harness.dispatcher.run()

    assert await deliveries(harness.pool) == [(mine.id, "won", "pending")]


async def test_an_event_for_a_disabled_webhook_is_kept_and_does_not_wake_the_engine(harness: Harness) -> None:
    async with harness.act() as unit:
        webhook = await service.create_webhook(
            unit, harness.services.webhooks, harness.receiver.url, ["contact.created"]
        )
        await service.update_webhook(unit, harness.services.webhooks, webhook.id, {"active": False})
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, events=[EVENT])
    await harness.tell("won")

    await harness.dispatcher.run()

    assert await deliveries(harness.pool) == [(webhook.id, "won", "skipped")]


async def test_the_engine_is_woken_at_once_or_when_the_breaker_closes(harness: Harness) -> None:
    healthy, open = await harness.subscribe(), await harness.subscribe()
    until = datetime.fromisoformat("2099-01-01T00:00:00Z")
    await WEBHOOK_SUBSCRIPTIONS.where(id=open.id).change(harness.pool, open_until=until)
    notified: list[str] = []
    await harness.tell("won")

    await replace(harness.dispatcher, notify=notified.append).run()

    woken = await wake_at(harness.pool, healthy.id)
    assert woken
    assert woken <= harness.dispatcher.clock.now()
    assert await wake_at(harness.pool, open.id) == until
    assert notified == ["webhooks"]


async def test_watchers_hear_of_each_batch_after_the_commit(harness: Harness) -> None:
    heard: list[tuple[str, bool]] = []

    async def watch(events: Any) -> None:
        for event in events:
            done = await OUTBOX.where(event_id=event.id).count(harness.pool) == 0
            heard.append((event.payload["new_stage"], done))

    await harness.tell("contacted", "won")

    await replace(harness.dispatcher, watchers=[watch]).run()

    assert heard == [("contacted", True), ("won", True)]


async def rename(batch: Batch) -> None:
    await ACCOUNTS.change(batch.connection, company_name=batch.events[0].payload["new_stage"])


async def test_the_changes_of_a_reaction_are_committed_or_rolled_back_with_the_batch(harness: Harness) -> None:
    async def die(batch: Batch) -> None:
        raise OSError("the connection is gone")

    await harness.tell("won")
    with pytest.raises(OSError, match="the connection is gone"):
        await harness.dispatch(rename, die)
    assert await ACCOUNTS.only(harness.pool, "company_name") == "Blue Door"

    await harness.dispatch(rename)

    assert await ACCOUNTS.only(harness.pool, "company_name") == "won"


async def test_an_event_whose_subscription_is_ending_is_dispatched_after_the_end(
    harness: Harness, new_account: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pausing = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(pauses, "time", pausing)  # on a busy machine the pause may end before the second run
    subscription = await harness.subscribe()
    other: Opened = await new_account()
    async with unit_of(harness.services, Actor(other.account_id, ALL)) as unit:
        theirs = await service.subscribe(unit, harness.services.webhooks, EVENT, harness.receiver.url)
    await harness.tell("won")
    await record(harness.pool, other.account_id, EVENT, 1, {"new_stage": "lost"})
    notified: list[str] = []
    dispatcher = replace(harness.dispatcher, notify=notified.append)

    async with harness.act() as unit:
        await service.unsubscribe(unit, subscription.id)
        more = [await dispatcher.run(), await dispatcher.run()]
        meanwhile = await deliveries(harness.pool)
    await until(lambda: "events" in notified)
    pausing.monotonic = lambda: pauses.LONGEST_SECONDS
    await dispatcher.run()

    assert more == [True, False]
    assert meanwhile == await deliveries(harness.pool) == [(theirs.id, "lost", "pending")]
    assert await OUTBOX.count(harness.pool) == 0


async def test_a_delivery_dispatched_before_its_subscription_ends_is_canceled_with_it(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    ending: list[asyncio.Task[None]] = []

    async def end(_: Batch) -> None:
        ending.append(asyncio.create_task(harness.unsubscribe(subscription.id)))
        await until_blocked(harness.pool)

    await harness.dispatch(fan_out, end)
    await within("the subscription to end", *ending)
    await harness.clear()

    assert await deliveries(harness.pool) == [(subscription.id, "won", "canceled")]


async def test_events_of_one_account_are_dispatched_while_those_of_another_are_held(
    harness: Harness, new_account: Callable[..., Any]
) -> None:
    await harness.subscribe()
    stranger: Opened = await new_account()
    async with unit_of(harness.services, Actor(stranger.account_id, ALL)) as unit:
        theirs = await service.subscribe(unit, harness.services.webhooks, EVENT, harness.receiver.url)
    await harness.tell("won")
    await record(harness.pool, stranger.account_id, EVENT, 1, {"new_stage": "lost"})

    async with harness.act() as unit:
        await hold_dispatch(unit)
        more = await harness.dispatcher.run()

    assert await deliveries(harness.pool) == [(theirs.id, "lost", "pending")]
    assert more


async def test_a_backlog_of_one_account_delays_the_events_of_another_by_no_batch(
    harness: Harness, new_account: Callable[..., Any]
) -> None:
    stranger: Opened = await new_account()
    await harness.tell(*["won"] * 2 * dispatching.BATCH)
    last = await record(harness.pool, stranger.account_id, EVENT, 1)

    await harness.dispatcher.run()

    assert await OUTBOX.where(event_id=last).count(harness.pool) == 0
    assert await OUTBOX.count(harness.pool) == 3 * dispatching.BATCH // 2


async def test_accounts_beyond_a_batch_have_their_turn_in_the_next(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatching, "ACCOUNTS", 2)
    monkeypatch.setattr(dispatching, "BATCH", 2)
    for account_id in (1, 2, 3) * 2:
        await record(harness.pool, account_id, EVENT, 1)
    left = []
    for _ in range(3):
        await harness.dispatcher.run()
        left.append(await OUTBOX.read(harness.pool, "account_id"))

    assert left == [[1, 2, 3, 3], [1, 2], []]


async def test_an_event_that_was_deleted_leaves_the_outbox(harness: Harness) -> None:
    await harness.tell("won", "lost")
    await EVENTS.where(id=await EVENTS.last(harness.pool, "id")).delete(harness.pool)
    subscription = await harness.subscribe()
    await WEBHOOK_SUBSCRIPTIONS.age(harness.pool, "created_at", hours=1)

    await harness.dispatcher.run()

    assert (await deliveries(harness.pool), await OUTBOX.count(harness.pool)) == (
        [(subscription.id, "won", "pending")],
        0,
    )
