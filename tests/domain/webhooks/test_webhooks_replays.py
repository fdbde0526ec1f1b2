"""Testing webhooks, and delivering again what was delivered before."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import orjson
import pytest
from standardwebhooks import Webhook

from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.webhooks import payloads, queries, service
from app.domain.webhooks.models import DeliveryStatus
from tests.domain.webhooks.endpoints import delivery_ids, endpoint, has, is_open, secret
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def test_a_test_is_the_sample_marked_as_such_and_tried_once(harness: Harness) -> None:
    subscription = await harness.subscribe()
    harness.receiver.respond = status(500)
    async with harness.at_work():
        async with harness.act() as unit:
            delivery = await service.send_test(unit, subscription.id)
        [post] = await harness.receiver.expect(1)
        await until(lambda: harness.are_all("failed"))

    expected = orjson.loads(payloads.sample("hook", "pipeline_stage_changed", harness.services.clock.now()))
    assert post.body == expected
    assert post.headers["webhook-test"] == "true"
    assert post.id == delivery.webhook_id
    assert Webhook(await secret(harness, subscription.id)).verify(post.raw, post.headers) == expected
    assert len(harness.receiver.posts) == 1


async def test_a_test_is_posted_before_waiting_deliveries_even_while_the_breaker_is_open(harness: Harness) -> None:
    harness.pace(breaker_waits=(60,), waits=(60,))
    harness.receiver.respond = status(500)
    webhook = await endpoint(harness, "contact.created", "message.inbound")
    events = [*await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "events"), "pipeline_stage_changed"]
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, events=events)
    await harness.tell(*["won"] * 20)
    async with harness.at_work():
        await until(lambda: is_open(harness, webhook.id))
        tried = len(harness.receiver.posts)
        async with harness.act() as unit:
            await service.send_test(unit, webhook.id, "message.inbound")
        await harness.receiver.expect(tried + 1)
        await until(lambda: is_open(harness, webhook.id))

    assert [post.headers.get("webhook-test") for post in harness.receiver.posts] == [None] * tried + ["true"]
    assert harness.receiver.posts[-1].body["type"] == "message.inbound"


async def test_a_test_of_an_event_that_is_not_subscribed_to_is_refused(harness: Harness) -> None:
    webhook = await endpoint(harness, "contact.created")

    with pytest.raises(InvalidInput, match=r"does not subscribe to message\.sent"):
        async with harness.act() as unit:
            await service.send_test(unit, webhook.id, "message.sent")


async def test_a_replay_has_the_same_id_and_body_and_a_new_timestamp(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        [first] = await harness.receiver.expect(1)
        await until(lambda: harness.are_all("delivered"))
        await asyncio.sleep(1 - harness.services.clock.now().timestamp() % 1)
        async with harness.act() as unit:
            await service.replay(unit, (await delivery_ids(harness))[0])
        second = (await harness.receiver.expect(2))[1]
        await until(lambda: harness.are_all("delivered"))

    assert (second.id, second.raw, second.attempt) == (first.id, first.raw, 1)
    assert int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    assert Webhook(await secret(harness, subscription.id)).verify(second.raw, second.headers) == first.body
    assert await WEBHOOK_ATTEMPTS.count(harness.pool) == 2


async def test_a_replay_and_the_erasure_of_its_contact_wait_for_one_another_in_one_order(harness: Harness) -> None:
    subscription = await harness.subscribe()
    async with harness.act() as unit:
        contact = await contacts.create(unit, {"phone": "+12025550143"})
    await harness.tell("won", "lost", contact_id=contact.id)
    await harness.dispatcher.run()
    failed, _ = await delivery_ids(harness)
    await WEBHOOK_DELIVERIES.where(id=failed).change(harness.pool, status="failed")

    async def erase() -> None:
        async with harness.act() as unit:
            await erasure.erase(unit, contact.id)

    async def replay() -> None:
        async with harness.act() as unit:
            with suppress(Conflict):
                await service.replay(unit, failed)

    async with harness.act() as unit:
        await queries.get_subscription(unit, subscription.id, lock=True)
        erasing = asyncio.create_task(erase())
        await until_blocked(harness.pool)
        replaying = asyncio.create_task(replay())
        await until_blocked(harness.pool, 2)
    await asyncio.gather(erasing, replaying)

    assert await WEBHOOK_DELIVERIES.where(status="pending").count(harness.pool) == 0
    assert await WEBHOOK_DELIVERIES.where_not(body=None).count(harness.pool) == 0


async def test_all_that_failed_since_an_instant_is_replayed_in_order_and_tests_are_not(harness: Harness) -> None:
    harness.pace(waits=(), breaker_failures=100)
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    async with harness.at_work():
        await harness.tell("contacted", "qualified", "won")
        async with harness.act() as unit:
            await service.send_test(unit, subscription.id)
        await until(lambda: has(harness, "failed", 4))
        oldest = min(await WEBHOOK_DELIVERIES.where_not(event_id=None).read(harness.pool, "event_id"))
        await WEBHOOK_DELIVERIES.where(event_id=oldest).change(harness.pool, created_at=ago(days=1))
        harness.receiver.respond = status(200)
        harness.receiver.posts.clear()
        since = harness.services.clock.now() - timedelta(hours=1)
        async with harness.act() as unit:
            replayed = await service.replay_since(unit, subscription.id, DeliveryStatus.failed, since)
        await until(lambda: has(harness, "delivered", replayed))
        await until(harness.is_at_rest)

    assert replayed == 2
    assert [post.body["new_stage"] for post in harness.receiver.posts] == ["qualified", "won"]


async def test_a_delivery_that_waits_or_has_lost_its_body_is_not_replayed(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("contacted", "won")
    await harness.dispatcher.run()
    waiting, forgotten = await delivery_ids(harness)
    await WEBHOOK_DELIVERIES.where(id=forgotten).change(harness.pool, body=None, status="failed")

    with pytest.raises(Conflict, match="is pending, so there is nothing to replay"):
        async with harness.act() as unit:
            await service.replay(unit, waiting)
    with pytest.raises(Conflict, match="has been deleted"):
        async with harness.act() as unit:
            await service.replay(unit, forgotten)
    async with harness.act() as unit:
        replayed = await service.replay_since(
            unit, subscription.id, DeliveryStatus.failed, unit.clock.now() - timedelta(days=1)
        )

    assert replayed == 0


async def test_a_disabled_webhook_is_neither_tested_nor_replayed(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.update(subscription.id, active=False)
    await harness.tell("won")
    await harness.dispatcher.run()
    [skipped] = await delivery_ids(harness)

    for ask in (
        lambda unit: service.send_test(unit, subscription.id),
        lambda unit: service.replay(unit, skipped),
        lambda unit: service.replay_since(unit, subscription.id, DeliveryStatus.skipped, unit.clock.now()),
    ):
        with pytest.raises(Conflict, match="Set it active first"):
            async with harness.act() as unit:
                await ask(unit)
