"""One process at a time works for a subscription: taking, renewing, giving back and taking over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import asyncpg
import pytest
from aiohttp import web

from app.db.engine import UNREACHABLE, Pool
from app.domain.events.reactions import Batch
from app.domain.webhooks import delivery_worker, leases
from app.domain.webhooks.health import Health
from app.domain.webhooks.models import SubscriptionStatus
from app.domain.webhooks.reactions import fan_out
from tests.domain.webhooks.faults import Away, Flaky, Gated, with_parts
from tests.domain.webhooks.harness import Harness, stages
from tests.domain.webhooks.receivers import Held, Post
from tests.factories.tables import ago
from tests.factories.traps import LosingPool, locked, lost_at_commit, until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_NOTICES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until, within


async def test_a_subscription_at_rest_is_free_and_wakes_for_the_next_event(working: Harness) -> None:
    subscription = await working.subscribe()
    await working.tell("contacted")
    await working.receiver.expect(1)
    await until(lambda: working.is_at_rest())
    row = await working.subscription(subscription.id)

    await working.tell("won")

    assert (row["leased_until"], row["wake_at"]) == (None, None)
    assert stages(await working.receiver.expect(2)) == ["contacted", "won"]


async def test_a_delivery_dispatched_while_a_lease_is_released_wakes_the_engine(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("contacted")
    await harness.dispatcher.run()
    [taken] = await harness.engine.shared.leases.take(1, [])
    await WEBHOOK_DELIVERIES.change(harness.pool, status="delivered")
    await harness.tell("won")

    working = delivery_worker.DeliveryWorker(harness.engine.shared, taken, stopping=True)
    releasing: list[asyncio.Task[None]] = []

    async def release(_: Batch) -> None:
        releasing.append(asyncio.create_task(harness.engine.shared.leases.release(taken, working.health)))
        await until_blocked(harness.pool)

    await harness.dispatch(fan_out, release)
    await within("the release", *releasing)

    row = await harness.subscription(subscription.id)
    assert row["leased_until"] is None
    assert row["wake_at"] is not None
    assert await harness.engine.due()


async def test_a_renewal_that_comes_after_a_subscription_was_given_back_does_not_keep_it(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    [taken] = await harness.engine.shared.leases.take(1, [])
    await harness.engine.shared.leases.release(
        taken, delivery_worker.DeliveryWorker(harness.engine.shared, taken, stopping=True).health
    )

    assert await harness.engine.shared.leases.renew([taken], [None]) == {}

    assert (await harness.subscription(subscription.id))["leased_until"] is None
    assert await harness.engine.due()


async def test_the_work_of_an_engine_that_died_is_taken_up_when_its_lease_ends(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    await harness.engine.shared.leases.take(1, [])

    early = await harness.engine.due()
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, leased_until=ago(seconds=1))
    async with harness.at_work():
        await harness.receiver.expect(1)

    assert not early
    assert await harness.states() == [("delivered", 1)]


async def test_a_worker_that_takes_over_a_dead_lease_begins_with_two_queues_and_adds_one_per_sixteen_attempts(
    harness: Harness,
) -> None:
    first, last, crowds = Held(), Held(), list[int]()

    async def respond(post: Post) -> web.Response:
        crowds.append(harness.receiver.busy)
        if len(crowds) <= 2:
            return await first(post)
        return await last(post) if len(crowds) > 48 else web.Response()

    harness.receiver.respond = respond
    await harness.subscribe()
    for contact in range(60):
        await harness.tell("won", contact_id=contact)
    await harness.dispatcher.run()
    await harness.engine.shared.leases.take(1, [])
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, leased_until=ago(seconds=1))

    async with harness.at_work():
        await harness.receiver.expect(2)
        first.go.set()
        await harness.receiver.expect(48 + 5)
        last.go.set()
        await until(lambda: harness.are_all("delivered"))

    assert crowds[:2] == [1, 2]
    assert max(crowds) == 5
    assert all(crowd <= 2 + before // 16 for before, crowd in enumerate(crowds))


async def test_a_lease_is_renewed_while_a_post_takes_long(harness: Harness) -> None:
    harness.receiver.respond = held = Held()
    await harness.subscribe()
    await harness.tell("won")
    harness.pace(lease=18)
    async with harness.at_work():
        await harness.receiver.expect(1)
        before = await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "leased_until")
        await until(lambda: is_later(harness.pool, before))
        taken = await harness.another().shared.leases.take(1, [])
        held.go.set()
        await until(lambda: harness.are_all("delivered"))

    assert taken == []
    assert len(harness.receiver.posts) == 1


async def is_later(pool: Pool, than: datetime) -> bool:
    return await WEBHOOK_SUBSCRIPTIONS.only(pool, "leased_until") > than


async def test_a_worker_that_has_lost_its_lease_begins_no_delivery_and_changes_nothing(harness: Harness) -> None:
    harness.pace(lease=60)
    harness.receiver.respond = held = Held()
    subscription = await harness.subscribe()
    await harness.tell("contacted", "won")
    await harness.dispatcher.run()
    await harness.engine.run()
    await harness.receiver.expect(1)
    lease = (await harness.subscription(subscription.id))["lease"]
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, lease=lease + 1)
    before = await harness.subscription(subscription.id)

    held.go.set()
    await until(lambda: not harness.engine._workers)
    await harness.engine.finish()

    assert await harness.states() == [("delivered", 1), ("pending", 0)]
    assert stages(harness.receiver.posts) == ["contacted"]
    assert await harness.subscription(subscription.id) == before


async def test_an_engine_does_not_lease_again_a_subscription_it_works_for(harness: Harness) -> None:
    harness.receiver.respond = held = Held()
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, leased_until=datetime(2000, 1, 1, tzinfo=UTC))
        await harness.engine.run()
        held.go.set()
        await until(lambda: harness.are_all("delivered"))

    assert len(harness.receiver.posts) == 1


async def test_a_slot_does_not_lease_a_subscription_that_another_is_leasing(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    gate = Gated(harness.pool, leases.LEASE)
    slow = with_parts(harness.engine, leases=replace(harness.engine.shared.leases, pool=gate))
    lanes = [asyncio.create_task(slow.run())]
    await within("the statement to reach the gate", gate.kept.wait())
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, leased_until=datetime(2000, 1, 1, tzinfo=UTC))
    lanes.append(asyncio.create_task(slow.run()))
    asyncio.get_running_loop().call_later(0.2, gate.go.set)

    await asyncio.gather(*lanes)
    await slow.finish()

    assert (await harness.subscription(subscription.id))["lease"] == 1


async def test_a_subscription_leased_while_an_engine_stops_is_released_undelivered(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    gate = Gated(harness.pool, leases.LEASE)
    stopping = with_parts(harness.engine, leases=replace(harness.engine.shared.leases, pool=gate))
    leasing = asyncio.create_task(stopping.run())
    await within("the statement to reach the gate", gate.kept.wait())
    finishing = asyncio.create_task(stopping.finish())
    await asyncio.wait({finishing}, timeout=0.1)
    gate.go.set()

    await finishing

    assert await harness.is_at_rest()
    assert (await leasing, await stopping.run()) == (False, False)
    assert await harness.is_at_rest()
    assert harness.receiver.posts == []


async def test_a_lease_that_cannot_be_renewed_ends_and_its_holder_begins_no_more_deliveries(harness: Harness) -> None:
    harness.receiver.respond = held = Held()
    await harness.subscribe()
    await harness.tell("contacted", "won")
    clock = harness.set_clock()
    harness.pace(lease=6)
    away = Flaky(harness.pool, leases.RENEW, asyncpg.PostgresConnectionError("gone"), times=1000)
    cut_off = with_parts(harness.engine, leases=replace(harness.engine.shared.leases, pool=away))
    await harness.dispatcher.run()
    await cut_off.run()
    await harness.receiver.expect(1)
    [working] = cut_off._workers
    await until(lambda: away.left < 1000)
    clock.move(seconds=60)
    assert working.leased_until <= clock.now()

    held.go.set()
    await until(lambda: not cut_off._workers)
    await cut_off.finish()

    assert stages(harness.receiver.posts) == ["contacted"]
    assert await harness.states() == [("delivered", 1), ("pending", 0)]


async def test_subscriptions_whose_lease_was_lost_with_the_connection_are_worked_for_at_once(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    losing: Any = LosingPool(harness.pool)

    with pytest.raises(UNREACHABLE):
        await replace(harness.engine.shared.leases, pool=losing).take(1, [])

    assert losing.lost == 1
    [taken] = await harness.engine.shared.leases.take(1, [])
    assert not taken.has_lapsed


async def test_a_subscription_whose_release_was_lost_with_the_connection_is_released_once_the_database_is_back(
    harness: Harness,
) -> None:
    harness.pace(lease=60, notice_after=(3600,))
    subscription, taken, health = await failing_subscription(harness)

    async with lost_at_commit(harness.pool, "webhook_subscriptions"):
        releasing = asyncio.create_task(harness.engine.shared.leases.release(taken, health))
        await asyncio.wait({releasing}, timeout=0.3)
    await releasing

    assert (await harness.subscription(subscription.id))["leased_until"] is None
    assert await WEBHOOK_NOTICES.count(harness.pool) == 1


async def test_a_release_that_was_committed_when_the_connection_was_lost_is_made_once(harness: Harness) -> None:
    harness.pace(lease=60, notice_after=(3600,))
    subscription, taken, health = await failing_subscription(harness)
    losing: Any = LosingPool(harness.pool)

    await replace(harness.engine.shared.leases, pool=losing).release(taken, health)

    assert losing.lost == 1
    assert (await harness.subscription(subscription.id))["leased_until"] is None
    assert await WEBHOOK_NOTICES.count(harness.pool) == 1


async def failing_subscription(harness: Harness) -> tuple[Any, Any, Health]:
    """Give a subscription that was leased, the lease, and a health of which the account is to be told."""
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    [taken] = await harness.engine.shared.leases.take(1, [])
    return subscription, taken, replace(Health.of(taken), failing_since=ago(hours=2))


async def test_a_stop_does_not_wait_for_a_database_that_is_away_until_the_lease_ends(harness: Harness) -> None:
    harness.pace(lease=600)
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    away: Any = Away(harness.pool)
    engine = with_parts(harness.engine, leases=replace(harness.engine.shared.leases, pool=away))
    taking = asyncio.create_task(engine.run())
    await within("the lease to be given back in vain", away.asked.wait())

    await within("the engine to stop", engine.finish(), seconds=15)

    with pytest.raises(UNREACHABLE):
        await taking


async def test_of_a_subscription_that_has_ended_the_account_is_told_once(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    [taken] = await harness.engine.shared.leases.take(1, [])

    async with harness.pool.acquire() as connection:
        for _ in range(2):
            await leases.end(connection, taken, SubscriptionStatus.removed, "was removed")

    assert await WEBHOOK_NOTICES.read(harness.pool, "kind") == ["removed"]
    assert await harness.states() == [("canceled", 0)]


async def test_leases_are_renewed_in_the_order_in_which_others_lock_subscriptions(harness: Harness) -> None:
    first, second = await harness.subscribe("/1"), await harness.subscribe("/2")
    await harness.tell("won")
    await harness.dispatcher.run()
    taken = sorted(await harness.engine.shared.leases.take(2, []), key=attrgetter("id"), reverse=True)

    async with locked(harness.pool, WEBHOOK_SUBSCRIPTIONS.where(id=first.id)) as connection:
        renewing = asyncio.create_task(harness.engine.shared.leases.renew(taken, [None, None]))
        await until_blocked(harness.pool)
        await WEBHOOK_SUBSCRIPTIONS.where(id=second.id).lock(connection, "FOR UPDATE NOWAIT")

    assert (await within("the renewal", renewing)).keys() == {first.id, second.id}
