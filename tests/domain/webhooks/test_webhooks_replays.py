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
from tests.domain.webhooks.receivers import status
from tests.domain.webhooks.stages import Stage
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def test_a_test_is_the_sample_marked_as_such_and_tried_once(stage: Stage) -> None:
    subscription = await stage.subscribe()
    stage.receiver.respond = status(500)
    async with stage.at_work():
        async with stage.act() as unit:
            delivery = await service.send_test(unit, subscription.id)
        [post] = await stage.receiver.expect(1)
        await until(lambda: stage.are_all("failed"))

    expected = orjson.loads(payloads.sample("hook", "pipeline_stage_changed", stage.services.clock.now()))
    assert post.body == expected
    assert post.headers["webhook-test"] == "true"
    assert post.id == delivery.webhook_id
    assert Webhook(await secret(stage, subscription.id)).verify(post.raw, post.headers) == expected
    assert len(stage.receiver.posts) == 1


async def test_a_test_goes_before_what_waits_even_while_the_breaker_is_open(stage: Stage) -> None:
    stage.pace(breaker_waits=(60,), waits=(60,))
    stage.receiver.respond = status(500)
    webhook = await endpoint(stage, "contact.created", "message.inbound")
    events = [*await WEBHOOK_SUBSCRIPTIONS.only(stage.pool, "events"), "pipeline_stage_changed"]
    await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, events=events)
    await stage.tell(*["won"] * 20)
    async with stage.at_work():
        await until(lambda: is_open(stage, webhook.id))
        tried = len(stage.receiver.posts)
        async with stage.act() as unit:
            await service.send_test(unit, webhook.id, "message.inbound")
        await stage.receiver.expect(tried + 1)
        await until(lambda: is_open(stage, webhook.id))

    assert [post.headers.get("webhook-test") for post in stage.receiver.posts] == [None] * tried + ["true"]
    assert stage.receiver.posts[-1].body["type"] == "message.inbound"


async def test_a_test_of_an_event_that_is_not_subscribed_to_is_refused(stage: Stage) -> None:
    webhook = await endpoint(stage, "contact.created")

    with pytest.raises(InvalidInput, match=r"does not subscribe to message\.sent"):
        async with stage.act() as unit:
            await service.send_test(unit, webhook.id, "message.sent")


async def test_a_replay_has_the_same_id_and_body_and_a_new_timestamp(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        [first] = await stage.receiver.expect(1)
        await until(lambda: stage.are_all("delivered"))
        await asyncio.sleep(1 - stage.services.clock.now().timestamp() % 1)
        async with stage.act() as unit:
            await service.replay(unit, (await delivery_ids(stage))[0])
        second = (await stage.receiver.expect(2))[1]
        await until(lambda: stage.are_all("delivered"))

    assert (second.id, second.raw, second.attempt) == (first.id, first.raw, 1)
    assert int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    assert Webhook(await secret(stage, subscription.id)).verify(second.raw, second.headers) == first.body
    assert await WEBHOOK_ATTEMPTS.count(stage.pool) == 2


async def test_a_replay_and_the_erasure_of_its_contact_wait_for_one_another_in_one_order(stage: Stage) -> None:
    subscription = await stage.subscribe()
    async with stage.act() as unit:
        contact = await contacts.create(unit, {"phone": "+12025550143"})
    await stage.tell("won", "lost", contact_id=contact.id)
    await stage.dispatcher.run()
    failed, _ = await delivery_ids(stage)
    await WEBHOOK_DELIVERIES.where(id=failed).change(stage.pool, status="failed")

    async def erase() -> None:
        async with stage.act() as unit:
            await erasure.erase(unit, contact.id)

    async def replay() -> None:
        async with stage.act() as unit:
            with suppress(Conflict):
                await service.replay(unit, failed)

    async with stage.act() as unit:
        await queries.get_subscription(unit, subscription.id, lock=True)
        erasing = asyncio.create_task(erase())
        await until_blocked(stage.pool)
        replaying = asyncio.create_task(replay())
        await until_blocked(stage.pool, 2)
    await asyncio.gather(erasing, replaying)

    assert await WEBHOOK_DELIVERIES.where(status="pending").count(stage.pool) == 0
    assert await WEBHOOK_DELIVERIES.where_not(body=None).count(stage.pool) == 0


async def test_all_that_failed_since_an_instant_is_replayed_in_order_and_tests_are_not(stage: Stage) -> None:
    stage.pace(waits=(), breaker_failures=100)
    stage.receiver.respond = status(500)
    subscription = await stage.subscribe()
    async with stage.at_work():
        await stage.tell("contacted", "qualified", "won")
        async with stage.act() as unit:
            await service.send_test(unit, subscription.id)
        await until(lambda: has(stage, "failed", 4))
        oldest = min(await WEBHOOK_DELIVERIES.where_not(event_id=None).read(stage.pool, "event_id"))
        await WEBHOOK_DELIVERIES.where(event_id=oldest).change(stage.pool, created_at=ago(days=1))
        stage.receiver.respond = status(200)
        stage.receiver.posts.clear()
        since = stage.services.clock.now() - timedelta(hours=1)
        async with stage.act() as unit:
            replayed = await service.replay_since(unit, subscription.id, DeliveryStatus.failed, since)
        await until(lambda: has(stage, "delivered", replayed))
        await until(stage.is_at_rest)

    assert replayed == 2
    assert [post.body["new_stage"] for post in stage.receiver.posts] == ["qualified", "won"]


async def test_what_waits_or_is_not_kept_any_more_is_not_replayed(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("contacted", "won")
    await stage.dispatcher.run()
    waiting, forgotten = await delivery_ids(stage)
    await WEBHOOK_DELIVERIES.where(id=forgotten).change(stage.pool, body=None, status="failed")

    with pytest.raises(Conflict, match="is pending, so there is nothing to replay"):
        async with stage.act() as unit:
            await service.replay(unit, waiting)
    with pytest.raises(Conflict, match="has been deleted"):
        async with stage.act() as unit:
            await service.replay(unit, forgotten)
    async with stage.act() as unit:
        replayed = await service.replay_since(
            unit, subscription.id, DeliveryStatus.failed, unit.clock.now() - timedelta(days=1)
        )

    assert replayed == 0


async def test_nothing_is_tested_or_replayed_while_a_webhook_is_disabled(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.update(subscription.id, active=False)
    await stage.tell("won")
    await stage.dispatcher.run()
    [skipped] = await delivery_ids(stage)

    for ask in (
        lambda unit: service.send_test(unit, subscription.id),
        lambda unit: service.replay(unit, skipped),
        lambda unit: service.replay_since(unit, subscription.id, DeliveryStatus.skipped, unit.clock.now()),
    ):
        with pytest.raises(Conflict, match="Set it active first"):
            async with stage.act() as unit:
                await ask(unit)
