"""Testing webhooks, and delivering again what was delivered before."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from sqlalchemy import inspect
from standardwebhooks import Webhook

from app.domain.accounts.scopes import ALL
from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.webhooks import payloads, queries, replays, service
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.replays import MAX_CHOSEN, RefusedReplays, Replay, ReplayRefusal
from tests.domain.webhooks.endpoints import delivery_ids, endpoint, has, is_open, secret
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.tables import ago, ahead
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, add_delivery
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


async def test_failed_tests_do_not_count_for_the_breaker_and_the_time_without_success(harness: Harness) -> None:
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    async with harness.at_work():
        for _ in range(6):
            async with harness.act() as unit:
                await service.send_test(unit, subscription.id)
        await until(lambda: harness.are_all("failed"))
        await until(harness.is_at_rest)

    found = await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "failures", "trips", "open_until", "failing_since")
    assert found == (0, 0, None, None)
    assert len(harness.receiver.posts) == 6


async def test_a_failed_test_opens_the_breaker_again_for_no_longer_and_a_successful_one_closes_it(
    harness: Harness,
) -> None:
    harness.pace(breaker_waits=(60, 600))
    subscription = await harness.subscribe()
    open_until = ahead(seconds=50)
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, failures=7, trips=1, open_until=open_until, failing_since=ago())
    found = list[Any]()
    async with harness.at_work():
        for count, answer in enumerate((500, 200), 1):
            harness.receiver.respond = status(answer)
            async with harness.act() as unit:
                await service.send_test(unit, subscription.id)
            await harness.receiver.expect(count)
            await until(harness.is_at_rest)
            found.append(await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "failures", "trips", "open_until"))

    (failures, trips, reopened), closed = found
    assert (failures, trips) == (7, 1)
    assert open_until < reopened < open_until + timedelta(seconds=100)
    assert closed == (0, 0, None)


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
            await replays.replay(unit, (await delivery_ids(harness))[0])
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
                await replays.replay(unit, failed)

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
            replayed = await replays.replay_since(unit, subscription.id, DeliveryStatus.failed, since)
        await until(lambda: has(harness, "delivered", len(replayed.ids)))
        await until(harness.is_at_rest)

    assert len(replayed.ids) == 2
    assert [post.body["new_stage"] for post in harness.receiver.posts] == ["qualified", "won"]


async def test_a_delivery_that_waits_or_has_lost_its_body_is_not_replayed(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("contacted", "won")
    await harness.dispatcher.run()
    waiting, forgotten = await delivery_ids(harness)
    await WEBHOOK_DELIVERIES.where(id=forgotten).change(harness.pool, body=None, status="failed")

    with pytest.raises(Conflict, match="is pending: its next attempt follows by itself"):
        async with harness.act() as unit:
            await replays.replay(unit, waiting)
    with pytest.raises(Conflict, match="has been deleted"):
        async with harness.act() as unit:
            await replays.replay(unit, forgotten)
    async with harness.act() as unit:
        replayed = await replays.replay_since(
            unit, subscription.id, DeliveryStatus.failed, unit.clock.now() - timedelta(days=1)
        )

    assert replayed == Replay([], [RefusedReplays(ReplayRefusal.body_deleted, [forgotten])])


async def test_a_disabled_webhook_is_neither_tested_nor_replayed(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.update(subscription.id, active=False)
    await harness.tell("won")
    await harness.dispatcher.run()
    [skipped] = await delivery_ids(harness)

    for ask in (
        lambda unit: service.send_test(unit, subscription.id),
        lambda unit: replays.replay(unit, skipped),
        lambda unit: replays.replay_since(unit, subscription.id, DeliveryStatus.skipped, unit.clock.now()),
    ):
        with pytest.raises(Conflict, match="Set it active first"):
            async with harness.act() as unit:
                await ask(unit)


async def add_failed(harness: Harness, subscription_id: int, **values: Any) -> int:
    facts = {"event": "new_message", "status": "failed", "attempts": 11, "answer_status": 503}
    return await add_delivery(harness.pool, harness.account.account_id, subscription_id, **(facts | values))


async def test_chosen_deliveries_are_sent_again_and_a_preview_says_which_and_why_others_are_not(
    harness: Harness,
) -> None:
    active = (await harness.subscribe("/1", "new_message")).id
    disabled = (await harness.subscribe("/2", "new_message")).id
    ended = (await harness.subscribe("/3", "new_message")).id
    await harness.update(disabled, active=False)
    await harness.unsubscribe(ended)
    first, second = await add_failed(harness, active), await add_failed(harness, active, status="delivered")
    refused = {
        ReplayRefusal.not_found: [await add_failed(harness, ended)],
        ReplayRefusal.body_deleted: [await add_failed(harness, active, body=None)],
        ReplayRefusal.pending: [await add_failed(harness, active, status="pending", next_attempt_at=ahead(days=1))],
        ReplayRefusal.canceled: [await add_failed(harness, active, status="canceled")],
        ReplayRefusal.webhook_disabled: [await add_failed(harness, disabled)],
        ReplayRefusal.event_not_received: [await add_failed(harness, active, event="new_contact")],
    }
    ids = [second, *(id for each in refused.values() for id in each), first, second]
    before = await WEBHOOK_DELIVERIES.read(harness.pool, "id", "status", "attempts")

    async with harness.act() as unit:
        preview = await replays.preview(unit, ids)
    unchanged = await WEBHOOK_DELIVERIES.read(harness.pool, "id", "status", "attempts")
    async with harness.act() as unit:
        done = await replays.replay_chosen(unit, ids)

    assert preview == done == Replay([second, first], [RefusedReplays(*each) for each in refused.items()])
    assert unchanged == before
    again = {id: (id, "pending", 0) for id in (first, second)}
    assert await WEBHOOK_DELIVERIES.read(harness.pool, "id", "status", "attempts") == [
        again.get(row[0], row) for row in before
    ]


async def test_chosen_deliveries_are_posted_at_once_to_each_of_their_webhooks(harness: Harness) -> None:
    ids = [await add_failed(harness, (await harness.subscribe(path, "new_message")).id) for path in ("/1", "/2")]
    async with harness.at_work():
        async with harness.act() as unit:
            await replays.replay_chosen(unit, ids)
        await harness.receiver.expect(2)
        await until(lambda: harness.are_all("delivered"))


async def test_an_actor_without_the_scope_of_an_event_replays_the_others(harness: Harness) -> None:
    webhook = (await endpoint(harness, "message.inbound", "contact.created")).id
    message = await add_failed(harness, webhook, event="message.inbound")
    contact = await add_failed(harness, webhook, event="contact.created")

    async with harness.act() as unit:
        unit.actor = replace(unit.actor, scopes=ALL - {"messages:read"})
        done = await replays.replay_chosen(unit, [message, contact])

    assert done == Replay([contact], [RefusedReplays(ReplayRefusal.insufficient_scope, [message])])


async def test_a_replay_of_no_delivery_or_of_too_many_is_refused(harness: Harness) -> None:
    async with harness.act() as unit:
        for ids in ([], range(MAX_CHOSEN + 1)):
            with pytest.raises(InvalidInput, match="ids must be 1 to 200 deliveries"):
                await replays.preview(unit, list(ids))
        with pytest.raises(NotFound, match=r"^No webhook delivery with id 1\.$"):
            await replays.replay_chosen(unit, [1])
        with pytest.raises(NotFound, match=r"^No webhook delivery with id 1 or any of 199 others\.$"):
            await replays.replay_chosen(unit, range(1, MAX_CHOSEN + 1))


async def test_the_bodies_of_chosen_deliveries_are_not_read(harness: Harness) -> None:
    webhook = (await harness.subscribe("/1", "new_message")).id
    kept, deleted = await add_failed(harness, webhook), await add_failed(harness, webhook, body=None)

    async with harness.act() as unit:
        deliveries, _, with_body = await queries.find_chosen(unit, [kept, deleted])

    assert with_body == {kept}
    assert [inspect(each).unloaded for each in deliveries.values()] == [{"body"}, {"body"}]


async def test_a_preview_says_what_a_replay_since_an_instant_sends_and_why_it_leaves_others_out(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_REPLAYED", 5)
    webhook = (await harness.subscribe("/1", "new_message")).id
    await add_failed(harness, webhook, created_at=ago(days=2))
    first, second = await add_failed(harness, webhook), await add_failed(harness, webhook)
    refused = [
        RefusedReplays(ReplayRefusal.body_deleted, [await add_failed(harness, webhook, body=None)]),
        RefusedReplays(ReplayRefusal.event_not_received, [await add_failed(harness, webhook, event="new_contact")]),
    ]
    await add_failed(harness, webhook, status="skipped")
    await add_failed(harness, webhook, is_test=True)
    before = await WEBHOOK_DELIVERIES.read(harness.pool, "id", "status", "attempts")

    async with harness.act() as unit:
        asked = webhook, DeliveryStatus.failed, unit.clock.now() - timedelta(days=1)
        preview = await replays.preview_since(unit, *asked)
    unchanged = await WEBHOOK_DELIVERIES.read(harness.pool, "id", "status", "attempts")
    async with harness.act() as unit:
        done = await replays.replay_since(unit, *asked)

    assert preview == done == Replay([first, second], refused)
    assert unchanged == before
    assert await WEBHOOK_DELIVERIES.where(status="pending").read(harness.pool, "id") == [first, second]


async def test_a_replay_since_an_instant_sends_the_oldest_and_the_next_one_the_others(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_REPLAYED", 2)
    webhook = (await harness.subscribe("/1", "new_message")).id
    ids = [await add_failed(harness, webhook) for _ in range(3)]

    found: list[Replay] = []
    for _ in range(3):
        async with harness.act() as unit:
            since = unit.clock.now() - timedelta(days=1)
            found.append(await replays.replay_since(unit, webhook, DeliveryStatus.failed, since))

    assert found == [Replay(ids[:2], [], has_more=True), Replay(ids[2:], []), Replay([], [])]
