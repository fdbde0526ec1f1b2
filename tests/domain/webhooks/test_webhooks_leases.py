"""One process at a time works for a subscription: taking, renewing, giving back and taking over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
from tests.domain.webhooks.receivers import Held, Post
from tests.domain.webhooks.stages import Stage, stages
from tests.factories.tables import ago
from tests.factories.traps import LosingPool, lost_at_commit, until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_NOTICES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until, within


async def test_a_subscription_at_rest_is_free_and_wakes_for_the_next_event(working: Stage) -> None:
    subscription = await working.subscribe()
    await working.tell("contacted")
    await working.receiver.expect(1)
    await until(lambda: working.is_at_rest())
    row = await working.subscription(subscription.id)

    await working.tell("won")

    assert (row["leased_until"], row["wake_at"]) == (None, None)
    assert stages(await working.receiver.expect(2)) == ["contacted", "won"]


async def test_what_is_dispatched_while_a_subscription_is_given_back_is_not_forgotten(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("contacted")
    await stage.dispatcher.run()
    [taken] = await stage.engine.shared.leases.take(1, [])
    await WEBHOOK_DELIVERIES.change(stage.pool, status="delivered")
    await stage.tell("won")

    working = delivery_worker.DeliveryWorker(stage.engine.shared, taken, stopping=True)
    releasing: list[asyncio.Task[None]] = []

    async def release(_: Batch) -> None:
        releasing.append(asyncio.create_task(stage.engine.shared.leases.release(taken, working.health)))
        await until_blocked(stage.pool)

    await stage.dispatch(fan_out, release)
    await within("the release", *releasing)

    row = await stage.subscription(subscription.id)
    assert row["leased_until"] is None
    assert row["wake_at"] is not None
    assert await stage.engine.due()


async def test_a_renewal_that_comes_after_a_subscription_was_given_back_does_not_keep_it(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    [taken] = await stage.engine.shared.leases.take(1, [])
    await stage.engine.shared.leases.release(
        taken, delivery_worker.DeliveryWorker(stage.engine.shared, taken, stopping=True).health
    )

    assert await stage.engine.shared.leases.renew([taken], [None]) == {}

    assert (await stage.subscription(subscription.id))["leased_until"] is None
    assert await stage.engine.due()


async def test_the_work_of_an_engine_that_died_is_taken_up_when_its_lease_ends(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    stage.pace(lease=0.3)
    await stage.engine.shared.leases.take(1, [])

    early = await stage.engine.due()
    async with stage.at_work():
        await stage.receiver.expect(1)

    assert not early
    assert await stage.states() == [("delivered", 1)]


async def test_who_takes_over_from_one_that_died_begins_with_two_queues_and_opens_one_after_every_sixteen_attempts(
    stage: Stage,
) -> None:
    first, last, crowds = Held(), Held(), list[int]()

    async def respond(post: Post) -> web.Response:
        crowds.append(stage.receiver.busy)
        if len(crowds) <= 2:
            return await first(post)
        return await last(post) if len(crowds) > 48 else web.Response()

    stage.receiver.respond = respond
    await stage.subscribe()
    for contact in range(60):
        await stage.tell("won", contact_id=contact)
    await stage.dispatcher.run()
    await stage.engine.shared.leases.take(1, [])
    await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, leased_until=ago(seconds=1))

    async with stage.at_work():
        await stage.receiver.expect(2)
        first.go.set()
        await stage.receiver.expect(48 + 5)
        last.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert crowds[:2] == [1, 2]
    assert max(crowds) == 5
    assert all(crowd <= 2 + before // 16 for before, crowd in enumerate(crowds))


async def test_a_lease_is_renewed_while_a_post_takes_long(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("won")
    stage.pace(lease=0.3)
    async with stage.at_work():
        await stage.receiver.expect(1)
        before = await WEBHOOK_SUBSCRIPTIONS.only(stage.pool, "leased_until")
        await until(lambda: is_later(stage.pool, before))
        taken = await stage.another().shared.leases.take(1, [])
        held.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert taken == []
    assert len(stage.receiver.posts) == 1


async def is_later(pool: Pool, than: datetime) -> bool:
    return await WEBHOOK_SUBSCRIPTIONS.only(pool, "leased_until") > than + timedelta(seconds=0.3)


async def test_who_has_lost_the_lease_begins_nothing_more_and_changes_nothing(stage: Stage) -> None:
    stage.pace(lease=60)
    stage.receiver.respond = held = Held()
    subscription = await stage.subscribe()
    await stage.tell("contacted", "won")
    await stage.dispatcher.run()
    await stage.engine.run()
    await stage.receiver.expect(1)
    lease = (await stage.subscription(subscription.id))["lease"]
    await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, lease=lease + 1)
    before = await stage.subscription(subscription.id)

    held.go.set()
    await until(lambda: not stage.engine._workers)
    await stage.engine.finish()

    assert await stage.states() == [("delivered", 1), ("pending", 0)]
    assert stages(stage.receiver.posts) == ["contacted"]
    assert await stage.subscription(subscription.id) == before


async def test_an_engine_does_not_take_again_what_it_works_for(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, leased_until=datetime(2000, 1, 1, tzinfo=UTC))
        await stage.engine.run()
        held.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert len(stage.receiver.posts) == 1


async def test_one_slot_does_not_take_what_another_is_about_to_work_for(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    gate = Gated(stage.pool, leases.LEASE)
    slow = with_parts(stage.engine, leases=replace(stage.engine.shared.leases, pool=gate))
    lanes = [asyncio.create_task(slow.run())]
    await within("the statement to reach the gate", gate.kept.wait())
    await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, leased_until=datetime(2000, 1, 1, tzinfo=UTC))
    lanes.append(asyncio.create_task(slow.run()))
    asyncio.get_running_loop().call_later(0.2, gate.go.set)

    await asyncio.gather(*lanes)
    await slow.finish()

    assert (await stage.subscription(subscription.id))["lease"] == 1


async def test_what_is_leased_while_an_engine_stops_is_given_back_undelivered(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    gate = Gated(stage.pool, leases.LEASE)
    stopping = with_parts(stage.engine, leases=replace(stage.engine.shared.leases, pool=gate))
    leasing = asyncio.create_task(stopping.run())
    await within("the statement to reach the gate", gate.kept.wait())
    finishing = asyncio.create_task(stopping.finish())
    await asyncio.wait({finishing}, timeout=0.1)
    gate.go.set()

    await finishing

    assert await stage.is_at_rest()
    assert (await leasing, await stopping.run()) == (False, False)
    assert await stage.is_at_rest()
    assert stage.receiver.posts == []


async def test_a_lease_that_cannot_be_renewed_ends_and_its_holder_begins_nothing_more(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("contacted", "won")
    stage.pace(lease=0.3)
    away = Flaky(stage.pool, leases.RENEW, asyncpg.PostgresConnectionError("gone"), times=1000)
    cut_off = with_parts(stage.engine, leases=replace(stage.engine.shared.leases, pool=away))
    await stage.dispatcher.run()
    await cut_off.run()
    await stage.receiver.expect(1)
    [working] = cut_off._workers
    await until(lambda: working.leased_until <= stage.engine.shared.dependencies.clock.now())

    held.go.set()
    await until(lambda: not cut_off._workers)
    await cut_off.finish()

    assert stages(stage.receiver.posts) == ["contacted"]
    assert await stage.states() == [("delivered", 1), ("pending", 0)]


async def test_subscriptions_whose_lease_was_lost_with_the_connection_are_worked_for_at_once(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    losing: Any = LosingPool(stage.pool)

    with pytest.raises(UNREACHABLE):
        await replace(stage.engine.shared.leases, pool=losing).take(1, [])

    assert losing.lost == 1
    [taken] = await stage.engine.shared.leases.take(1, [])
    assert not taken.has_lapsed


async def test_a_subscription_whose_release_was_lost_with_the_connection_is_released_once_the_database_is_back(
    stage: Stage,
) -> None:
    stage.pace(lease=60, notice_after=(3600,))
    subscription, taken, health = await failing_subscription(stage)

    async with lost_at_commit(stage.pool, "webhook_subscriptions"):
        releasing = asyncio.create_task(stage.engine.shared.leases.release(taken, health))
        await asyncio.wait({releasing}, timeout=0.3)
    await releasing

    assert (await stage.subscription(subscription.id))["leased_until"] is None
    assert await WEBHOOK_NOTICES.count(stage.pool) == 1


async def test_a_release_that_was_committed_when_the_connection_was_lost_is_made_once(stage: Stage) -> None:
    stage.pace(lease=60, notice_after=(3600,))
    subscription, taken, health = await failing_subscription(stage)
    losing: Any = LosingPool(stage.pool)

    await replace(stage.engine.shared.leases, pool=losing).release(taken, health)

    assert losing.lost == 1
    assert (await stage.subscription(subscription.id))["leased_until"] is None
    assert await WEBHOOK_NOTICES.count(stage.pool) == 1


async def failing_subscription(stage: Stage) -> tuple[Any, Any, Health]:
    """Give a subscription that was leased, the lease, and a health of which the account is to be told."""
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    [taken] = await stage.engine.shared.leases.take(1, [])
    return subscription, taken, replace(Health.of(taken), failing_since=ago(hours=2))


async def test_a_stop_does_not_wait_for_a_database_that_is_away_until_the_lease_ends(stage: Stage) -> None:
    stage.pace(lease=600)
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    away: Any = Away(stage.pool)
    engine = with_parts(stage.engine, leases=replace(stage.engine.shared.leases, pool=away))
    taking = asyncio.create_task(engine.run())
    await within("the lease to be given back in vain", away.asked.wait())

    await within("the engine to stop", engine.finish(), seconds=15)

    with pytest.raises(UNREACHABLE):
        await taking


async def test_of_a_subscription_that_has_ended_the_account_is_told_once(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    [taken] = await stage.engine.shared.leases.take(1, [])

    async with stage.pool.acquire() as connection:
        for _ in range(2):
            await leases.end(connection, taken, SubscriptionStatus.removed, "was removed")

    assert await WEBHOOK_NOTICES.read(stage.pool, "kind") == ["removed"]
    assert await stage.states() == [("canceled", 0)]
